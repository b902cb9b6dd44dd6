package queue

import (
	"context"

	"github.com/gorge-tf/gorge/tf/core"
)

// Enqueue puts one element in, of which the queue takes references of its own,
// and calls done when it is in.
func (q *Queue) Enqueue(ctx context.Context, t Tuple, done func(error)) {
	if err := q.spec.checkElement(t); err != nil {
		done(err)
		return
	}
	q.submit(ctx, &attempt{kind: enqueueOne, want: 1, batch: shared(t), done: func(_ Tuple, err error) { done(err) }})
}

// EnqueueMany puts in the rows of a batch, one after the other, and calls done
// when all are in.
func (q *Queue) EnqueueMany(ctx context.Context, batch Tuple, done func(error)) {
	n, err := q.spec.checkBatch(batch)
	if err != nil || n == 0 {
		done(err)
		return
	}
	q.submit(ctx, &attempt{kind: enqueueMany, want: n, batch: shared(batch), done: func(_ Tuple, err error) { done(err) }})
}

// shared returns references of the queue's own to the tensors of t.
func shared(t Tuple) Tuple {
	own := make(Tuple, len(t))
	for i, x := range t {
		own[i] = x.Share()
	}
	return own
}

// release gives up the queue's references to the tensors of t.
func release(t Tuple) {
	for _, x := range t {
		x.Release()
	}
}

func (q *Queue) errClosed() error {
	return core.Errorf(core.Canceled, "%s '%s' is closed.", q.spec.Kind, q.spec.Name)
}

func (q *Queue) tryEnqueue(a *attempt) progress {
	switch {
	case q.closed:
		a.err = q.errClosed()
	case q.store.len() >= q.spec.Capacity:
		return stuck
	default:
		a.err = q.store.push(a.batch)
	}
	return complete
}

func (q *Queue) tryEnqueueMany(a *attempt) progress {
	if q.closed {
		a.err = q.errClosed()
		return complete
	}
	did := stuck
	for q.store.len() < q.spec.Capacity {
		did = moved
		if a.err = q.pushRow(a); a.err != nil {
			return complete
		}
		if a.want--; a.want == 0 {
			return complete
		}
	}
	return did
}

// pushRow puts in the next row of a.
func (q *Queue) pushRow(a *attempt) error {
	t, err := row(a.batch, a.batch[0].Dim(0)-a.want)
	if err != nil {
		return err
	}
	return q.store.push(t)
}

// checkElement checks an element against the queue's types and shapes.
func (s *Spec) checkElement(t Tuple) error {
	if err := s.checkTypes(t); err != nil {
		return err
	}
	for i, want := range s.Shapes {
		if !want.Compatible(t[i].Shape()) {
			return mismatch(i, want, t[i])
		}
	}
	return nil
}

// checkBatch checks the rows of a batch and returns how many there are.
func (s *Spec) checkBatch(t Tuple) (rows int, err error) {
	if err := s.checkTypes(t); err != nil {
		return 0, err
	}
	for i, x := range t {
		if x.Rank() == 0 {
			return 0, core.Errorf(core.InvalidArgument, "a batch of elements must have at least one dimension: component %d is a scalar", i)
		}
	}
	rows = t[0].Dim(0)
	for i, want := range s.Shapes {
		if want = append(core.Shape{rows}, want...); !want.Compatible(t[i].Shape()) {
			return 0, mismatch(i, want, t[i])
		}
	}
	for i, x := range t {
		if x.Dim(0) != rows {
			return 0, core.Errorf(core.InvalidArgument, "All input tensors must have the same size in the 0th dimension. Component %d has %d, and should have %d", i, x.Dim(0), rows)
		}
	}
	return rows, nil
}

func (s *Spec) checkTypes(t Tuple) error {
	if len(t) != len(s.Types) {
		return core.Errorf(core.InvalidArgument, "Wrong number of components in tuple. Expected %d, got %d", len(s.Types), len(t))
	}
	for i, x := range t {
		if x.DType() != s.Types[i] {
			return core.Errorf(core.InvalidArgument, "Type mismatch in tuple component %d. Expected %s, got %s", i, s.Types[i].CName(), x.DType().CName())
		}
	}
	return nil
}

func mismatch(i int, want core.Shape, got *core.Tensor) error {
	return core.Errorf(core.InvalidArgument, "Shape mismatch in tuple component %d. Expected %s, got %s", i, want.String(), got.Shape().String())
}

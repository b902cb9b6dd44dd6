package queue

import (
	"context"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// Dequeue takes one element out. done gets it when there is one; it is done's
// own then.
func (q *Queue) Dequeue(ctx context.Context, done func(Tuple, error)) {
	q.submit(ctx, &attempt{kind: dequeueOne, want: 1, done: done})
}

// DequeueMany takes n elements out, as they come, and gives them to done as the
// rows of one batch. If the queue is closed before there are as many, upTo asks
// for those that there are.
func (q *Queue) DequeueMany(ctx context.Context, n int, upTo bool, done func(Tuple, error)) {
	switch {
	case n < 0:
		op := "DequeueManyOp"
		if upTo {
			op = "DequeueUpToOp"
		}
		done(nil, core.Errorf(core.InvalidArgument, "%s requested %d < 0 elements", op, n))
	case len(q.spec.Shapes) == 0:
		done(nil, q.errNoShapes())
	case n == 0:
		done(q.stack(nil))
	default:
		q.submit(ctx, &attempt{kind: dequeueMany, want: n, some: upTo, done: done})
	}
}

func (q *Queue) errNoShapes() error {
	if q.spec.Kind == Priority {
		return core.Errorf(core.InvalidArgument, "PriorityQueue's DequeueMany requires the components to have specified shapes.")
	}
	return core.Errorf(core.InvalidArgument, "%s's DequeueMany and DequeueUpTo require the components to have specified shapes.", q.spec.Kind)
}

func (q *Queue) errShort(want, size int) error {
	return core.Errorf(core.OutOfRange, "%s '%s' is closed and has insufficient elements (requested %d, current size %d)", q.spec.Kind, q.spec.Name, want, size)
}

// available returns how many elements may be taken out.
func (q *Queue) available() int {
	if q.closed {
		return q.store.len()
	}
	return max(0, q.store.len()-q.spec.MinAfterDequeue)
}

func (q *Queue) tryDequeue(a *attempt) progress {
	switch {
	case q.available() > 0:
		a.result = q.store.pop()
	case q.closed:
		a.err = q.errShort(1, 0)
	default:
		return stuck
	}
	return complete
}

func (q *Queue) tryDequeueMany(a *attempt) progress {
	if size := q.store.len(); q.closed && size < a.want {
		q.store.putBack(a.taken)
		a.taken = nil
		if !a.some || q.store.len() == 0 {
			a.err = q.errShort(a.want, size)
			return complete
		}
		a.want = q.store.len()
	}
	n := q.available()
	if q.spec.Kind == Priority && n < a.want {
		return stuck // taken piece by piece, a batch would not be in order
	}
	did := stuck
	for ; n > 0; n-- {
		did = moved
		a.taken = append(a.taken, q.store.pop())
		if a.want--; a.want == 0 {
			q.completeBatch(a)
			return complete
		}
	}
	return did
}

// completeBatch makes the result of what was taken, which goes back if that
// fails.
func (q *Queue) completeBatch(a *attempt) {
	taken := a.taken
	a.taken = nil
	if a.result, a.err = q.stack(taken); a.err != nil {
		q.store.putBack(taken)
		return
	}
	for _, e := range taken {
		release(e)
	}
}

// stack makes one batch of elements. Where sizes are left open, it is as large
// as the largest, and what is smaller is padded with zeros.
func (q *Queue) stack(elements []Tuple) (Tuple, error) {
	batch := make(Tuple, len(q.spec.Types))
	for i, d := range q.spec.Types {
		shape := append(core.Shape{len(elements)}, largest(q.spec.Shapes[i], elements, i)...)
		var err error
		if batch[i], err = core.AllocTensor(d, shape); err != nil {
			return nil, err
		}
		for k, e := range elements {
			place(batch[i], k, e[i])
		}
	}
	return batch, nil
}

// largest returns shape with what is open filled by the largest size that
// component i of the elements has there.
func largest(shape core.Shape, elements []Tuple, i int) core.Shape {
	out := slices.Clone(shape)
	for k, d := range out {
		if d >= 0 {
			continue
		}
		out[k] = 0
		for _, e := range elements {
			out[k] = max(out[k], e[i].Dim(k))
		}
	}
	return out
}

package batch

import (
	"context"
	"time"

	"github.com/gorge-tf/gorge/internal/queue"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A counter keeps tensors by id until they are asked for.
type counter struct {
	queue.Line
	there   map[int64]kept
	waiting map[int64]bool
}

type kept struct {
	t     *core.Tensor
	until time.Time
}

func newCounter() *counter { return &counter{there: map[int64]kept{}, waiting: map[int64]bool{}} }

// backward is a counter for gradients.
type backward struct{ *counter }

var (
	_ = resource.Declare[*counter]("tensorflow::UnbatchResource")
	_ = resource.Declare[*backward]("tensorflow::UnbatchGradResource")
)

// idOf reads the id of a step.
func idOf(t *core.Tensor, what string) (int64, error) {
	if t.Rank() != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "%s%s", what, t.Shape().String())
	}
	return core.Data[int64](t)[0], nil
}

// A place in a batch: whose rows are where.
type span struct{ id, from, to int64 }

// spans reads the index of a batch.
func spans(t *core.Tensor) []span {
	v := core.Data[int64](t)
	out := core.Make[span](len(v) / 3)
	for i := range out {
		out[i] = span{v[3*i], v[3*i+1], v[3*i+2]}
	}
	return out
}

// divided cuts data into what an index says, in order, whatever lies behind.
func divided(data, index *core.Tensor) (map[int64]*core.Tensor, error) {
	switch {
	case data.Rank() == 0 || index.Rank() != 2:
		return nil, tf.Errorf(tf.InvalidArgument, "Wrong shape for index tensor. Expected a matrix for data with rows; Got: %s for %s.", index.Shape().String(), data.Shape().String())
	case index.Dim(0) > data.Dim(0):
		return nil, tf.Errorf(tf.InvalidArgument, "Wrong shape for index tensor. Expected 0th dimension size to be no greater than %d; Got: %d.", data.Dim(0), index.Dim(0))
	case index.Dim(1) != 3:
		return nil, tf.Errorf(tf.InvalidArgument, "Wrong shape for index tensor. Expected 1st dimension size to be 3 ; Got: %d.", index.Dim(1))
	}
	out, row := map[int64]*core.Tensor{}, 0
	for _, s := range spans(index) {
		n := s.to - s.from
		if s.to < s.from || n < 0 || n > int64(data.Dim(0)-row) {
			return nil, tf.Errorf(tf.InvalidArgument, "the batch must have the rows that its index tells: %d to %d of %s", s.from, s.to, data.Shape().String())
		}
		if out[s.id] != nil {
			return nil, tf.Errorf(tf.AlreadyExists, "Multiple tensors returned for same batch key.")
		}
		out[s.id] = rowsOf(data, row, row+int(n))
		row += int(n)
	}
	return out, nil
}

func unbatchKernel(n *core.Node) (core.Kernel, error) {
	if err := n.CheckInt32s("timeout_micros"); err != nil {
		return nil, err
	}
	p, patience := placeOf(n), time.Duration(n.Int("timeout_micros"))*time.Microsecond
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		parts, err := divided(c.Input(0), c.Input(1))
		if err != nil {
			done(err)
			return
		}
		id, err := idOf(c.Input(2), "Input id should be scalar; Got: ")
		if err != nil {
			done(err)
			return
		}
		u, err := at(c, p, newCounter)
		if err == nil {
			err = u.deposit(id, parts, time.Now().Add(patience))
		}
		if err != nil {
			done(err)
			return
		}
		u.wait(c, id, patience, done)
	}), nil
}

// deposit puts parts where waiting steps find them, and notes that id waits.
func (u *counter) deposit(id int64, parts map[int64]*core.Tensor, until time.Time) error {
	return u.Change(func() error {
		now := time.Now()
		for k, v := range u.there {
			if v.until.Before(now) {
				delete(u.there, k)
			}
		}
		if u.waiting[id] {
			return tf.Errorf(tf.AlreadyExists, "Multiple session runs with the same batch key.")
		}
		for k := range parts {
			if _, ok := u.there[k]; ok {
				return tf.Errorf(tf.AlreadyExists, "Multiple tensors returned for same batch key.")
			}
		}
		for k, t := range parts {
			u.there[k] = kept{t, until}
		}
		u.waiting[id] = true
		return nil
	})
}

// wait sets the output to what belongs to id, once it is there.
func (u *counter) wait(c *core.OpContext, id int64, patience time.Duration, done func(error)) {
	take := func() (bool, error) {
		mine, ok := u.there[id]
		if ok {
			delete(u.there, id)
			delete(u.waiting, id)
			c.Set(0, mine.t)
		}
		return ok, nil
	}
	var there bool
	_ = u.Change(func() (err error) { there, err = take(); return err })
	if there { // however little time the step has
		done(nil)
		return
	}
	step := c.StepContext()
	ctx, cancel := context.WithTimeout(step, patience)
	u.Wait(ctx, "Unbatch", take, func(err error) {
		late := err != nil && step.Err() == nil
		cancel()
		if err != nil {
			_ = u.Change(func() error { delete(u.waiting, id); return nil })
		}
		if late {
			err = tf.Errorf(tf.DeadlineExceeded, "Batched data did not arrive within timeout window.")
		}
		done(err)
	})
}

func unbatchGradKernel(n *core.Node) (core.Kernel, error) {
	p := placeOf(n)
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		index, grad := c.Input(1), c.Input(2)
		id, err := idOf(c.Input(3), "Expected `id` to be scalar. Received ")
		if err == nil && grad.Rank() == 0 {
			err = tf.Errorf(tf.InvalidArgument, "grad must have rows, got a scalar")
		}
		var want []span
		if err == nil && c.Input(0).Len() > 0 {
			want, err = wanted(index)
		}
		if err != nil {
			done(err)
			return
		}
		u, err := at(c, p, func() *backward { return &backward{newCounter()} })
		if err == nil {
			err = u.Change(func() error {
				if _, ok := u.there[id]; ok {
					return tf.Errorf(tf.InvalidArgument, "Two runs with the same batch key.")
				}
				u.there[id] = kept{t: grad.Share().Escape()}
				return nil
			})
		}
		switch {
		case err != nil:
			done(err)
		case want == nil:
			c.Set(0, rowsOf(grad, 0, 0))
			done(nil)
		default:
			u.collect(c, want, done)
		}
	}), nil
}

// wanted reads the index of a batch that has rows.
func wanted(index *core.Tensor) ([]span, error) {
	switch {
	case index.Rank() == 0:
		return nil, tf.Errorf(tf.InvalidArgument, "batch_index should be a matrix, got a scalar")
	case index.Len() == 0:
		return nil, tf.Errorf(tf.InvalidArgument, "batch_index is empty while the tensor isn't.")
	case index.Len() != index.Dim(0)*3:
		return nil, tf.Errorf(tf.InvalidArgument, "batch_index should contain %d elements. Received %d", index.Dim(0)*3, index.Len())
	}
	return spans(index), nil
}

// collect sets the output to the rows of all gradients of a batch, once they are
// there.
func (u *backward) collect(c *core.OpContext, want []span, done func(error)) {
	var parts []*core.Tensor
	u.Wait(c.StepContext(), "UnbatchGrad", func() (bool, error) {
		for _, s := range want {
			if _, ok := u.there[s.id]; !ok {
				return false, nil
			}
		}
		for _, s := range want {
			parts = append(parts, u.there[s.id].t)
		}
		for _, s := range want {
			delete(u.there, s.id)
		}
		return true, nil
	}, func(err error) {
		if err == nil {
			var all *core.Tensor
			if all, err = joined(parts, 0); err == nil {
				c.Set(0, all)
			}
		}
		done(err)
	})
}

// Close ends a counter that cannot be found any more.
func (u *counter) Close() { u.Line.Close(tf.Errorf(tf.Canceled, "the batches are gone")) }

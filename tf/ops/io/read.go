package io

import (
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/queue"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	readerOp("ReaderRead", "queue_handle", "", "key: string; value: string", core.ScalarShape, read)
	readerOp("ReaderReadUpTo", "queue_handle", "num_records: int64", "keys: string; values: string", vectors, readUpTo)
	readerOp("ReaderNumRecordsProduced", "", "", "records_produced: int64", core.ScalarShape, tell(func(r *reader) int64 { return r.produced }))
	readerOp("ReaderNumWorkUnitsCompleted", "", "", "units_completed: int64", core.ScalarShape, tell(func(r *reader) int64 { return r.finished }))
	readerOp("ReaderSerializeState", "", "", "state: string", core.ScalarShape, onReader(serializeState))
	readerOp("ReaderRestoreState", "", "state: string", "", nothing, onReader(restoreState))
	readerOp("ReaderReset", "", "", "", nothing, onReader(reset))
}

// readerOp registers both generations of an op on readers.
func readerOp(name, queueArg, in, out string, shape func(*core.Infer) error, k core.NewKernel) {
	for v, typ := range map[string]string{"": ": Ref(string)", "V2": ": resource"} {
		args := "reader_handle" + typ
		if queueArg != "" {
			args += "; " + queueArg + typ
		}
		if in != "" {
			args += "; " + in
		}
		core.Register(core.OpDef{
			Name: name + v, In: args, Out: out, Stateful: v == "V2",
			Shape: shape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k),
		})
	}
}

func nothing(*core.Infer) error { return nil }

func vectors(c *core.Infer) error {
	c.Set(0, tf.Shape{-1})
	c.Set(1, tf.Shape{-1})
	_, err := c.Rank(2, 0)
	return err
}

// handles returns the reader and the queue that inputs 0 and 1 name.
func handles(c *core.OpContext) (*reader, *queue.Queue, error) {
	r, err := handle.Find[*reader](c, 0)
	if err != nil {
		return nil, nil, err
	}
	q, err := handle.Find[*queue.Queue](c, 1)
	return r, q, err
}

func read(*core.Node) (core.Kernel, error) {
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		r, q, err := handles(c)
		if err != nil {
			done(err)
			return
		}
		r.read(c.StepContext(), q, 1, func(got records, err error) {
			if err == nil {
				c.Set(0, core.Scalar(got.keys[0]))
				c.Set(1, core.Scalar(got.values[0]))
			}
			done(err)
		})
	}), nil
}

func readUpTo(*core.Node) (core.Kernel, error) {
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		r, q, err := handles(c)
		if err == nil && c.Input(2).Len() != 1 {
			err = tf.Errorf(tf.InvalidArgument, "num_records must be a scalar, got shape %s", c.Input(2).Shape().String())
		}
		if err != nil {
			done(err)
			return
		}
		n := core.Data[int64](c.Input(2))[0]
		if n <= 0 {
			done(setRecords(c, records{}))
			return
		}
		r.read(c.StepContext(), q, n, func(got records, err error) {
			if err == nil {
				err = setRecords(c, got)
			}
			done(err)
		})
	}), nil
}

func setRecords(c *core.OpContext, got records) error {
	for i, v := range [][]string{got.keys, got.values} {
		t, err := core.FromSlice(v, len(v))
		if err != nil {
			return err
		}
		c.Set(i, t)
	}
	return nil
}

// onReader makes the factory of kernels that do f with a reader while nothing
// reads.
func onReader(f func(r *reader, c *core.OpContext) error) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
			r, err := handle.Find[*reader](c, 0)
			if err != nil {
				done(err)
				return
			}
			r.whenFree(c.StepContext(), func() error { return f(r, c) }, done)
		}), nil
	}
}

// tell is onReader for a number of the reader.
func tell(f func(*reader) int64) core.NewKernel {
	return onReader(func(r *reader, c *core.OpContext) error {
		c.Set(0, core.Scalar(f(r)))
		return nil
	})
}

func reset(r *reader, _ *core.OpContext) error {
	r.reset()
	return nil
}

func serializeState(r *reader, c *core.OpContext) error {
	if !r.format.hasState() {
		return tf.Errorf(tf.Unimplemented, "Reader SerializeState")
	}
	c.Set(0, core.Scalar(r.state()))
	return nil
}

func restoreState(r *reader, c *core.OpContext) error {
	switch {
	case c.Input(1).Rank() != 0:
		return tf.Errorf(tf.InvalidArgument, "Reader state must be scalar, but had shape: %s", c.Input(1).Shape().String())
	case !r.format.hasState():
		return tf.Errorf(tf.Unimplemented, "Reader RestoreState")
	}
	return r.restore(c.StepContext(), core.Data[string](c.Input(1))[0])
}

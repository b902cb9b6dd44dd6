package stage

import (
	"github.com/gorge-tf/gorge/internal/queue"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// An area holds tuples in the order in which they came.
type area struct {
	queue.Line
	limits
	items []tuple
	bytes int
}

func init() {
	const head, types, some = "capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; ", "dtypes: list(type); ", "dtypes: list(type) >= 1; "
	newArea := func(n *core.Node) *area { return &area{limits: limitsOf(n)} }
	register("Stage", "values: dtypes", "", head+some+names, anyShape, kernel(newArea, put))
	register("Unstage", "", "values: dtypes", head+some+names, anyShape, kernel(newArea, get))
	register("StagePeek", "index: int32", "values: dtypes", head+some+names, anyShape, kernel(newArea, peek))
	register("StageSize", "", "size: int32", head+types+names, core.ScalarShape, kernel(newArea, now(areaSize)))
	register("StageClear", "", "", head+types+names, anyShape, kernel(newArea, now(clearArea)))
}

// Stage leaves values in a staging area. It waits while that is full. Values,
// one at least, may have any types and shapes. Values of more bytes than the
// memory limit are refused with RESOURCE_EXHAUSTED in the step.
func Stage(values []tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "Stage", values, opts...)
}

// Unstage takes the values, of the given types, that have been in a staging
// area for the longest. It waits while there are none. Types or a number of
// values other than those that were left are refused with INVALID_ARGUMENT in
// the step.
func Unstage(g *tf.Graph, types []tf.DType, opts ...tf.Option) []tf.Output {
	return outputs(tf.Apply(g, "Unstage", nil, typed(types, opts)...), len(types))
}

// StagePeek returns the values, of the given types, at an index in a staging
// area, an int32 scalar, and leaves them there. It waits for them. An index
// that is negative or no scalar, and other types than those of the values, are
// refused with INVALID_ARGUMENT in the step.
func StagePeek(index tf.Output, types []tf.DType, opts ...tf.Option) []tf.Output {
	return outputs(tf.Apply(nil, "StagePeek", []tf.Output{index}, typed(types, opts)...), len(types))
}

// StageSize returns how many tuples there are in a staging area. The result is
// an int32 scalar; the types have no effect. A container of characters other
// than letters, digits, dots, slashes and hyphens, and a shared name that
// begins with an underscore, are refused with INVALID_ARGUMENT in the step, a
// nil g when the graph is built.
func StageSize(g *tf.Graph, types []tf.DType, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "StageSize", nil, typed(types, opts)...).Output(0)
}

// StageClear empties a staging area. The types have no effect. A container of
// characters other than letters, digits, dots, slashes and hyphens, and a
// shared name that begins with an underscore, are refused with
// INVALID_ARGUMENT in the step, a nil g when the graph is built.
func StageClear(g *tf.Graph, types []tf.DType, opts ...tf.Option) *tf.Operation {
	return tf.Apply(g, "StageClear", nil, typed(types, opts)...)
}

func put(c *core.OpContext, a *area, done func(error)) {
	t := tuple(c.Tensors(0, c.Inputs())).shared()
	n := t.bytes()
	if err := a.check(n); err != nil {
		done(err)
		return
	}
	a.Wait(c.StepContext(), "Stage", func() (bool, error) {
		if !a.roomFor(n, len(a.items), a.bytes) {
			return false, nil
		}
		a.items = append(a.items, t)
		a.bytes += n
		return true, nil
	}, done)
}

// waitFor makes what try finds the outputs.
func (a *area) waitFor(c *core.OpContext, what string, try func() (tuple, bool), done func(error)) {
	var got tuple
	a.Wait(c.StepContext(), what, func() (ok bool, _ error) {
		got, ok = try()
		return ok, nil
	}, func(err error) {
		if err == nil {
			err = got.set(c, 0)
		}
		done(err)
	})
}

func get(c *core.OpContext, a *area, done func(error)) {
	a.waitFor(c, "Unstage", func() (tuple, bool) {
		if len(a.items) == 0 {
			return nil, false
		}
		t := a.items[0]
		a.items[0], a.items = nil, a.items[1:]
		a.bytes -= t.bytes()
		return t, true
	}, done)
}

func peek(c *core.OpContext, a *area, done func(error)) {
	if c.Input(0).Rank() != 0 {
		done(tf.Errorf(tf.InvalidArgument, "index must be scalar"))
		return
	}
	i := int(core.Data[int32](c.Input(0))[0])
	if i < 0 {
		done(tf.Errorf(tf.InvalidArgument, "index must be at least 0, got %d", i))
		return
	}
	a.waitFor(c, "StagePeek", func() (tuple, bool) {
		if i >= len(a.items) {
			return nil, false
		}
		return a.items[i].shared(), true
	}, done)
}

func areaSize(c *core.OpContext, a *area) error {
	return a.Change(func() error {
		c.Set(0, core.Scalar(int32(len(a.items))))
		return nil
	})
}

func clearArea(_ *core.OpContext, a *area) error {
	return a.Change(func() error {
		a.items, a.bytes = nil, 0
		return nil
	})
}

// Close ends an area that cannot be found any more.
func (a *area) Close() { a.Line.Close(tf.Errorf(tf.Canceled, "the staging area is gone")) }

package rnn

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// grain is the least number of elements of a cell worth a task of their own:
// each costs several exponentials.
const grain = 1 << 10

// invalid returns an INVALID_ARGUMENT error.
func invalid(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, format, args...)
}

// forTypes returns one kernel for several types.
func forTypes(k core.NewKernel, types ...tf.DType) map[tf.DType]core.NewKernel {
	by := map[tf.DType]core.NewKernel{}
	for _, d := range types {
		by[d] = k
	}
	return by
}

// float32s returns the elements of input i as float32: its memory if they are.
func float32s(c *core.OpContext, i int) []float32 {
	t := c.Input(i)
	if t.DType() == tf.Float32 {
		return core.Data[float32](t)
	}
	x := core.Make[float32](t.Len())
	elementwise.Widen(x, core.Data[tf.Half](t))
	return x
}

// results are the outputs of an op that is computed in float32.
type results struct {
	c       *core.OpContext
	rounded []rounded
}

// rounded is an output of 16-bit floats and what it is computed in.
type rounded struct {
	t *core.Tensor
	x []float32
}

// alloc makes output i of type d and returns memory to compute it in.
func (r *results) alloc(i int, d tf.DType, s tf.Shape) ([]float32, error) {
	t, err := r.c.Alloc(i, d, s)
	if err != nil {
		return nil, err
	}
	if d == tf.Float32 {
		return core.Data[float32](t), nil
	}
	x := core.Make[float32](t.Len())
	r.rounded = append(r.rounded, rounded{t, x})
	return x, nil
}

// store rounds what was computed where the outputs are not float32.
func (r *results) store() {
	for _, o := range r.rounded {
		elementwise.Narrow(core.Data[tf.Half](o.t), o.x)
	}
}

// outputs sets each of dst to output i, i+1, … of op.
func outputs(op *tf.Operation, i int, dst ...*tf.Output) {
	for k, d := range dst {
		*d = op.Output(i + k)
	}
}

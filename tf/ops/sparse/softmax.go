package sparse

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "SparseSoftmax", In: "sp_indices: int64; sp_values: T; sp_shape: int64", Out: "output: T", Attrs: "T: {half, float, double}",
		Shape: softmaxShape, Grad: tf.GradFunc(softmaxGrad),
		Kernels: core.ByType("T", byType{
			tf.Float16: computed(softmax[float32]), tf.Float32: computed(softmax[float32]), tf.Float64: computed(softmax[float64]),
		}),
	})
}

// SparseSoftmax returns the softmax of the values that lie in the same row,
// the last dimension of t, which has rank 2 or more, in the order of the
// indices. Elements that are missing stay so. t has type float16, float32 or
// float64; the result is a vector of that type. Parts that do not fit
// together are refused with INVALID_ARGUMENT, when the graph is built if
// their shapes are known, else in the step. A lower rank fails with
// INVALID_ARGUMENT in the step.
func SparseSoftmax(t Tensor, opts ...tf.Option) tf.Output {
	return apply("SparseSoftmax", opts, flat(t)...)
}

func softmaxShape(c *core.Infer) error {
	for i, rank := range []int{2, 1, 1} {
		s, err := c.Rank(i, rank)
		if err != nil {
			return err
		}
		if i == 1 {
			c.Set(0, s)
		}
	}
	return nil
}

func softmaxGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	at, shape, y := op.Input(0), op.Input(2), op.Output(0)
	last := ops.Const(y.Graph(), []int32{-1})
	sums := SparseReduceSum(Tensor{at, ops.Mul(y, dy[0]), shape}, last, ReduceOpts{KeepDims: true})
	dx := ops.Mul(SparseDenseCwiseAdd(Tensor{at, dy[0], shape}, ops.Neg(sums)), y)
	return tf.Grads(tf.Output{}, dx, tf.Output{})
}

func softmax[T float32 | float64](c *core.OpContext) error {
	at, vals, shape := c.Input(0), c.Input(1), c.Input(2)
	switch {
	case at.Rank() != 2:
		return invalid("Input sp_indices should be a matrix but received shape: %s", at.Shape().String())
	case vals.Rank() != 1 || shape.Rank() != 1:
		return invalid("Inputs sp_values and sp_shape should be vectors but received shapes: %s and %s", vals.Shape().String(), shape.Shape().String())
	case shape.Len() < 2:
		return invalid("Input should have rank >= 2, but received shape: %s", spaced(core.Data[int64](shape)))
	}
	t, err := inputCOO(c, 0)
	if err != nil {
		return err
	}
	y, store, err := result[T](c, 0, vals.DType(), vals.Shape())
	if err != nil {
		return err
	}
	t.sort()
	x := values[T](t.values)
	for lo, hi := range t.runs(t.rank - 1) {
		softmaxRow(y[lo:hi], x[lo:hi])
	}
	store()
	return nil
}

// softmaxRow subtracts the greatest value, so that no exponential overflows.
func softmaxRow[T float32 | float64](y, x []T) {
	most, total := slices.Max(x), T(0)
	for i, v := range x {
		y[i] = T(math.Exp(float64(v - most)))
		total += y[i]
	}
	for i := range y {
		y[i] /= total
	}
}

package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/normalization"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const types = "T: {half, bfloat16, float, double}"
	core.Register(core.OpDef{
		Name: "Softmax", In: "logits: T", Out: "softmax: T", Attrs: types,
		Shape: atLeastVector, Traits: core.Rowwise, Grad: tf.GradFunc(softmaxGrad), Kernels: core.ByType("T", rowKernels(normalization.Softmax, normalization.Softmax)),
	})
	core.Register(core.OpDef{
		Name: "LogSoftmax", In: "logits: T", Out: "logsoftmax: T", Attrs: types,
		Shape: atLeastVector, Traits: core.Rowwise, Grad: tf.GradFunc(logSoftmaxGrad), Kernels: core.ByType("T", rowKernels(normalization.LogSoftmax, normalization.LogSoftmax)),
	})
}

// Softmax returns e^x / Σe^x along the last dimension. logits are
// floating-point numbers (float16, bfloat16, float32, float64) with one
// dimension or more, and the result has their shape and type; 16-bit ones are
// computed in float32. A scalar is refused with INVALID_ARGUMENT, when the
// graph is built if the rank is known, else in the step.
func Softmax(logits tf.Output, opts ...tf.Option) tf.Output { return apply("Softmax", opts, logits) }

// LogSoftmax returns x - log Σe^x along the last dimension. logits are
// floating-point numbers (float16, bfloat16, float32, float64) with one
// dimension or more, and the result has their shape and type; 16-bit ones are
// computed in float32. A scalar is refused with INVALID_ARGUMENT, when the
// graph is built if the rank is known, else in the step.
func LogSoftmax(logits tf.Output, opts ...tf.Option) tf.Output {
	return apply("LogSoftmax", opts, logits)
}

func atLeastVector(c *core.Infer) error {
	if s := c.In(0); s != nil && len(s) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 1 but is rank 0: logits are a scalar")
	}
	return core.UnchangedShape(c)
}

// rowFunc computes rows of n elements.
type rowFunc[T any] func(par kernel.Par, y, x []T, n int)

func rowKernels(f32 rowFunc[float32], f64 rowFunc[float64]) byType {
	return byType{
		tf.Float32: byRow(f32), tf.Float64: byRow(f64),
		tf.Float16: rowKernel(halfRows[tf.Half](f32)), tf.BFloat16: rowKernel(halfRows[tf.BF16](f32)),
	}
}

// byRow is rowKernel that can also compute some rows at a time.
func byRow[T tf.Elem](f rowFunc[T]) core.NewKernel {
	whole, rows := rowKernel(f), core.FoldRows(func(y, x []T, n int) { f(kernel.Serial, y, x, n) })
	return func(n *core.Node) (core.Kernel, error) {
		k, err := whole(n)
		if err != nil {
			return nil, err
		}
		compute, _ := core.AsCompute(k)
		return &core.RowKernel{Compute: compute, Rows: rows}, nil
	}
}

func rowKernel[T tf.Elem](f rowFunc[T]) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		in := c.Input(0)
		if in.Rank() == 0 {
			return tf.Errorf(tf.InvalidArgument, "logits must have >= 1 dimension, got %s", in.Shape().String())
		}
		x, n := core.Data[T](in), in.Dim(in.Rank()-1)
		out, err := c.Alloc(0, in.DType(), in.Shape())
		if err != nil {
			return err
		}
		f(c.ParallelFor, core.Data[T](out), x, n)
		return nil
	})
}

// halfRows computes rows of 16-bit floats in float32.
func halfRows[H numeric.HalfFloat](f rowFunc[float32]) rowFunc[H] {
	return func(par kernel.Par, y, x []H, n int) {
		if n > 0 && n <= wideElements {
			inWideBlocks(par, y, x, n, n, func(y, x []float32, n int) { f(kernel.Serial, y, x, n) })
			return
		}
		room, loan := core.Lend[float32](2 * len(x))
		defer loan.Return()
		in, out := room[:len(x)], room[len(x):]
		elementwise.Widen(in, x)
		f(par, out, in, n)
		elementwise.Narrow(y, out)
	}
}

func softmaxGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	y := op.Output(0)
	sum := Sum(Mul(dy[0], y), intScalar(y, tf.Int32, -1), ReduceOpts{KeepDims: true})
	return tf.Grads(Mul(Sub(dy[0], sum), y))
}

func logSoftmaxGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	y := op.Output(0)
	sum := Sum(dy[0], intScalar(y, tf.Int32, -1), ReduceOpts{KeepDims: true})
	return tf.Grads(Sub(dy[0], Mul(sum, Exp(y))))
}

package special

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// apply adds an operation to the graph of its inputs and returns its output.
func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// A derivative returns that of y = f(x).
type derivative func(x, y tf.Output) tf.Output

// register registers a function of one number, computed in float64. Most
// functions have no kernels for 16-bit numbers.
func register(name string, f func(float64) float64, d derivative, withHalf bool) {
	registerLoop(name, func(y, x []float32) { elementwise.MapFloat64(y, x, f) }, f, d, withHalf)
}

// registerLoop is register with a loop for float32, and for what is computed in it.
func registerLoop(name string, f32 func(y, x []float32), f func(float64) float64, d derivative, withHalf bool) {
	by := map[tf.DType]core.NewKernel{
		tf.Float32: mapKernel(f32),
		tf.Float64: mapKernel(func(y, x []float64) { elementwise.MapFloat64(y, x, f) }),
	}
	if withHalf {
		by[tf.Float16] = mapKernel(func(y, x []tf.Half) { elementwise.Widen1(y, x, f32) })
	}
	core.Register(core.OpDef{
		Name: name, In: "x: T", Out: "y: T", Attrs: "T: {bfloat16, half, float, double}",
		Shape: core.UnchangedShape, Grad: gradOf(d), Kernels: core.ByType("T", by),
	})
}

// grain is the least number of elements worth a task of their own.
const grain = 1 << 10

func mapKernel[T tf.Elem](f func(y, x []T)) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			x := c.Input(0)
			out, err := c.AllocFrom(0, 0, x.DType(), x.Shape())
			if err != nil {
				return err
			}
			from, to := core.Data[T](x), core.Data[T](out)
			c.ParallelFor(len(to), grain, func(lo, hi int) { f(to[lo:hi], from[lo:hi]) })
			return nil
		}), nil
	}
}

// zipKernel computes f of two numbers, broadcast.
func zipKernel[T interface {
	numeric.Float
	tf.Elem
}](f func(x, y float64) float64) core.NewKernel {
	loops := elementwise.Loops[T, T]{Zip: func(z, x, y []T) { elementwise.ZipFloat64(z, x, y, f) }}
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			x, y := c.Input(0), c.Input(1)
			b, ok := elementwise.NewBroadcast(x.Shape(), y.Shape())
			if !ok {
				return tf.Errorf(tf.InvalidArgument, "Incompatible shapes: %s vs. %s", x.Shape().String(), y.Shape().String())
			}
			out, err := c.Alloc(0, x.DType(), b.Shape)
			if err != nil {
				return err
			}
			elementwise.ZipBroadcast(c.ParallelFor, b, core.Data[T](out), core.Data[T](x), core.Data[T](y), loops)
			return nil
		}), nil
	}
}

// zipKernels returns those of f, with single for results in single precision.
func zipKernels(single, f func(x, y float64) float64) core.KernelSet {
	return core.ByType("T", map[tf.DType]core.NewKernel{tf.Float32: zipKernel[float32](single), tf.Float64: zipKernel[float64](f)})
}

// gradOf makes a gradient of a derivative, which is computed after dy: not
// during the forward pass.
func gradOf(d derivative) tf.GradFunc {
	return func(op *tf.Operation, dy []tf.Output) (g []tf.Gradient) {
		after(dy[0], func() { g = tf.Grads(ops.Mul(dy[0], d(op.Input(0), op.Output(0)))) })
		return g
	}
}

// after adds what f adds so that it runs after dy has been computed.
func after(dy tf.Output, f func()) {
	if dy.Graph() == nil || dy.Graph().IsEager() {
		f()
		return
	}
	dy.Graph().ControlDependencies([]*tf.Operation{dy.Operation()}, f)
}

// number adds a constant of the type of x.
func number(x tf.Output, v float64) tf.Output {
	return ops.Cast(ops.ConstValue(x.Graph(), core.Scalar(v)), x.DType().Base())
}

// atZero returns y, and v where x is 0.
func atZero(x tf.Output, v float64, y tf.Output) tf.Output {
	return ops.SelectV2(ops.Equal(x, number(x, 0)), number(x, v), y)
}

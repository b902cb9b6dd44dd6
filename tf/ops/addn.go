package ops

import (
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	sums := byType{
		tf.Float32: withLanes(elementwise.SumLanes, addNKernel(elementwise.Add[float32])), tf.Float64: addNKernel(elementwise.Add[float64]),
		tf.Float16: addNKernel(inFloat32[tf.Half](elementwise.Add[float32])), tf.BFloat16: addNKernel(inFloat32[tf.BF16](elementwise.Add[float32])),
		tf.Int8: addNKernel(elementwise.Add[int8]), tf.Int16: addNKernel(elementwise.Add[int16]), tf.Int32: addNKernel(elementwise.Add[int32]), tf.Int64: addNKernel(elementwise.Add[int64]),
		tf.Uint8: addNKernel(elementwise.Add[uint8]), tf.Uint16: addNKernel(elementwise.Add[uint16]), tf.Uint32: addNKernel(elementwise.Add[uint32]), tf.Uint64: addNKernel(elementwise.Add[uint64]),
		tf.Complex64: addNKernel(elementwise.Add[complex64]), tf.Complex128: addNKernel(elementwise.Add[complex128]),
	}
	// TensorFlow replaces it, before it runs, by a variable to which the inputs
	// are added as they come.
	core.Register(core.OpDef{
		Name: "AccumulateNV2", In: "inputs: N * T", Out: "sum: T", Attrs: "N: int >= 1; T: {" + reducibleTypes + "}; shape: shape",
		Shape: attrShape, Grad: tf.GradFunc(addNGrad), Kernels: core.ByType("T", maps.Clone(sums)),
	})
	sums[tf.Variant] = stateless(variantSum)
	core.Register(core.OpDef{
		Name: "AddN", Traits: core.Elementwise | core.Cheap | core.Adds, In: "inputs: N * T", Out: "sum: T", Attrs: "N: int >= 1; T: {" + reducibleTypes + ", variant}",
		Shape: core.MergedShape, Grad: tf.GradFunc(addNGrad),
		Kernels: core.ByType("T", sums),
	})
}

// AddN returns the sum of all xs, which have the same shape. xs has at least
// one element. They hold numbers of one type, real or complex, or variants; the
// result has their shape and type. Different shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. Integers wrap around.
func AddN(xs []tf.Output, opts ...tf.Option) tf.Output { return apply("AddN", opts, xs...) }

// AccumulateNV2 is AddN for inputs of the given shape, which may be partly
// unknown. It takes numbers, but no variants. The shape is not checked when the
// graph is built; inputs whose shapes differ are refused with INVALID_ARGUMENT
// in the step.
func AccumulateNV2(xs []tf.Output, shape tf.Shape, opts ...tf.Option) tf.Output {
	return apply("AccumulateNV2", tf.Join(opts, tf.Attr("shape", shape)), xs...)
}

// addNGrad passes the gradient to all inputs.
func addNGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	out := make([]tf.Gradient, len(op.Inputs()))
	for i := range out {
		out[i] = tf.Dense(dy[0])
	}
	return out
}

// mostSummed operands are added at once by machine code.
const mostSummed = 7

// manySums holds what adds that many operands.
var manySums = func() (all [mostSummed + 1]*elementwise.Compiled) {
	for i := range all {
		all[i] = elementwise.Compile(elementwise.SumLanes)
	}
	return all
}()

// sumsOfMany computes z[lo:hi] by machine code, in one pass, if there are more than two operands and
// that is possible.
func sumsOfMany(c *core.OpContext, z []float32, lo, hi int) bool {
	if c.Inputs() < 3 || c.Inputs() > mostSummed {
		return false
	}
	var all [mostSummed + 1]elementwise.Stream
	for i := range c.Inputs() {
		all[i] = elementwise.Along(core.Data[float32](c.Input(i))[lo:hi])
	}
	all[c.Inputs()] = elementwise.Along(z[lo:hi])
	return manySums[c.Inputs()].Run(hi-lo, all[:c.Inputs()+1]...)
}

// addNBlock sums stay in the first-level cache until the last input has been added.
const addNBlock = 1024

func addNKernel[T tf.Elem](add func(z, x, y []T)) core.NewKernel {
	return perElement(func(c *core.OpContext) error {
		for i := 1; i < c.Inputs(); i++ {
			if err := sameShapes(c, 0, i); err != nil {
				return err
			}
		}
		if c.Inputs() == 1 {
			c.Forward(0, 0)
			return nil
		}
		x := core.Data[T](c.Input(0))
		out, err := c.AllocFrom(0, 0, c.Input(0).DType(), c.Input(0).Shape())
		if err != nil {
			return err
		}
		z := core.Data[T](out)
		c.ParallelFor(len(z), elementGrain, func(lo, hi int) {
			if zf, ok := any(z).([]float32); ok && sumsOfMany(c, zf, lo, hi) {
				return
			}
			for ; lo < hi; lo += addNBlock {
				end := min(lo+addNBlock, hi)
				add(z[lo:end], x[lo:end], core.Data[T](c.Input(1))[lo:end])
				for i := 2; i < c.Inputs(); i++ {
					add(z[lo:end], z[lo:end], core.Data[T](c.Input(i))[lo:end])
				}
			}
		})
		return nil
	}, core.SameShapes, addNLoop(add))
}

// addNLoop adds up in the memory of the result, which may be the first two operands' or
// else in memory of its own.
func addNLoop[T tf.Elem](add func(z, x, y []T)) core.Loop {
	return func(z []byte, in []core.Operand) {
		out, of := core.Elements[T](z), func(i int) []T { return core.Elements[T](in[i].Data) }
		if len(in) == 1 {
			copy(out, of(0))
			return
		}
		sum := out
		for i := 2; i < len(in); i++ {
			if len(out) > 0 && &of(i)[0] == &out[0] {
				sum = make([]T, len(out))
			}
		}
		add(sum, of(0), of(1))
		for i := 2; i < len(in); i++ {
			add(sum, sum, of(i))
		}
		if len(in) > 2 && len(out) > 0 && &sum[0] != &out[0] {
			copy(out, sum)
		}
	}
}

// sameShapes checks that inputs i and j have one shape.
func sameShapes(c *core.OpContext, i, j int) error {
	a, b := c.Input(i).Shape(), c.Input(j).Shape()
	if slices.Equal(a, b) {
		return nil
	}
	return tf.Errorf(tf.InvalidArgument, "Inputs to operation %s of type %s must have the same size and shape.  Input %d: %s != input %d: %s",
		c.Node.Name, c.Node.OpName(), i, a.String(), j, b.String())
}

// inFloat32 makes a loop over float32 one over 16-bit floats.
func inFloat32[H numeric.HalfFloat](f func(z, x, y []float32)) func(z, x, y []H) {
	return func(z, x, y []H) { elementwise.Widen2(z, x, y, f) }
}

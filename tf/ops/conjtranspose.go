package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ConjugateTranspose", In: "x: T; perm: Tperm", Out: "y: T", Attrs: "T: type; Tperm: {int32, int64} = int32",
		Shape: transposeShape, Grad: tf.GradFunc(conjugateTransposeGrad), Kernels: conjugateTransposeKernels(),
	})
}

// ConjugateTranspose returns the conjugates of x with its dimensions in another
// order, as Transpose. x is of any type but quantized ones and 4-bit integers;
// what is not complex is only transposed. Dimension i of the result is
// dimension perm[i] of x; perm is an int32 or int64 vector that names each
// dimension once, from the end if negative. Another perm is refused with
// INVALID_ARGUMENT, when the graph is built if it is known, else in the step.
func ConjugateTranspose(x, perm tf.Output, opts ...tf.Option) tf.Output {
	return apply("ConjugateTranspose", opts, x, perm)
}

func conjugateTransposeKernels() core.KernelSet {
	k := byCell(transpose[uint8], transpose[uint16], transpose[uint32], transpose[uint64], nil,
		transpose[string], transpose[core.ResourceHandle], transpose[core.VariantValue]).on("T", smallFloats)
	k.By[tf.Complex64] = conjugated[complex64](transpose[uint64])
	k.By[tf.Complex128] = conjugated[complex128](transpose[complex128])
	return k
}

// conjugated is kernel f with its result conjugated.
func conjugated[T interface {
	numeric.Complex
	tf.Elem
}](f core.NewKernel) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		k, err := f(n)
		if err != nil {
			return nil, err
		}
		move := k.(core.Compute)
		return core.Compute(func(c *core.OpContext) error {
			if err := move(c); err != nil {
				return err
			}
			moved := c.Out[0].T.Share() // Alloc may use the same header for the result
			c.Out[0].T.Release()
			defer moved.Release()
			out, err := c.Alloc(0, moved.DType(), moved.Shape())
			if err != nil {
				return err
			}
			elementwise.MapComplex128(core.Data[T](out), core.Data[T](moved), conjugate)
			return nil
		}), nil
	}
}

func conjugateTransposeGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(ConjugateTranspose(dy[0], InvertPermutation(op.Input(1))), tf.Output{})
}

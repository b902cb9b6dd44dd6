package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// binary declares an op on two operands that are broadcast against each other.
func binary(name, types string, grad tf.GradFunc, kernels ...byType) {
	algebraic(name, 0, types, grad, kernels...)
}

// algebraic is binary for an op with traits.
func algebraic(name string, traits core.Traits, types string, grad tf.GradFunc, kernels ...byType) {
	d := core.OpDef{
		Name: name, Traits: traits | core.Elementwise, In: "x: T; y: T", Out: "z: T", Attrs: "T: {" + types + "}",
		Shape: core.BroadcastShape, Grad: tf.GradFunc(grad), Kernels: core.ByType("T", merge(kernels...)),
	}
	if grad == nil {
		d.NoGrad = core.NoGradientDefined
	}
	core.Register(d)
}

const (
	arithmeticTypes = floatTypes + ", uint8, int8, uint16, int16, int32, int64, " + complexTypes + ", uint32, uint64"
	divisionTypes   = floatTypes + ", uint8, int8, uint16, int16, int32, uint32, uint64, int64, " + complexTypes
	orderedTypes    = floatTypes + ", int8, uint8, int16, uint16, int32, uint32, int64, uint64"
)

func init() {
	algebraic("Add", core.NeutralZero|core.Commutative|core.Adds, floatTypes+", uint8, "+signedTypes+", "+complexTypes+", string", addGrad, without(addKernels(), tf.Uint16, tf.Uint32, tf.Uint64),
		byType{tf.String: zipKernel(kernel.Loops[string, string]{Zip: concatStrings})})
	algebraic("AddV2", core.NeutralZero|core.Commutative|core.Adds, floatTypes+", "+unsignedTypes+", "+signedTypes+", "+complexTypes, addGrad, addKernels())
	algebraic("Sub", core.NeutralZero, arithmeticTypes, subGrad,
		floatZips(kernel.SubLoops[float32](), kernel.SubLoops[float64]()),
		signedZips(kernel.SubLoops[int8](), kernel.SubLoops[int16](), kernel.SubLoops[int32](), kernel.SubLoops[int64]()),
		unsignedZips(kernel.SubLoops[uint8](), kernel.SubLoops[uint16](), kernel.SubLoops[uint32](), kernel.SubLoops[uint64]()),
		complexZips(kernel.SubLoops[complex64](), kernel.SubLoops[complex128]()))
	algebraic("Mul", core.NeutralOne|core.Commutative, divisionTypes, mulGrad,
		floatZips(kernel.MulLoops[float32](), kernel.MulLoops[float64]()),
		signedZips(kernel.MulLoops[int8](), kernel.MulLoops[int16](), kernel.MulLoops[int32](), kernel.MulLoops[int64]()),
		unsignedZips(kernel.MulLoops[uint8](), kernel.MulLoops[uint16](), kernel.MulLoops[uint32](), kernel.MulLoops[uint64]()),
		complexZips(kernel.MulLoops[complex64](), kernel.MulLoops[complex128]()))
	binary("Maximum", orderedTypes, maximumGrad,
		floatZips(kernel.MaxLoops[float32](), kernel.MaxLoops[float64]()),
		signedZips(kernel.MaxLoops[int8](), kernel.MaxLoops[int16](), kernel.MaxLoops[int32](), kernel.MaxLoops[int64]()),
		unsignedZips(kernel.MaxLoops[uint8](), kernel.MaxLoops[uint16](), kernel.MaxLoops[uint32](), kernel.MaxLoops[uint64]()))
	binary("Minimum", orderedTypes, minimumGrad,
		floatZips(kernel.MinLoops[float32](), kernel.MinLoops[float64]()),
		signedZips(kernel.MinLoops[int8](), kernel.MinLoops[int16](), kernel.MinLoops[int32](), kernel.MinLoops[int64]()),
		unsignedZips(kernel.MinLoops[uint8](), kernel.MinLoops[uint16](), kernel.MinLoops[uint32](), kernel.MinLoops[uint64]()))
	binary("SquaredDifference", floatTypes+", int32, int64, "+complexTypes, squaredDifferenceGrad,
		floatZips(kernel.SquaredDifferenceLoops[float32](), kernel.SquaredDifferenceLoops[float64]()),
		byType{tf.Int32: zipKernel(zip(kernel.SquaredDifference[int32])), tf.Int64: zipKernel(zip(kernel.SquaredDifference[int64]))},
		complexZips(zip(complexSquaredDifference[complex64]), zip(complexSquaredDifference[complex128])))
	binary("MulNoNan", inexactTypes, mulNoNanGrad,
		floatZips(zip(kernel.MulNoNan[float32]), zip(kernel.MulNoNan[float64])),
		complexZips(zip(kernel.MulNoNan[complex64]), zip(kernel.MulNoNan[complex128])))
}

func addKernels() byType {
	return merge(
		floatZips(kernel.AddLoops[float32](), kernel.AddLoops[float64]()),
		signedZips(kernel.AddLoops[int8](), kernel.AddLoops[int16](), kernel.AddLoops[int32](), kernel.AddLoops[int64]()),
		unsignedZips(kernel.AddLoops[uint8](), kernel.AddLoops[uint16](), kernel.AddLoops[uint32](), kernel.AddLoops[uint64]()),
		complexZips(kernel.AddLoops[complex64](), kernel.AddLoops[complex128]()))
}

// without returns the kernels but for some types.
func without(k byType, types ...tf.DType) byType {
	for _, t := range types {
		delete(k, t)
	}
	return k
}

func concatStrings(z, x, y []string) {
	kernel.Zip(z, x, y, func(a, b string) string { return a + b })
}

// complexSquaredDifference is the square of the distance: conj(x-y)·(x-y).
func complexSquaredDifference[T kernel.Complex](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T {
		d := complex128(a - b)
		return T(complex(real(d)*real(d)+imag(d)*imag(d), 0))
	})
}

// Add returns x + y; of strings, one after the other.
func Add(x, y tf.Output, opts ...tf.Option) tf.Output {
	if x.DType() == tf.String {
		return apply("Add", opts, x, y)
	}
	return AddV2(x, y, opts...)
}

// AddV2 returns x + y.
func AddV2(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("AddV2", opts, x, y) }

// Sub returns x - y.
func Sub(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Sub", opts, x, y) }

// Mul returns x · y, element by element.
func Mul(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Mul", opts, x, y) }

// Maximum returns the greater of x and y, NaN if either is.
func Maximum(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Maximum", opts, x, y) }

// Minimum returns the lesser of x and y, NaN if either is.
func Minimum(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Minimum", opts, x, y) }

// SquaredDifference returns |x - y|².
func SquaredDifference(x, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("SquaredDifference", opts, x, y)
}

// MulNoNan returns x · y, and 0 where y is 0 even if x is not finite.
func MulNoNan(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("MulNoNan", opts, x, y) }

func addGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return unbroadcast(op.Input(0), op.Input(1), dy[0], dy[0])
}

func subGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return unbroadcast(op.Input(0), op.Input(1), dy[0], Neg(dy[0]))
}

func mulGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, y := op.Input(0), op.Input(1)
	return unbroadcast(x, y, Mul(dy[0], conj(y)), Mul(conj(x), dy[0]))
}

func mulNoNanGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, y := op.Input(0), op.Input(1)
	return unbroadcast(x, y, MulNoNan(dy[0], y), MulNoNan(x, dy[0]))
}

func maximumGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return choiceGrad(op, dy[0], GreaterEqual(op.Input(0), op.Input(1)))
}

func minimumGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return choiceGrad(op, dy[0], LessEqual(op.Input(0), op.Input(1)))
}

// choiceGrad sends dy to the operand that was chosen: x where first holds.
func choiceGrad(op *tf.Operation, dy, first tf.Output) []tf.Gradient {
	zeros := ZerosLike(dy)
	return unbroadcast(op.Input(0), op.Input(1), SelectV2(first, dy, zeros), SelectV2(first, zeros, dy))
}

func squaredDifferenceGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, y := op.Input(0), op.Input(1)
	var dx tf.Output
	after(dy[0], func() { dx = Mul(Mul(numberLike(dy[0], 2), dy[0]), Sub(x, y)) })
	return unbroadcast(x, y, dx, Neg(dx))
}

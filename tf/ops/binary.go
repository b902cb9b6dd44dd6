package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
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
	algebraic("Add", core.Cheap|core.NeutralZero|core.Commutative|core.Adds, floatTypes+", uint8, "+signedTypes+", "+complexTypes+", string", addGrad, without(addKernels(), tf.Uint16, tf.Uint32, tf.Uint64),
		byType{tf.String: zipKernel(elementwise.Loops[string, string]{Zip: concatStrings})})
	algebraic("AddV2", core.Cheap|core.NeutralZero|core.Commutative|core.Adds, floatTypes+", "+unsignedTypes+", "+signedTypes+", "+complexTypes, addGrad, addKernels())
	algebraic("Sub", core.Cheap|core.NeutralZero, arithmeticTypes, subGrad,
		floatZips(elementwise.SubLoops[float32](), elementwise.SubLoops[float64]()),
		signedZips(elementwise.SubLoops[int8](), elementwise.SubLoops[int16](), elementwise.SubLoops[int32](), elementwise.SubLoops[int64]()),
		unsignedZips(elementwise.SubLoops[uint8](), elementwise.SubLoops[uint16](), elementwise.SubLoops[uint32](), elementwise.SubLoops[uint64]()),
		complexZips(elementwise.SubLoops[complex64](), elementwise.SubLoops[complex128]()))
	algebraic("Mul", core.Cheap|core.NeutralOne|core.Commutative, divisionTypes, mulGrad,
		floatZips(elementwise.MulLoops[float32](), elementwise.MulLoops[float64]()),
		signedZips(elementwise.MulLoops[int8](), elementwise.MulLoops[int16](), elementwise.MulLoops[int32](), elementwise.MulLoops[int64]()),
		unsignedZips(elementwise.MulLoops[uint8](), elementwise.MulLoops[uint16](), elementwise.MulLoops[uint32](), elementwise.MulLoops[uint64]()),
		complexZips(elementwise.MulLoops[complex64](), elementwise.MulLoops[complex128]()))
	algebraic("Maximum", core.Cheap, orderedTypes, maximumGrad,
		floatZips(elementwise.MaxLoops[float32](), elementwise.MaxLoops[float64]()),
		signedZips(elementwise.MaxLoops[int8](), elementwise.MaxLoops[int16](), elementwise.MaxLoops[int32](), elementwise.MaxLoops[int64]()),
		unsignedZips(elementwise.MaxLoops[uint8](), elementwise.MaxLoops[uint16](), elementwise.MaxLoops[uint32](), elementwise.MaxLoops[uint64]()))
	algebraic("Minimum", core.Cheap, orderedTypes, minimumGrad,
		floatZips(elementwise.MinLoops[float32](), elementwise.MinLoops[float64]()),
		signedZips(elementwise.MinLoops[int8](), elementwise.MinLoops[int16](), elementwise.MinLoops[int32](), elementwise.MinLoops[int64]()),
		unsignedZips(elementwise.MinLoops[uint8](), elementwise.MinLoops[uint16](), elementwise.MinLoops[uint32](), elementwise.MinLoops[uint64]()))
	algebraic("SquaredDifference", core.Cheap, floatTypes+", int32, int64, "+complexTypes, squaredDifferenceGrad,
		floatZips(elementwise.SquaredDifferenceLoops[float32](), elementwise.SquaredDifferenceLoops[float64]()),
		roundedZips(elementwise.Sub[float32], elementwise.Square[float32]),
		byType{tf.Int32: zipKernel(zip(elementwise.SquaredDifference[int32])), tf.Int64: zipKernel(zip(elementwise.SquaredDifference[int64]))},
		complexZips(zip(complexSquaredDifference[complex64]), zip(complexSquaredDifference[complex128])))
	binary("MulNoNan", inexactTypes, mulNoNanGrad,
		floatZips(zip(elementwise.MulNoNan[float32]), zip(elementwise.MulNoNan[float64])),
		complexZips(zip(elementwise.MulNoNan[complex64]), zip(elementwise.MulNoNan[complex128])))
}

func addKernels() byType {
	return merge(
		floatZips(elementwise.AddLoops[float32](), elementwise.AddLoops[float64]()),
		signedZips(elementwise.AddLoops[int8](), elementwise.AddLoops[int16](), elementwise.AddLoops[int32](), elementwise.AddLoops[int64]()),
		unsignedZips(elementwise.AddLoops[uint8](), elementwise.AddLoops[uint16](), elementwise.AddLoops[uint32](), elementwise.AddLoops[uint64]()),
		complexZips(elementwise.AddLoops[complex64](), elementwise.AddLoops[complex128]()))
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
func complexSquaredDifference[T numeric.Complex](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T {
		d := complex128(a - b)
		return T(complex(real(d)*real(d)+imag(d)*imag(d), 0))
	})
}

// Add returns x + y; of strings, one after the other. x and y have one type,
// numbers or strings, and broadcast. Integers wrap around. Shapes that do not
// broadcast are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step.
func Add(x, y tf.Output, opts ...tf.Option) tf.Output {
	if x.DType() == tf.String {
		return apply("Add", opts, x, y)
	}
	return AddV2(x, y, opts...)
}

// AddV2 returns x + y. x and y hold numbers of one type, real or complex, and
// broadcast. Integers wrap around. Shapes that do not broadcast are refused
// with INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step.
func AddV2(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("AddV2", opts, x, y) }

// Sub returns x - y. x and y hold numbers of one type, real or complex, and
// broadcast. Integers wrap around. Shapes that do not broadcast are refused
// with INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step.
func Sub(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Sub", opts, x, y) }

// Mul returns x · y, element by element. x and y hold numbers of one type, real
// or complex, and broadcast. Integers wrap around. Shapes that do not broadcast
// are refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step.
func Mul(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Mul", opts, x, y) }

// Maximum returns the greater of x and y, NaN if either is. x and y hold real
// numbers of one type and broadcast. Shapes that do not broadcast are refused
// with INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step.
func Maximum(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Maximum", opts, x, y) }

// Minimum returns the lesser of x and y, NaN if either is. x and y hold real
// numbers of one type and broadcast. Shapes that do not broadcast are refused
// with INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step.
func Minimum(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Minimum", opts, x, y) }

// SquaredDifference returns |x - y|². x and y have one type and broadcast:
// floating-point numbers (float16, bfloat16, float32, float64), int32, int64 or
// complex numbers, for which the result has no imaginary part. Shapes that do
// not broadcast are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step.
func SquaredDifference(x, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("SquaredDifference", opts, x, y)
}

// MulNoNan returns x · y, and 0 where y is 0 even if x is not finite. x and y
// have one type and broadcast: floating-point numbers (float16, bfloat16,
// float32, float64) or complex numbers. Shapes that do not broadcast are
// refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step.
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

package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	algebraic("Div", core.NeutralOne, divisionTypes, divGrad,
		realDivKernels(), intZips(elementwise.DivInt, elementwise.DivInt, elementwise.DivInt, elementwise.DivInt, elementwise.DivInt, elementwise.DivInt, elementwise.DivInt, elementwise.DivInt))
	algebraic("RealDiv", core.NeutralOne, divisionTypes, realDivGrad, realDivKernels())
	binary("TruncateDiv", divisionTypes, noFlow,
		floatZips(zip(truncateDiv[float32]), zip(truncateDiv[float64])),
		roundedZips(elementwise.Div[float32], truncate[float32]),
		intZips(elementwise.DivInt, elementwise.DivInt, elementwise.DivInt, elementwise.DivInt, elementwise.DivInt, elementwise.DivInt, elementwise.DivInt, elementwise.DivInt))
	binary("FloorDiv", divisionTypes, noFlow,
		floatZips(zip(elementwise.FloorDiv32), zip(elementwise.FloorDiv[float64])),
		roundedZips(elementwise.Div[float32], elementwise.Floor[float32]),
		intZips(elementwise.FloorDivInt, elementwise.FloorDivInt, elementwise.FloorDivInt, elementwise.FloorDivInt, elementwise.FloorDivInt, elementwise.FloorDivInt, elementwise.FloorDivInt, elementwise.FloorDivInt))
	binary("FloorMod", signedTypes+", "+unsignedTypes+", "+floatTypes, floorModGrad,
		floatZips(zip(elementwise.FloorMod[float32]), zip(elementwise.FloorMod[float64])),
		intZips(elementwise.FloorModInt, elementwise.FloorModInt, elementwise.FloorModInt, elementwise.FloorModInt, elementwise.FloorModInt, elementwise.FloorModInt, elementwise.FloorModInt, elementwise.FloorModInt))
	binary("Mod", "int32, int64, half, bfloat16, float, double", nil, truncateModKernels())
	binary("TruncateMod", "int32, int64, bfloat16, half, float, double", nil, truncateModKernels())
	binary("DivNoNan", "half, float, bfloat16, double, "+complexTypes, divNoNanGrad,
		inLanes(tf.Float32, elementwise.DivNoNanLanes, floatZips(zip(elementwise.DivNoNan32), zip(elementwise.DivNoNan[float64]))),
		complexZips(zip(elementwise.DivNoNan[complex64]), zip(elementwise.DivNoNan[complex128])))
	binary("Pow", "bfloat16, float, half, double, "+signedTypes+", "+complexTypes, powGrad,
		floatZips(zip(elementwise.Pow[float32]), zip(elementwise.Pow[float64])),
		complexZips(zip(elementwise.Pow[complex64]), zip(elementwise.Pow[complex128])),
		byType{
			tf.Int8: powKernel(elementwise.PowInt[int8]), tf.Int16: powKernel(elementwise.PowInt[int16]),
			tf.Int32: powKernel(elementwise.PowInt[int32]), tf.Int64: powKernel(elementwise.PowInt[int64]),
		})
}

func realDivKernels() byType {
	return merge(floatZips(elementwise.DivLoops[float32](), elementwise.DivLoops[float64]()),
		complexZips(elementwise.DivLoops[complex64](), elementwise.DivLoops[complex128]()))
}

func truncateModKernels() byType {
	return byType{
		tf.Int32: intZip(elementwise.ModInt[int32]), tf.Int64: intZip(elementwise.ModInt[int64]),
		tf.Float32: zipKernel(zip(elementwise.Mod[float32])), tf.Float64: zipKernel(zip(elementwise.Mod[float64])),
	}
}

func truncateDiv[T numeric.Float](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T { return T(math.Trunc(float64(a / b))) })
}

func truncate[T numeric.Float](y, x []T) { elementwise.MapFloat64(y, x, math.Trunc) }

// intZip is the kernel of an integer division.
func intZip[T interface {
	numeric.Integer
	tf.Elem
}](f func(z, x, y []T)) core.NewKernel {
	return checkedZip(zip(f), func(y []T) error {
		if elementwise.HasZero(y) {
			return tf.Errorf(tf.InvalidArgument, "Integer division by zero")
		}
		return nil
	})
}

func intZips(i8 func(z, x, y []int8), i16 func(z, x, y []int16), i32 func(z, x, y []int32), i64 func(z, x, y []int64),
	u8 func(z, x, y []uint8), u16 func(z, x, y []uint16), u32 func(z, x, y []uint32), u64 func(z, x, y []uint64)) byType {
	return byType{
		tf.Int8: intZip(i8), tf.Int16: intZip(i16), tf.Int32: intZip(i32), tf.Int64: intZip(i64),
		tf.Uint8: intZip(u8), tf.Uint16: intZip(u16), tf.Uint32: intZip(u32), tf.Uint64: intZip(u64),
	}
}

func powKernel[T interface {
	numeric.Signed
	tf.Elem
}](f func(z, x, y []T)) core.NewKernel {
	return checkedZip(zip(f), func(y []T) error {
		if elementwise.HasNegative(y) {
			return tf.Errorf(tf.InvalidArgument, "Integers to negative integer powers are not allowed")
		}
		return nil
	})
}

// Div returns x / y as Python's operator / does: integers become
// floating-point numbers first, float32 if they have 8 or 16 bits, else
// float64. FloorDiv divides integers. x and y have one type and broadcast;
// shapes that do not are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step. Division by zero gives ±Inf or
// NaN.
func Div(x, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("RealDiv", opts, castTo(x, x.DType().Quotient()), castTo(y, y.DType().Quotient()))
}

// RealDiv returns x / y of floating-point or complex numbers. x and y have
// one type and broadcast; shapes that do not are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. Division of floating-point numbers by zero gives ±Inf or NaN;
// DivNoNan gives 0.
func RealDiv(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("RealDiv", opts, x, y) }

// TruncateDiv returns x / y rounded towards zero. It takes integers and
// floating-point numbers. x and y have one type and broadcast; shapes that do
// not are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step. The step refuses integers in y that are 0 with
// INVALID_ARGUMENT, unless the result is empty; floating-point numbers
// divided by zero give ±Inf or NaN.
func TruncateDiv(x, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("TruncateDiv", opts, x, y)
}

// FloorDiv returns x / y rounded down. It takes integers and floating-point
// numbers. x and y have one type and broadcast; shapes that do not are
// refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step. The step refuses integers in y that are 0 with
// INVALID_ARGUMENT, unless the result is empty; floating-point numbers
// divided by zero give ±Inf or NaN.
func FloorDiv(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("FloorDiv", opts, x, y) }

// FloorMod returns x - FloorDiv(x, y)·y, which has the sign of y. It takes
// integers and floating-point numbers. x and y have one type and broadcast;
// shapes that do not are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step. The step refuses integers in y
// that are 0 with INVALID_ARGUMENT, unless the result is empty; where a
// floating-point y is 0 the result is NaN.
func FloorMod(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("FloorMod", opts, x, y) }

// Mod returns the remainder of FloorDiv, which has the sign of y, as Python's
// operator % does. It is FloorMod, with the same types, shapes and errors.
func Mod(x, y tf.Output, opts ...tf.Option) tf.Output { return FloorMod(x, y, opts...) }

// TruncateMod returns the remainder of TruncateDiv, which has the sign of x.
// It takes int32, int64, float32 and float64. x and y have one type and
// broadcast; shapes that do not are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step. The step refuses
// integers in y that are 0 with INVALID_ARGUMENT, unless the result is empty;
// where a floating-point y is 0 the result is NaN.
func TruncateMod(x, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("TruncateMod", opts, x, y)
}

// DivNoNan returns x / y, and 0 where y is 0. This holds where x is infinite
// or NaN, too. It takes floating-point numbers (float16, bfloat16, float32,
// float64) and complex numbers. x and y have one type and broadcast; shapes
// that do not are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step.
func DivNoNan(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("DivNoNan", opts, x, y) }

// Pow returns x to the power of y. It takes floating-point numbers (float16,
// bfloat16, float32, float64), complex numbers and signed integers. x and y
// have one type and broadcast; shapes that do not are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. Integer powers wrap around, and the step refuses negative integers in
// y with INVALID_ARGUMENT. The gradient for y is 0 where a real x is not
// positive.
func Pow(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Pow", opts, x, y) }

// quotientGrad is the gradient of x/y for the division that div adds.
func quotientGrad(op *tf.Operation, dz tf.Output, div func(x, y tf.Output, _ ...tf.Option) tf.Output) []tf.Gradient {
	x, y := op.Input(0), op.Input(1)
	cx, cy := conj(x), conj(y)
	return unbroadcast(x, y, div(dz, cy), Mul(dz, div(div(Neg(cx), cy), cy)))
}

func realDivGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return quotientGrad(op, dy[0], RealDiv)
}

func divGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient { return quotientGrad(op, dy[0], RealDiv) }

func divNoNanGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return quotientGrad(op, dy[0], DivNoNan)
}

func floorModGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, y := op.Input(0), op.Input(1)
	return unbroadcast(x, y, dy[0], Mul(dy[0], Neg(FloorDiv(x, y))))
}

// powGrad: with respect to y the derivative is log(x)·x^y, taken as 0 where
// no logarithm is.
func powGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, y := op.Input(0), op.Input(1)
	cx, cy := conj(x), conj(y)
	dx := Mul(Mul(dy[0], cy), Pow(cx, Sub(cy, numberLike(cy, 1))))
	hasLog := Greater
	if x.DType().IsComplex() {
		hasLog = func(x, y tf.Output, _ ...tf.Option) tf.Output { return NotEqual(x, y) }
	}
	mask := hasLog(cx, numberLike(cx, 0))
	safe := Select(mask, cx, OnesLike(x))
	log := Select(mask, Log(safe), ZerosLike(x))
	return unbroadcast(x, y, dx, Mul(Mul(dy[0], conj(op.Output(0))), log))
}

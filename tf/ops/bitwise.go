package ops

import (
	"math/bits"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	bitwise("BitwiseAnd", intPairs(elementwise.BitAnd, elementwise.BitAnd, elementwise.BitAnd, elementwise.BitAnd, elementwise.BitAnd, elementwise.BitAnd, elementwise.BitAnd, elementwise.BitAnd))
	bitwise("BitwiseOr", intPairs(elementwise.BitOr, elementwise.BitOr, elementwise.BitOr, elementwise.BitOr, elementwise.BitOr, elementwise.BitOr, elementwise.BitOr, elementwise.BitOr))
	bitwise("BitwiseXor", intPairs(elementwise.BitXor, elementwise.BitXor, elementwise.BitXor, elementwise.BitXor, elementwise.BitXor, elementwise.BitXor, elementwise.BitXor, elementwise.BitXor))
	bitwise("LeftShift", intPairs(leftShift, leftShift, leftShift, leftShift, leftShift, leftShift, leftShift, leftShift))
	bitwise("RightShift", intPairs(rightShift, rightShift, rightShift, rightShift, rightShift, rightShift, rightShift, rightShift))
	core.Register(core.OpDef{
		Name: "Invert", Traits: core.Involution, In: "x: T", Out: "y: T", Attrs: integers, Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("T", merge(signedMaps(elementwise.BitNot, elementwise.BitNot, elementwise.BitNot, elementwise.BitNot),
			unsignedMaps(elementwise.BitNot, elementwise.BitNot, elementwise.BitNot, elementwise.BitNot))),
	})
	core.Register(core.OpDef{
		Name: "PopulationCount", In: "x: T", Out: "y: uint8", Attrs: integers, Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("T", byType{
			tf.Int8: mapToKernel(bitCount[int8]), tf.Int16: mapToKernel(bitCount[int16]), tf.Int32: mapToKernel(bitCount[int32]), tf.Int64: mapToKernel(bitCount[int64]),
			tf.Uint8: mapToKernel(bitCount[uint8]), tf.Uint16: mapToKernel(bitCount[uint16]), tf.Uint32: mapToKernel(bitCount[uint32]), tf.Uint64: mapToKernel(bitCount[uint64]),
		}),
	})
}

const integers = "T: {" + signedTypes + ", " + unsignedTypes + "}"

func bitwise(name string, kernels byType) {
	core.Register(core.OpDef{
		Name: name, In: "x: T; y: T", Out: "z: T", Attrs: integers,
		Shape: core.BroadcastShape, NoGrad: core.NotDifferentiable, Kernels: core.ByType("T", kernels),
	})
}

func intPairs(i8 func(z, x, y []int8), i16 func(z, x, y []int16), i32 func(z, x, y []int32), i64 func(z, x, y []int64),
	u8 func(z, x, y []uint8), u16 func(z, x, y []uint16), u32 func(z, x, y []uint32), u64 func(z, x, y []uint64)) byType {
	return merge(signedZips(zip(i8), zip(i16), zip(i32), zip(i64)), unsignedZips(zip(u8), zip(u16), zip(u32), zip(u64)))
}

// leftShift bounds the distance to what the type has bits for, as TensorFlow
// does where C leaves the result undefined.
func leftShift[T numeric.Integer](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T { return a << shiftOf(b) })
}

func rightShift[T numeric.Integer](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T { return a >> shiftOf(b) })
}

func shiftOf[T numeric.Integer](b T) T { return min(max(b, 0), T(unsafe.Sizeof(b)*8-1)) }

func bitCount[T numeric.Integer](y []uint8, x []T) {
	kernel.Map2(y, x, func(v T) uint8 {
		// The bits above those of a negative number's type are not its own.
		all := uint64(v) << (64 - unsafe.Sizeof(v)*8)
		return uint8(bits.OnesCount64(all))
	})
}

// BitwiseAnd returns the bits that are set in both x and y. x and y hold
// integers of one type, signed or unsigned, and broadcast. Shapes that do not
// broadcast are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step.
func BitwiseAnd(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("BitwiseAnd", opts, x, y) }

// BitwiseOr returns the bits that are set in x or y. x and y hold integers of
// one type, signed or unsigned, and broadcast. Shapes that do not broadcast are
// refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step.
func BitwiseOr(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("BitwiseOr", opts, x, y) }

// BitwiseXor returns the bits that differ between x and y. x and y hold
// integers of one type, signed or unsigned, and broadcast. Shapes that do not
// broadcast are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step.
func BitwiseXor(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("BitwiseXor", opts, x, y) }

// LeftShift returns x shifted by y bits, of which there are at least 0 and less
// than x has. A y outside these bounds counts as the nearest of them. x and y
// hold integers of one type and broadcast. Shapes that do not broadcast are
// refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step.
func LeftShift(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("LeftShift", opts, x, y) }

// RightShift returns x shifted down by y bits; see LeftShift. The sign of x is
// kept: signed integers are filled up with it, others with zeros. A y that is
// negative or not less than the number of bits counts as the nearest number
// that is neither. x and y hold integers of one type and broadcast. Shapes
// that do not broadcast are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step.
func RightShift(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("RightShift", opts, x, y) }

// Invert returns x with all bits flipped. x holds integers, signed or
// unsigned; the result has its shape and type. Other types are refused with
// INVALID_ARGUMENT when the graph is built.
func Invert(x tf.Output, opts ...tf.Option) tf.Output { return apply("Invert", opts, x) }

// PopulationCount returns how many bits of x are set. x holds integers, signed
// or unsigned; the result has its shape and is uint8. The bits of a negative
// number are those of its type. Other types are refused with INVALID_ARGUMENT
// when the graph is built.
func PopulationCount(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("PopulationCount", opts, x)
}

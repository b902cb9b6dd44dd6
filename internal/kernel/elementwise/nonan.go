package elementwise

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/machine"
)

// Quotients and products that are 0 where an operand is, whatever the other one is.

// unlessZero returns lanes that are f but where x is 0, whose sign remains as in TensorFlow.
func unlessZero(f binaryLanes) machine.Lanes {
	return Lanes2(func(c *machine.Code, x, y machine.Value) machine.Value {
		return c.Pick(c.NotEqual(x, c.Word(0)), f(c, x, y), x)
	})
}

// The lanes of DivNoNan and Xdivy, and of what TimesLog does with logarithms.
var (
	DivNoNanLanes = Lanes2(func(c *machine.Code, x, y machine.Value) machine.Value {
		return c.Pick(c.NotEqual(y, c.Word(0)), c.Div(x, y), c.Word(0))
	})
	XdivyLanes     = unlessZero((*machine.Code).Div)
	mulNoZeroLanes = unlessZero((*machine.Code).Mul)
)

var (
	// DivNoNan32 is DivNoNan of float32.
	DivNoNan32 = CompiledZip(DivNoNanLanes, DivNoNan[float32])
	// Xdivy32 sets z = x/y, and 0 where x is 0.
	Xdivy32 = CompiledZip(XdivyLanes, func(z, x, y []float32) {
		kernel.Zip(z, x, y, func(x, y float32) float32 {
			if x == 0 {
				return x
			}
			return x / y
		})
	})
	mulNoZero = CompiledZip(mulNoZeroLanes, func(z, x, y []float32) {
		kernel.Zip(z, x, y, func(x, y float32) float32 {
			if x == 0 || x != x {
				return x + x // of two NaNs the first one, as in machine code
			}
			return x * y
		})
	})
)

// TimesLog sets z = x·log(y), and 0 where x is 0. log is Log or Log1p.
func TimesLog(log func(y, x []float32), z, x, y []float32) {
	EachBlock(len(z), func(lo, hi int, buf []float32) {
		log(buf, y[lo:hi])
		mulNoZero(z[lo:hi], x[lo:hi], buf)
	})
}

// infinity has the bits of +Inf.
const infinity = 0x7f800000

// The lanes of IsNan, IsInf and IsFinite.
var (
	IsNanLanes    = inBytes(Lanes1(func(c *machine.Code, x machine.Value) machine.Value { return c.NotEqual(x, x) }))
	IsInfLanes    = inBytes(Lanes1(func(c *machine.Code, x machine.Value) machine.Value { return c.Equal(c.Abs(x), c.Word(infinity)) }))
	IsFiniteLanes = inBytes(Lanes1(func(c *machine.Code, x machine.Value) machine.Value { return c.Greater(c.Word(infinity), c.Abs(x)) }))
)

// FloorDiv32 is FloorDiv of float32.
func FloorDiv32(z, x, y []float32) {
	EachBlock(len(z), func(lo, hi int, _ []float32) {
		Div(z[lo:hi], x[lo:hi], y[lo:hi])
		Floor(z[lo:hi], z[lo:hi])
	})
}

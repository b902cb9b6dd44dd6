package elementwise

import (
	"sync"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// widenBlock elements of float32 stay in the first-level cache together with
// the 16-bit data they stand for.
const widenBlock = 1024

// wideBlocks keeps blocks for the operands of loops: a row of a matrix is often shorter than what
// clearing new ones takes.
var wideBlocks = sync.Pool{New: func() any { return new([2][widenBlock]float32) }}

// Widen1 computes a unary loop over 16-bit floats in float32, a block at a
// time: y = f(x).
func Widen1[H numeric.HalfFloat](y, x []H, f func(y, x []float32)) {
	buf := wideBlocks.Get().(*[2][widenBlock]float32)
	defer wideBlocks.Put(buf)
	for len(x) > 0 {
		n := min(len(x), widenBlock)
		b := buf[0][:n]
		Widen(b, x[:n])
		f(b, b)
		Narrow(y[:n], b)
		y, x = y[n:], x[n:]
	}
}

// Widen2 computes a binary loop over 16-bit floats in float32, a block at a
// time: z = f(x, y).
func Widen2[H numeric.HalfFloat](z, x, y []H, f func(z, x, y []float32)) {
	buf := wideBlocks.Get().(*[2][widenBlock]float32)
	defer wideBlocks.Put(buf)
	bx, by := &buf[0], &buf[1]
	for len(z) > 0 {
		n := min(len(z), widenBlock)
		Widen(bx[:n], x[:n])
		Widen(by[:n], y[:n])
		f(bx[:n], bx[:n], by[:n])
		Narrow(z[:n], bx[:n])
		z, x, y = z[n:], x[n:], y[n:]
	}
}

// WidenRounded is Widen2 for two operations, z = then(f(x, y)), with what comes between them rounded
// to 16 bits.
func WidenRounded[H numeric.HalfFloat](z, x, y []H, f func(z, x, y []float32), then func(y, x []float32)) {
	Widen2(z, x, y, f)
	Widen1(z, z, then)
}

// WidenTo computes a binary loop over 16-bit floats whose result has another
// type, as the comparisons have: z = f(x, y).
func WidenTo[R any, H numeric.HalfFloat](z []R, x, y []H, f func(z []R, x, y []float32)) {
	buf := wideBlocks.Get().(*[2][widenBlock]float32)
	defer wideBlocks.Put(buf)
	bx, by := &buf[0], &buf[1]
	for len(z) > 0 {
		n := min(len(z), widenBlock)
		Widen(bx[:n], x[:n])
		Widen(by[:n], y[:n])
		f(z[:n], bx[:n], by[:n])
		z, x, y = z[n:], x[n:], y[n:]
	}
}

// Widen sets y[i] to the value of x[i].
func Widen[H numeric.HalfFloat](y []float32, x []H) {
	switch x := any(x[:len(y)]).(type) {
	case []numeric.Half:
		n := convertVectors(simd.widenHalf, y, kernel.Words[uint16](x))
		kernel.Map2(y[n:], x[n:], func(h numeric.Half) float32 { return h.Float32() })
	case []numeric.BFloat16:
		n := convertVectors(simd.widenBFloat, y, kernel.Words[uint16](x))
		kernel.Map2(y[n:], x[n:], func(b numeric.BFloat16) float32 { return b.Float32() })
	}
}

// Narrow sets y[i] to x[i] rounded to the nearest, ties to even.
func Narrow[H numeric.HalfFloat](y []H, x []float32) {
	switch y := any(y).(type) {
	case []numeric.Half:
		n := convertVectors(simd.narrowHalf, kernel.Words[uint16](y), x)
		kernel.Map2(y[n:], x[n:], func(v float32) numeric.Half { return numeric.HalfFromFloat32(v) })
	case []numeric.BFloat16:
		n := convertVectors(simd.narrowBFloat, kernel.Words[uint16](y), x)
		kernel.Map2(y[n:], x[n:], func(v float32) numeric.BFloat16 { return numeric.BFloat16FromFloat32(v) })
	}
}

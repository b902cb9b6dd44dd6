package elementwise

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// widenBlock elements of float32 stay in the first-level cache together with
// the 16-bit data they stand for.
const widenBlock = 1024

// Widen1 computes a unary loop over 16-bit floats in float32, a block at a
// time: y = f(x).
func Widen1[H numeric.HalfFloat](y, x []H, f func(y, x []float32)) {
	var buf [widenBlock]float32
	for len(x) > 0 {
		n := min(len(x), widenBlock)
		b := buf[:n]
		Widen(b, x[:n])
		f(b, b)
		Narrow(y[:n], b)
		y, x = y[n:], x[n:]
	}
}

// Widen2 computes a binary loop over 16-bit floats in float32, a block at a
// time: z = f(x, y).
func Widen2[H numeric.HalfFloat](z, x, y []H, f func(z, x, y []float32)) {
	var bx, by [widenBlock]float32
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
	var bx, by [widenBlock]float32
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
	switch x := any(x).(type) {
	case []numeric.Half:
		kernel.Map2(y, x, func(h numeric.Half) float32 { return h.Float32() })
	case []numeric.BFloat16:
		kernel.Map2(y, x, func(b numeric.BFloat16) float32 { return b.Float32() })
	}
}

// Narrow sets y[i] to x[i] rounded to the nearest, ties to even.
func Narrow[H numeric.HalfFloat](y []H, x []float32) {
	switch y := any(y).(type) {
	case []numeric.Half:
		kernel.Map2(y, x, numeric.HalfFromFloat32)
	case []numeric.BFloat16:
		kernel.Map2(y, x, numeric.BFloat16FromFloat32)
	}
}

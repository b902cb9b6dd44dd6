package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// map64 runs a vector loop if there is one and the data are float64.
func map64[T any](f func(y, x *float64, n int), y, x []T) bool {
	yf, ok := any(y).([]float64)
	if !ok || f == nil {
		return false
	}
	xf := any(x).([]float64)[:len(yf)]
	for len(yf) > 0 {
		n := min(len(yf), kernel.VectorChunk)
		f(&yf[0], &xf[0], n)
		yf, xf = yf[n:], xf[n:]
	}
	return true
}

// mapBoth runs the vector loop for the type of the data if there is one, f otherwise.
func mapBoth[T numeric.Float](loop kernel.UnaryLoop, loop64 func(y, x *float64, n int), y, x []T, f func(float64) float64) {
	if !map64(loop64, y, x) {
		mapBy(loop, y, x, f)
	}
}

// AddScaled adds s·x to y. Products are rounded.
func AddScaled(y []float64, s float64, x []float64) {
	x = x[:len(y)]
	if simd.addScaled64 == nil {
		for i, v := range x {
			y[i] += float64(s * v)
		}
		return
	}
	for len(y) > 0 {
		n := min(len(y), kernel.VectorChunk)
		simd.addScaled64(&y[0], &x[0], n, s)
		y, x = y[n:], x[n:]
	}
}

// Rotate turns the points (x, y): it sets x = c·x + s·y and y = c·y - s·x. Products are rounded.
func Rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	if simd.rotate64 == nil {
		for i, v := range x {
			w := y[i]
			x[i], y[i] = float64(c*v)+float64(s*w), float64(c*w)-float64(s*v)
		}
		return
	}
	for len(x) > 0 {
		n := min(len(x), kernel.VectorChunk)
		simd.rotate64(&x[0], &y[0], n, c, s)
		x, y = x[n:], y[n:]
	}
}

// Dot returns the sum of the products of x and y, in an order that depends on their length alone.
func Dot(x, y []float64) (sum float64) {
	y = y[:len(x)]
	if simd.dot64 == nil {
		return dotPlain(x, y)
	}
	for len(x) > 0 {
		n := min(len(x), kernel.VectorChunk)
		sum += simd.dot64(&x[0], &y[0], n)
		x, y = x[n:], y[n:]
	}
	return sum
}

// dotPlain is Dot without vectors.
func dotPlain(x, y []float64) float64 {
	var s [4]float64
	for len(x) >= 4 && len(y) >= 4 {
		s[0] += x[0] * y[0]
		s[1] += x[1] * y[1]
		s[2] += x[2] * y[2]
		s[3] += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		s[0] += v * y[i]
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// rsqrtOf is 1/√x.
func rsqrtOf(x float64) float64 { return 1 / math.Sqrt(x) }

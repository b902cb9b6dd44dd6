package kerneltest

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// EachIndex calls f for every index of a shape, in order.
func EachIndex(shape []int, f func(at int, index []int)) {
	index := make([]int, len(shape))
	for at := range kernel.Product(shape) {
		rest := at
		for i := len(shape) - 1; i >= 0; i-- {
			index[i] = rest % shape[i]
			rest /= shape[i]
		}
		f(at, index)
	}
}

// Counting returns n different numbers.
func Counting[T numeric.Real](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(i%120 + 1)
	}
	return x
}

// Pieces is a Par that cuts the work into uneven pieces.
func Pieces(n, _ int, f func(lo, hi int)) {
	for lo, size := 0, 1; lo < n; size = size*2 + 1 {
		hi := min(n, lo+size)
		f(lo, hi)
		lo = hi
	}
}

// Lengths meet empty slices, tails of every kind, unrolled loops, and more
// than one call into assembly.
var Lengths = []int{0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 200, 1000, 16<<10 + 21}

var (
	NaN     = float32(math.NaN())
	Inf     = float32(math.Inf(1))
	NegZero = float32(math.Copysign(0, -1))
	Corner  = []float32{0, NegZero, 1, -1, 0.5, -0.5, NaN, Inf, -Inf, math.MaxFloat32, -math.MaxFloat32,
		math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 1.1754944e-38, -1.1754944e-38, 1e-40, 3e38,
		88.72, 88.73, 89, -87.33, -87.34, -88, -100, -103.9, -104, 700, -700, 0.624, 0.625, 0.626, -0.625, 9, -9, 20, 1e-5, 0.99999994, 1.0000001}
)

// Same reports whether two results are equal, NaN being equal to NaN, and
// zeros of different sign being different.
func Same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// Guarded returns a slice of n elements of which the one before and the one
// after must not be written, and a check for that.
func Guarded(n int) (x []float32, check func(t *testing.T)) {
	buf := make([]float32, n+2)
	kernel.Fill(buf, 12345)
	return buf[1 : n+1], func(t *testing.T) {
		t.Helper()
		if buf[0] != 12345 || buf[n+1] != 12345 {
			t.Errorf("length %d: wrote outside the slice", n)
		}
	}
}

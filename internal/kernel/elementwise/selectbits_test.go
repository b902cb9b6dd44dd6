package elementwise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

func testSelectBits[T comparable](t *testing.T, next func() T, done bool) {
	t.Helper()
	for _, n := range []int{0, 1, 7, 16, 64, 1000, kernel.VectorChunk + 21} {
		z, x, y, c := make([]T, n), make([]T, n), make([]T, n), make([]bool, n)
		for i := range c {
			x[i], y[i], c[i] = next(), next(), rand.IntN(2) == 0
		}
		if got := selectBits(z, c, x, y); got != done {
			t.Fatalf("%T: selectBits reports %v, want %v", z, got, done)
		}
		for i := range z {
			want := y[i]
			if c[i] {
				want = x[i]
			}
			if done && z[i] != want {
				t.Fatalf("%T of %d: element %d is %v, want %v", z, n, i, z[i], want)
			}
		}
	}
}

func TestSelectBits(t *testing.T) { kerneltest.EachLevel(t, testSelectBitsOfAll) }

func testSelectBitsOfAll(t *testing.T) {
	testSelectBits(t, rand.Float32, true)
	testSelectBits(t, rand.Float64, true)
	testSelectBits(t, rand.Int32, true)
	testSelectBits(t, rand.Int64, true)
	testSelectBits(t, rand.Uint32, true)
	testSelectBits(t, rand.Uint64, true)
	testSelectBits(t, func() string { return "text" }, false)
	testSelectBits(t, func() complex64 { return 1i }, false)
}

// NaN keeps its bits on the way.
func TestSelectBitsOfNaN(t *testing.T) {
	nan := math.Float32frombits(0x7fc01234)
	z := make([]float32, 2)
	selectBits(z, []bool{true, false}, []float32{nan, 1}, []float32{2, nan})
	for i, v := range z {
		if math.Float32bits(v) != 0x7fc01234 {
			t.Errorf("element %d has bits %#x", i, math.Float32bits(v))
		}
	}
}

package elementwise

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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

// TestSelectRepeated has one element in the place of an operand, and results in the
// memory of the other one.
func TestSelectRepeated(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range []int{1, 5, 16, 100, kernel.VectorChunk + 3} {
			for _, inPlace := range []bool{false, true} {
				for _, repeated := range []string{"x", "y", "xy"} {
					testSelectRepeated(t, n, repeated, inPlace)
				}
			}
		}
	})
}

func testSelectRepeated(t *testing.T, n int, repeated string, inPlace bool) {
	t.Helper()
	c, x, y, z := make([]bool, n), kerneltest.Counting[float32](n), kerneltest.Counting[float32](n), make([]float32, n)
	steps := [2]int{1, 1}
	for i := range c {
		c[i], y[i] = rand.IntN(2) == 0, -1-y[i]
	}
	if strings.Contains(repeated, "x") {
		x, steps[0] = []float32{1e6}, 0
	}
	if strings.Contains(repeated, "y") {
		y, steps[1] = []float32{-1e6}, 0
	}
	want := make([]float32, n)
	for i := range want {
		want[i] = y[i*steps[1]]
		if c[i] {
			want[i] = x[i*steps[0]]
		}
	}
	switch {
	case inPlace && repeated == "x":
		z = y
	case inPlace && repeated == "y":
		z = x
	}
	SelectRun(z, c, 1, x, steps[0], y, steps[1])
	if !slices.Equal(z, want) {
		t.Errorf("%d elements, %s repeated, in place %v: got %v, want %v", n, repeated, inPlace, z, want)
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

package quantize

import (
	"math"
	"reflect"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/machine"
)

// numbers returns numbers in and around a range, with those that are no numbers.
func numbers(n int) []float32 {
	x := kerneltest.Random[float32](n, 1)
	odd := []float32{0, 1, -1, 0.5, -0.5, float32(math.Copysign(0, -1)), 1e30, -1e30, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	for i := range x {
		switch i % 3 {
		case 1:
			x[i] = odd[i/3%len(odd)]
		case 2:
			x[i] = float32(i%600-300) / 2 // halves
		}
	}
	return x
}

func compareCode[Q quantum](t *testing.T, mode string, lo, hi float32) {
	x := numbers(5000)
	run := func() ([]Q, []float32) {
		y, back := make([]Q, len(x)), make([]float32, len(x))
		s := slicerOf[Q](&quantizer{mode: mode}, lo, hi)
		s.run(y, x)
		dequantizer[Q](mode, false, s.lo, s.hi)(back, y)
		return y, back
	}
	y, back := run()
	machine.Use(false)
	wantY, wantBack := run()
	machine.Use(true)
	if !reflect.DeepEqual(y, wantY) || !reflect.DeepEqual(back, wantBack) {
		t.Errorf("%s between %v and %v by machine code differs from loops in Go", mode, lo, hi)
	}
}

// TestCodeOfBytes: machine code quantizes, and gives back, as the loops that define it.
func TestCodeOfBytes(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, mode := range []string{MinCombined, Scaled, MinFirst} {
			for _, b := range [][2]float32{{-1, 1}, {0, 1}, {-128, 127}, {0, 255}, {-127.5, 127.5}, {-3, 17}} {
				compareCode[uint8](t, mode, b[0], b[1])
				compareCode[int8](t, mode, b[0], b[1])
			}
		}
	})
}

// TestCodeOfFakes: what simulates quantization gives the bits of the functions that define it.
func TestCodeOfFakes(t *testing.T) {
	x, dy := numbers(5000), kerneltest.Random[float32](5000, 2)
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, b := range [][2]float32{{-6, 6}, {0, 1}, {-1, 0}, {0.1, 0.2}, {-150, 100}, {0, 0}} {
			r := nudge(b[0], b[1], 0, 255)
			y, dx := make([]float32, len(x)), make([]float32, len(x))
			r.round(y, x)
			r.gate(dx, dy, x)
			for i, v := range x {
				if !kerneltest.Same(y[i], r.rounded(v)) {
					t.Fatalf("%v in %v is %v, want %v", v, b, y[i], r.rounded(v))
				}
				if want := dy[i] * oneIf(r.inside(v)); !kerneltest.Same(dx[i], want) {
					t.Fatalf("the gradient at %v in %v is %v, want %v", v, b, dx[i], want)
				}
			}
		}
	})
}

// TestCodeOfSimulations: what machine code rounds has the bits of loops in Go.
func TestCodeOfSimulations(t *testing.T) {
	x := numbers(5000)
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, given := range []bool{false, true} {
			v := &simulation[float32]{given: given, low: -128, high: 127}
			s, got, want := v.scaling(-3, 2), make([]float32, len(x)), make([]float32, len(x))
			v.round(got, x, s)
			machine.Use(false)
			v.round(want, x, s)
			machine.Use(true)
			for i := range x {
				if !kerneltest.Same(got[i], want[i]) {
					t.Fatalf("%v is %v, want %v", x[i], got[i], want[i])
				}
			}
		}
	})
}

// TestCodeOfBounds compares bytes that are bounded with what Go says, for bounds in any order.
func TestCodeOfBounds(t *testing.T) {
	x := make([]uint8, 1000)
	for i := range x {
		x[i] = uint8(i * 37)
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, b := range [][2]uint8{{0, 255}, {10, 200}, {128, 128}, {200, 10}} {
			y := make([]uint8, len(x))
			bound(y, x, b[0], b[1])
			for i, v := range x {
				if want := min(max(v, b[0]), b[1]); y[i] != want {
					t.Fatalf("%d between %v is %d, want %d", v, b, y[i], want)
				}
			}
		}
	})
}

// TestCodeOfChannels: ranges by channel give what each one's functions give, and sums of what is
// cut off.
func TestCodeOfChannels(t *testing.T) {
	all := []nudged{nudge(-6, 6, 0, 255), nudge(0, 1, 0, 255), nudge(-150, 100, 1, 255), nudge(0.1, 0.2, 0, 15), nudge(0, 0, 0, 255)}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for n := 1; n <= len(all); n++ {
			r, size := all[:n], 5000/n*n
			x, dy := numbers(size), kerneltest.Random[float32](size, 2)
			y, dx, sums := make([]float32, size), make([]float32, size), make([]float64, 2*n)
			roundChannels(y, x, r)
			got := newFakeBlock(r).cutSome(dx, dy, x)
			for i, v := range x {
				e := &r[i%n]
				if !kerneltest.Same(y[i], e.rounded(v)) {
					t.Fatalf("%v in %v is %v, want %v", v, e, y[i], e.rounded(v))
				}
				if want := dy[i] * oneIf(e.inside(v)); !kerneltest.Same(dx[i], want) {
					t.Fatalf("the gradient at %v in %v is %v, want %v", v, e, dx[i], want)
				}
				if !e.empty {
					sums[i%n] += float64(dy[i] * oneIf(v < e.min))
					sums[n+i%n] += float64(dy[i] * oneIf(v > e.max))
				}
			}
			if far := kerneltest.FarApart(got, sums, 1e-5); far != "" {
				t.Errorf("%d channels: %s", n, far)
			}
		}
	})
}

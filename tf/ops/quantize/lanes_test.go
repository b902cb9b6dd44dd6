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
		for _, mode := range []string{MinCombined, Scaled} {
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
				if want := dy[i] * float32(oneIf(r.inside(v))); !kerneltest.Same(dx[i], want) {
					t.Fatalf("the gradient at %v in %v is %v, want %v", v, b, dx[i], want)
				}
			}
		}
	})
}

//go:build amd64 && !noasm

package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// eachWinograd runs a test with the transforms of each instruction set that this processor has.
func eachWinograd(t *testing.T, f func(t *testing.T, b *winograd)) {
	for _, level := range kernel.Levels() {
		switch level {
		case kernel.AVX512:
			t.Run("AVX-512", func(t *testing.T) { f(t, newWinograd(newEngine(&microF32AVX512), winogradAVX512)) })
		case kernel.AVX2:
			t.Run("AVX2", func(t *testing.T) { f(t, newWinograd(newEngine(&microF32AVX2), winogradAVX2)) })
		}
	}
}

// squareConv is a convolution with windows of size×size that move by 1.
func squareConv(batch, h, w, in, out, size, padH, padW int) *Conv {
	return unitConv(batch, h, w, in, out, [3]int{1, size, size}, padH, padW)
}

// unitConv is a convolution with windows that move by 1.
func unitConv(batch, h, w, in, out int, window [3]int, padH, padW int) *Conv {
	one := [3]int{1, 1, 1}
	return convOf(kerneltest.NewImages(batch, in, out, 1, [3]int{1, h, w}, window, one, one, [3]int{0, padH, padW}))
}

// randomSquare draws one.
func randomSquare(rng *rand.Rand) *Conv {
	for {
		window := [3]int{1, 3, 3}
		if rng.IntN(2) == 0 {
			window = [3]int{1, 3 + rng.IntN(5), 3 + rng.IntN(5)}
		}
		v := unitConv(1+rng.IntN(2), 1+rng.IntN(10), 1+rng.IntN(10), 1+rng.IntN(20), 1+rng.IntN(36), window, rng.IntN(4), rng.IntN(4))
		if v.Out[1] > 0 && v.Out[2] > 0 {
			return v
		}
	}
}

// squareData are the operands of a convolution: images, filters and the gradient of results.
type squareData struct {
	*Conv
	x, w, dy []float32
}

func (v *Conv) dataOf(draw func() float32) squareData {
	fill := func(n int) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = draw()
		}
		return s
	}
	return squareData{v, fill(v.Batch * v.LinesIn() * v.In[2] * v.InC), fill(v.Taps() * v.InC * v.OutC), fill(v.Batch * v.LinesOut() * v.Out[2] * v.OutC)}
}

// sums returns results and the filters' gradient in double precision, and how far from them float32 may be:
// the largest products there could be for each, summed up, and some roundings of that.
func (d squareData) sums() (y, dw, yBound, dwBound []float64) {
	y, yBound = make([]float64, len(d.dy)), make([]float64, len(d.dy))
	dw, dwBound = make([]float64, len(d.w)), make([]float64, len(d.w))
	most := func(s []float32) (m float64) {
		for _, v := range s {
			m = max(m, math.Abs(float64(v)))
		}
		return m
	}
	const roundings = 64 / float64(1<<24)
	x, w, dy := most(d.x)*roundings, most(d.w), most(d.dy)
	eachProduct(d.Conv, func(i, j, k int) {
		y[i] += float64(d.x[j]) * float64(d.w[k])
		dw[k] += float64(d.dy[i]) * float64(d.x[j])
		yBound[i] += x * w
	})
	for k := range dwBound { // a tap that sees few pixels is made of sums over the others
		dwBound[k] = x * dy * float64(len(d.dy)/d.OutC)
	}
	return y, dw, yBound, dwBound
}

// farther says which element is farther from want than bound, if any.
func farther(got []float32, want, bound []float64) string {
	for i, x := range got {
		if !(math.Abs(float64(x)-want[i]) <= bound[i]) {
			return fmt.Sprintf("element %d is %v, want %v within %g", i, x, want[i], bound[i])
		}
	}
	return ""
}

func TestWinogradAtRandom(t *testing.T) {
	eachWinograd(t, func(t *testing.T, b *winograd) {
		rng := rand.New(rand.NewPCG(5, 6))
		for range 30 {
			v := randomSquare(rng)
			d := v.dataOf(func() float32 { return float32(rng.NormFloat64()) })
			y, dw, yBound, dwBound := d.sums()
			got, gotW := make([]float32, len(y)), make([]float32, len(dw))
			kernel.Fill(got, float32(math.NaN()))
			kernel.Fill(gotW, float32(math.NaN()))
			b.convolveTiles(kerneltest.Backwards, v, got, d.x, d.w, gemm.Epilogue[float32]{})
			if err := farther(got, y, yBound); err != "" {
				t.Errorf("%+v: %s", *v, err)
			}
			if !b.sumTiles(kerneltest.Backwards, v, gotW, d.x, d.dy) {
				t.Errorf("%+v: the gradient is said to be infinite", *v)
			}
			if err := farther(gotW, dw, dwBound); err != "" {
				t.Errorf("%+v: filters: %s", *v, err)
			}
		}
	})
}

// TestWinogradOfIntegers: sums of small integers are exact.
func TestWinogradOfIntegers(t *testing.T) {
	eachWinograd(t, func(t *testing.T, b *winograd) {
		rng := rand.New(rand.NewPCG(7, 8))
		for range 20 {
			v := randomSquare(rng)
			d := v.dataOf(func() float32 { return float32(rng.IntN(255) - 127) })
			y, dw, yBound, dwBound := d.sums()
			clear(yBound)
			clear(dwBound)
			got, gotW := make([]float32, len(y)), make([]float32, len(dw))
			b.convolveTiles(kernel.Serial, v, got, d.x, d.w, gemm.Epilogue[float32]{})
			b.sumTiles(kernel.Serial, v, gotW, d.x, d.dy)
			if err := farther(got, y, yBound); err != "" {
				t.Errorf("%+v: %s", *v, err)
			}
			if err := farther(gotW, dw, dwBound); err != "" {
				t.Errorf("%+v: filters: %s", *v, err)
			}
		}
	})
}

// TestWinogradOfInfinities: what is not finite shows in the results that see it, as what it is,
// and in no others.
func TestWinogradOfInfinities(t *testing.T) {
	odd := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32}
	eachWinograd(t, func(t *testing.T, b *winograd) {
		rng := rand.New(rand.NewPCG(9, 10))
		for range 40 {
			v := randomSquare(rng)
			d := v.dataOf(func() float32 { return 1 + rng.Float32() })
			for range 1 + rng.IntN(3) {
				d.x[rng.IntN(len(d.x))] = odd[rng.IntN(len(odd))]
			}
			want, got := make([]float32, len(d.dy)), make([]float32, len(d.dy))
			b.engine.convolve(kernel.Serial, v, want, d.x, d.w, gemm.Epilogue[float32]{})
			b.convolveTiles(kerneltest.Backwards, v, got, d.x, d.w, gemm.Epilogue[float32]{})
			if i := unlike(got, want); i >= 0 {
				t.Errorf("%+v: element %d is %v, want %v", *v, i, got[i], want[i])
			}
			dw, dwWant := make([]float32, len(d.w)), make([]float32, len(d.w))
			b.engine.backFilter(kernel.Serial, v, dwWant, d.x, d.dy)
			if b.sumTiles(kernel.Serial, v, dw, d.x, d.dy) && !slices.ContainsFunc(d.x, isMost) {
				if i := slices.IndexFunc(dwWant, func(x float32) bool { return x-x != 0 }); i >= 0 {
					t.Errorf("%+v: the gradient is said to be finite, element %d is %v", *v, i, dwWant[i])
				}
			}
		}
	})
}

func isMost(x float32) bool { return x == math.MaxFloat32 }

// unlike returns the first element that is of another kind than wanted, or -1. Next to
// the largest number everything else is rounded away.
func unlike(got, want []float32) int {
	for i, x := range want {
		switch {
		case x != x && got[i] != got[i], x == got[i]:
		case x-x == 0 && math.Abs(float64(got[i]-x)) <= 1e-4*math.Abs(float64(x)):
		default:
			return i
		}
	}
	return -1
}

// TestWinogradThreads: the bits are the same however the work is shared.
func TestWinogradThreads(t *testing.T) {
	eachWinograd(t, func(t *testing.T, b *winograd) {
		rng := rand.New(rand.NewPCG(11, 12))
		for range 20 {
			v := randomSquare(rng)
			d := v.dataOf(func() float32 { return float32(rng.NormFloat64()) })
			run := func(par kernel.Par) (y, dw []float32) {
				y, dw = make([]float32, len(d.dy)), make([]float32, len(d.w))
				b.convolveTiles(par, v, y, d.x, d.w, gemm.Epilogue[float32]{})
				b.sumTiles(par, v, dw, d.x, d.dy)
				return y, dw
			}
			y, dw := run(kernel.Serial)
			y2, dw2 := run(kerneltest.Backwards)
			if !slices.Equal(y, y2) || !slices.Equal(dw, dw2) {
				t.Errorf("%+v: in pieces the bits differ", *v)
			}
		}
	})
}

// TestWinogradOfInfinitiesThreads: the bits of what is beside results that are not finite are the same, however many
// threads there are.
func TestWinogradOfInfinitiesThreads(t *testing.T) {
	eachWinograd(t, func(t *testing.T, b *winograd) {
		rng := rand.New(rand.NewPCG(19, 20))
		v := squareConv(4, 24, 20, 24, 16, 3, 1, 1)
		d := v.dataOf(func() float32 { return float32(rng.NormFloat64()) })
		d.x[len(d.x)/2] = float32(math.Inf(1))
		var want []float32
		for _, n := range []int{1, 2, 16} {
			before := runtime.GOMAXPROCS(n)
			y := make([]float32, len(d.dy))
			b.convolveTiles(kerneltest.Backwards, v, y, d.x, d.w, gemm.Epilogue[float32]{})
			runtime.GOMAXPROCS(before)
			if want == nil {
				want = y
			}
			if i := differing(y, want); i >= 0 {
				t.Errorf("with %d threads element %d is %v, with one %v", n, i, y[i], want[i])
			}
		}
	})
}

// differing returns the first element of other bits, or -1.
func differing(x, y []float32) int {
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
			return i
		}
	}
	return -1
}

// TestWinogradAtOnce: convolutions of different shapes at the same time, which take turns with the same memory, give the
// bits that they give alone.
func TestWinogradAtOnce(t *testing.T) {
	eachWinograd(t, func(t *testing.T, b *winograd) {
		rng := rand.New(rand.NewPCG(17, 18))
		var all sync.WaitGroup
		for range 8 {
			d := randomSquare(rng).dataOf(func() float32 { return float32(rng.NormFloat64()) })
			run := func() (y, dw []float32) {
				y, dw = make([]float32, len(d.dy)), make([]float32, len(d.w))
				b.convolveTiles(kerneltest.Backwards, d.Conv, y, d.x, d.w, gemm.Epilogue[float32]{})
				b.sumTiles(kerneltest.Backwards, d.Conv, dw, d.x, d.dy)
				return y, dw
			}
			want, wantW := run()
			all.Go(func() {
				for range 50 {
					if y, dw := run(); !slices.Equal(y, want) || !slices.Equal(dw, wantW) {
						t.Errorf("%+v: other bits beside others", *d.Conv)
					}
				}
			})
		}
		all.Wait()
	})
}

// testEpilogue compares with the plain way: a bias is added, each element is activated and is in one stretch.
func testEpilogue(t *testing.T, b *winograd, d squareData) {
	bias := make([]float32, d.OutC)
	for i := range bias {
		bias[i] = float32(i%40) - 20
	}
	want, got := make([]float32, len(d.dy)), make([]float32, len(d.dy))
	epilogue := func(y []float32) gemm.Epilogue[float32] {
		return gemm.Epilogue[float32]{Bias: bias,
			Activate: func(row []float32) { elementwise.Relu(row, row) },
			Done:     func(lo, hi int) { elementwise.Neg(y[lo:hi], y[lo:hi]) }}
	}
	b.engine.convolve(kernel.Serial, d.Conv, want, d.x, d.w, epilogue(want))
	b.convolveTiles(kerneltest.Backwards, d.Conv, got, d.x, d.w, epilogue(got))
	if i := unlike(got, want); i >= 0 {
		t.Errorf("%+v: element %d is %v, want %v", *d.Conv, i, got[i], want[i])
	}
}

func TestWinogradEpilogue(t *testing.T) {
	eachWinograd(t, func(t *testing.T, b *winograd) {
		rng := rand.New(rand.NewPCG(13, 14))
		for range 20 {
			testEpilogue(t, b, randomSquare(rng).dataOf(func() float32 { return float32(rng.IntN(9) - 4) }))
		}
	})
}

// TestWinogradInParts: more outputs than are computed at a time, and many groups of tiles.
func TestWinogradInParts(t *testing.T) {
	eachWinograd(t, func(t *testing.T, b *winograd) {
		for _, v := range []*Conv{squareConv(2, 9, 8, 520, 300, 3, 1, 1), squareConv(5, 33, 31, 16, 24, 3, 1, 1), squareConv(1, 6, 5, 300, 1000, 3, 0, 1), squareConv(2, 9, 9, 200, 100, 5, 2, 2)} {
			rng := rand.New(rand.NewPCG(15, 16))
			d := v.dataOf(func() float32 { return float32(rng.IntN(7) - 3) })
			dw, want := make([]float32, len(d.w)), make([]float32, len(d.w))
			b.engine.backFilter(kernel.Serial, v, want, d.x, d.dy)
			b.sumTiles(kerneltest.Backwards, v, dw, d.x, d.dy)
			if !slices.Equal(dw, want) {
				t.Errorf("%+v: the gradients differ", *v)
			}
			testEpilogue(t, b, d)
			d.x[rng.IntN(len(d.x))] = float32(math.Inf(1))
			testEpilogue(t, b, d)
		}
	})
}

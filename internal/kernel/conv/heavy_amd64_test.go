//go:build amd64 && !noasm

package conv

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// TestHeavyAtRandom: filters that do not stay in the cache, which is said to be tiny here, give the bits that lines in
// order give, with what follows done once to each element, for images and for their gradients.
func TestHeavyAtRandom(t *testing.T) {
	for _, level := range kernel.Levels() {
		switch level {
		case kernel.AVX512:
			t.Run("AVX-512", func(t *testing.T) { testHeavy(t, newEngine(&microF32AVX512)) })
		case kernel.AVX2:
			t.Run("AVX2", func(t *testing.T) { testHeavy(t, newEngine(&microF64AVX2)) })
		}
	}
}

func testHeavy[T numeric.Float](t *testing.T, small *engine[T]) {
	rng := rand.New(rand.NewPCG(71, 72))
	large := newEngine(small.micro)
	large.room = math.MaxInt / 4
	for range 60 {
		v := randomConv(rng)
		if v.Out[0] < 1 || v.Out[1] < 1 || v.Out[2] < 1 {
			continue
		}
		small.room = 1 + rng.IntN(3000)
		x := kerneltest.RandomSlice[T](rng, v.Batch*v.LinesIn()*v.In[2]*v.InC)
		w := kerneltest.RandomSlice[T](rng, v.Taps()*v.groupC()*v.OutC)
		dy := kerneltest.RandomSlice[T](rng, v.Batch*v.LinesOut()*v.Out[2]*v.OutC)
		bias := kerneltest.RandomSlice[T](rng, v.OutC)
		run := func(b *engine[T], par kernel.Par) (y, dx []T, done []int) {
			y, dx, done = make([]T, len(dy)), make([]T, len(x)), make([]int, len(dy))
			kernel.Fill(y, T(math.NaN()))
			kernel.Fill(dx, T(math.NaN()))
			var mu sync.Mutex
			follow := gemm.Epilogue[T]{Bias: bias, Activate: func(row []T) { elementwise.Relu(row, row) }, Done: func(lo, hi int) {
				mu.Lock()
				defer mu.Unlock()
				for i := lo; i < hi; i++ {
					done[i]++
				}
			}}
			b.convolve(par, v, y, x, w, follow)
			if !b.backInput(par, v, dx, dy, w) {
				clear(dx)
			}
			return y, dx, done
		}
		want, wantDX, _ := run(large, kernel.Serial)
		for _, par := range []kernel.Par{kernel.Serial, kerneltest.Backwards} {
			got, dx, done := run(small, par)
			if !slices.Equal(got, want) {
				t.Errorf("%+v, room %d: other bits than by lines", *v, small.room)
			}
			if !slices.Equal(dx, wantDX) {
				t.Errorf("%+v, room %d: gradients for the images have other bits than by lines", *v, small.room)
			}
			if i := slices.IndexFunc(done, func(n int) bool { return n != 1 }); i >= 0 {
				t.Errorf("%+v, room %d: element %d is finished %d times", *v, small.room, i, done[i])
			}
		}
	}
}

// TestSpacedInSteps: positions that are copied some lines at a time give what all at once give, each finished once.
func TestSpacedInSteps(t *testing.T) {
	one := [3]int{1, 1, 1}
	v := convOf(kerneltest.NewImages(2, 300, 128, 1, [3]int{1, 90, 81}, one, [3]int{1, 1, 2}, one, [3]int{}))
	if v.patchLines(spacedElements) >= v.Batch*v.LinesOut() {
		t.Fatal("all lines are copied at once")
	}
	rng := rand.New(rand.NewPCG(73, 74))
	x := kerneltest.RandomSlice[float32](rng, v.Batch*v.LinesIn()*v.In[2]*v.InC)
	w := kerneltest.RandomSlice[float32](rng, v.InC*v.OutC)
	got := make([]float32, v.Batch*v.LinesOut()*v.Out[2]*v.OutC)
	done := make([]int, len(got))
	Convolve(kernel.Serial, v, got, x, w, gemm.Epilogue[float32]{Done: func(lo, hi int) {
		for i := lo; i < hi; i++ {
			done[i]++
		}
	}})
	if i := slices.IndexFunc(done, func(n int) bool { return n != 1 }); i >= 0 {
		t.Errorf("element %d is finished %d times", i, done[i])
	}
	for range 200 {
		pixel, o := rng.IntN(len(got)/v.OutC), rng.IntN(v.OutC)
		seen := pixel/v.Out[2]*v.In[2] + pixel%v.Out[2]*2
		want := 0.0
		for c := range v.InC {
			want += float64(x[seen*v.InC+c]) * float64(w[c*v.OutC+o])
		}
		if d := math.Abs(float64(got[pixel*v.OutC+o]) - want); !(d < 1e-3) {
			t.Errorf("output %d of position %d is off by %g", o, pixel, d)
		}
	}
}

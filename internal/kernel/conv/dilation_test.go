package conv

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// TestDilate compares dilations, with and without their taps, and gradients with what they are
// sums of.
func TestDilate(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, v := range depthwiseCases() {
			testDilate(t, &v, waves(v.Batch*v.LinesIn()*v.In[2]*v.C), waves(v.Taps()*v.C))
		}
	})
}

func testDilate(t *testing.T, v *Depthwise, wideX, wideW []float64) {
	t.Helper()
	n, x, w := v.Batch*v.LinesOut()*v.Out[2]*v.C, make([]float32, len(wideX)), make([]float32, len(wideW))
	elementwise.Cast(x, wideX)
	elementwise.Cast(w, wideW)
	for i := range x {
		if i%23 == 5 {
			x[i] = float32(math.NaN())
		}
	}
	want, taps, dy := make([]float32, n), make([]int32, n), kerneltest.Random[float32](n, 1)
	kernel.Fill(want, numeric.Lowest[float32]())
	kernel.Fill(taps, -1)
	image := make([]int, n)
	naiveDepthwise(v, func(i, j, k int) {
		if sum := x[j] + w[k]; sum > want[i] {
			want[i], taps[i], image[i] = sum, int32(k/v.C), j
		}
	})
	dx, dw := make([]float32, len(x)), make([]float32, len(w))
	for i, tap := range taps {
		if tap >= 0 {
			dx[image[i]] += dy[i]
			dw[int(tap)*v.C+i%v.C] += dy[i]
		}
	}
	got, from, gotX, gotW := make([]float32, n), make([]int32, n), make([]float32, len(x)), make([]float32, len(w))
	Dilate(kerneltest.Backwards, v, got, x, w, from)
	for of, z := range [][]float32{gotX, gotW} {
		DilateBack(kerneltest.Backwards, v, z, dy, from, of == 1)
	}
	if !slices.Equal(got, want) || !slices.Equal(from, taps) {
		t.Fatalf("%d channels: the greatest sums are elsewhere", v.C)
	}
	if !slices.Equal(gotX, dx) || !slices.Equal(gotW, dw) {
		t.Fatalf("%d channels: gradients are elsewhere", v.C)
	}
}

// TestDilateRuns: vector loops find what the plain loop does, bit for bit.
func TestDilateRuns(t *testing.T) {
	inf := float32(math.Inf(1))
	special := []float32{float32(math.NaN()), inf, -inf, 0, float32(math.Copysign(0, -1)), -math.MaxFloat32}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for i, v := range depthwiseCases() {
			rng := rand.New(rand.NewPCG(uint64(i), 2))
			x, w := kerneltest.RandomSlice[float32](rng, v.Batch*v.LinesIn()*v.In[2]*v.C), kerneltest.RandomSlice[float32](rng, v.Taps()*v.C)
			for k := range special {
				x[rng.IntN(len(x))] = special[k]
			}
			w[rng.IntN(len(w))] = special[i%len(special)]
			got := make([]float32, v.Batch*v.LinesOut()*v.Out[2]*v.C)
			want := make([]float32, len(got))
			Dilate(kernel.Serial, &v, got, x, w, nil)
			for line := range v.Batch * v.LinesOut() {
				dilateLine(&v, line, want, x, w, nil)
			}
			for k := range want {
				if math.Float32bits(got[k]) != math.Float32bits(want[k]) {
					t.Fatalf("case %d: result %d is %v, want %v", i, k, got[k], want[k])
				}
			}
		}
	})
}

package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/kernel/sliding"
)

// TestDepthwiseTiles: tiles compute the bits that lines without tiles do, in any parts.
func TestDepthwiseTiles(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		loops := simd.tiles
		defer func() { simd.tiles = loops }()
		r := rand.New(rand.NewPCG(3, 4))
		for range 300 {
			v := randomTiled(r)
			x, w, dy := tiledFloats(r, v.Batch*v.LinesIn()*v.In[2]*v.C), tiledFloats(r, v.Taps()*v.C), tiledFloats(r, v.Batch*v.LinesOut()*v.Out[2]*v.C)
			simd.tiles = tileLoops{}
			wantY, wantX, _ := runDepthwise(kernel.Serial, &v, x, w, dy)
			simd.tiles = loops
			if r.IntN(2) == 0 {
				simd.tiles.near = 0 // fetches ahead
			}
			for name, par := range map[string]kernel.Par{"whole": kernel.Serial, "in halves": inHalves, "line by line": kerneltest.Pieces} {
				gotY, gotX, _ := runDepthwise(par, &v, x, w, dy)
				what := fmt.Sprintf("%s: %+v", name, v)
				sameBits(t, what+": results", gotY, wantY)
				sameBits(t, what+": gradient for the images", gotX, wantX)
			}
		}
	})
}

// randomTiled returns a convolution by a filter of 3 by 3, of which some have tiles.
func randomTiled(r *rand.Rand) Depthwise {
	v := Depthwise{Batch: 1 + r.IntN(3), C: []int{2, 7, 16, 17, 40, 64, 130, 512}[r.IntN(8)]}
	stride, one := 1+r.IntN(2), [3]int{1, 1, 1}
	v.Window = sliding.Window{In: one, Out: one, Kernel: [3]int{1, 3, 3}, Stride: [3]int{1, stride, stride}, Dilation: one}
	for i := 1; i < 3; i++ {
		for v.Out[i] = 0; v.Out[i] < 1; {
			after := r.IntN(3)
			v.In[i], v.Pad[i] = 1+r.IntN(20), []int{0, 1, 1, 1, 2, 3}[r.IntN(6)]
			if v.In[i]+v.Pad[i]+after >= 3 {
				v.Out[i] = (v.In[i]+v.Pad[i]+after-3)/stride + 1
			}
		}
	}
	return v
}

// tiledFloats returns random numbers, and now and then one that is apt to show what is computed
// otherwise.
func tiledFloats(r *rand.Rand, n int) []float32 {
	x := randomFloats(r, n)
	odd := []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), 0, 1e-40, -1e-42, math.MaxFloat32}
	for range n / 200 {
		x[r.IntN(n)] = float32(odd[r.IntN(len(odd))])
	}
	return x
}

func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %v (%#x), want %v (%#x)", what, i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

// TestDepthwiseTilesLie says which convolutions have tiles: those of padding that keeps sizes
// have no pixels besides.
func TestDepthwiseTilesLie(t *testing.T) {
	if simd.tiles.columns == 0 {
		t.Skip("no loops for tiles")
	}
	for _, size := range []int{4, 7, 14, 56} {
		for stride := 1; stride <= 2; stride++ {
			v := &Depthwise{Batch: leastTiled, C: 16, Window: sliding.Window{
				In: [3]int{1, size, size}, Out: [3]int{1, kernel.CeilDiv(size, stride), kernel.CeilDiv(size, stride)},
				Kernel: [3]int{1, 3, 3}, Stride: [3]int{1, stride, stride}, Dilation: [3]int{1, 1, 1},
			}}
			v.Pad[1] = ((v.Out[1]-1)*stride + 3 - size) / 2
			v.Pad[2] = v.Pad[1]
			forward, back := v.forwardTiles([]track{v.forwardTrack()}), v.backTiles(v.backTracks())
			most := 0
			if stride == 2 && size%2 == 1 {
				most = 1 // the first pixel has no other to be a pair with
			}
			if v.Out[2] >= simd.tiles.columns && (forward == nil || len(forward.rest) > 0) || v.Out[2] > simd.tiles.columns && (back == nil || len(back.rest) > most) {
				t.Errorf("%d pixels, %d apart: tiles of results: %+v, of the gradient: %+v", size, stride, forward, back)
			}
		}
	}
}

package layout

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// inPieces calls f for ranges of at most 7, which begin anywhere in a batch.
func inPieces(n, _ int, f func(lo, hi int)) {
	for lo := 0; lo < n; lo += 7 {
		f(lo, min(lo+7, n))
	}
}

// TestGatherRandomly compares with element by element: batches, tables that are asked for
// ahead and ones that are not, rows of one element and none.
func TestGatherRandomly(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 40, 70000} {
		for _, inner := range []int{0, 1, 2, 33} {
			for _, k := range []int{0, 1, 50} {
				const outer = 3
				src, idx := make([]float32, outer*n*inner), make([]int32, k)
				for i := range src {
					src[i] = r.Float32()
				}
				for i := range idx {
					idx[i] = int32(r.IntN(n))
				}
				got, want := make([]float32, outer*k*inner), make([]float32, outer*k*inner)
				for i := range want {
					o, j, e := i/inner/k, i/inner%k, i%inner
					want[i] = src[(o*n+int(idx[j]))*inner+e]
				}
				for _, par := range []kernel.Par{kernel.Serial, inPieces} {
					clear(got)
					if Gather(par, got, src, idx, outer, n, inner); !slices.Equal(got, want) {
						t.Errorf("%d of %d rows of %d: other elements", k, n, inner)
					}
				}
			}
		}
	}
}

// TestScatterAddRandomly compares with element by element: rows that come again, negative
// indices, tables that are asked for ahead and ones that are not.
func TestScatterAddRandomly(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 40, 70000} {
		for _, inner := range []int{0, 1, 2, 33} {
			const k = 500
			src, idx := make([]float32, k*inner), make([]int64, k)
			for i := range src {
				src[i] = r.Float32()
			}
			for i := range idx {
				idx[i] = int64(r.IntN(min(n, 90)+1)*(n/min(n, 90))) - 1
			}
			got, want := make([]float32, n*inner), make([]float32, n*inner)
			for i, x := range src {
				if row := int(idx[i/inner]); row >= 0 {
					want[row*inner+i%inner] += x
				}
			}
			if ScatterAdd(got, src, idx, inner); !slices.Equal(got, want) {
				t.Errorf("into %d rows of %d: other sums", n, inner)
			}
		}
	}
}

//go:build amd64 && !noasm

package conv

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// TestRunsKernels runs every kernel over lists of runs, of tiles in the middle
// of a larger matrix. The operands are small integers: all results are exact.
func TestRunsKernels(t *testing.T) {
	for _, l := range kernel.Levels() {
		switch l {
		case kernel.AVX512:
			checkRuns(t, &microF32AVX512)
			checkRuns(t, &microF64AVX512)
		case kernel.AVX2:
			checkRuns(t, &microF32AVX2)
			checkRuns(t, &microF64AVX2)
		}
	}
}

func checkRuns[T numeric.Float](t *testing.T, m *microKernels[T]) {
	t.Helper()
	for h := 1; h <= m.tileM; h++ {
		for _, width := range []int{1, m.lanes - 1, m.lanes, m.lanes + 1, m.panel() - 1, m.panel()} {
			for _, lengths := range [][]int{{0}, {1}, {9}, {4, 3, 8}} {
				r := runsCase[T]{h: h, width: width, lengths: lengths}
				r.check(t, "rows", m.runsTile(h, width), func(i, k int) int { return i*runsLDA + k }, 1)
				r.check(t, "columns", m.sumsTile(h, width), func(i, k int) int { return k*runsLDA + i }, runsLDA)
			}
		}
	}
}

// runsLDA is the distance of rows or columns of A.
const runsLDA = 19

// runsCase is a tile of h rows and some columns, summed up over runs of some
// lengths.
type runsCase[T numeric.Float] struct {
	h, width int
	lengths  []int
}

// list returns where the runs lie in A, whose steps are so far apart, and B:
// the last one first, with a gap between them.
func (r runsCase[T]) list(stepA, ldb int) (runs []kRun) {
	atA, atB := 5, 2
	for _, k := range r.lengths {
		runs = append(runs, kRun{atA * elementSize[T](), atB * ldb * elementSize[T](), k})
		atA, atB = atA+k*stepA+3, atB+k+1
	}
	slices.Reverse(runs)
	return append(runs, kRun{})
}

// check compares a kernel with sums over A, whose element (i, k) of a run lies
// where at says.
func (r runsCase[T]) check(t *testing.T, name string, kernel runsKernel[T], at func(i, k int) int, stepA int) {
	t.Helper()
	const ldb, ldc = 40, 45
	size := elementSize[T]()
	a, b, bias := kerneltest.Counting[T](800), kerneltest.Counting[T](25*ldb), kerneltest.Counting[T](r.width)
	runs := r.list(stepA, ldb)
	for _, e := range []struct {
		beta int
		bias []T
	}{{0, nil}, {1, nil}, {0, bias}, {1, bias}} {
		want, got := kerneltest.Counting[T](15*ldc), kerneltest.Counting[T](15*ldc)
		for i := range r.h {
			for j := range r.width {
				sum := T(e.beta) * want[i*ldc+j]
				for _, run := range runs {
					for k := range run.k {
						sum += a[run.a/size+at(i, k)] * b[run.b/size+k*ldb+j]
					}
				}
				if e.bias != nil {
					sum += e.bias[j]
				}
				want[i*ldc+j] = sum
			}
		}
		kernel(&runs[0].a, &a[0], runsLDA, &b[0], ldb, &got[0], ldc, e.beta, unsafe.SliceData(e.bias), r.width, 0)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %+v, beta %d, bias %v: the kernel and the definition differ", name, r, e.beta, e.bias != nil)
		}
	}
}

package layout

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// someRows returns k numbers of n rows, some of which come again, and some -1.
func someRows(r *rand.Rand, k, n int) []int64 {
	idx := make([]int64, k)
	for i := range idx {
		idx[i] = int64(r.IntN(n+1)) - 1
	}
	return idx
}

// TestRowsRandomly compares with copies row by row: all short widths and some long ones,
// tables that are asked for ahead and ones that are not.
func TestRowsRandomly(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for width := range 70 {
		for _, n := range []int{1, 9, 20000} {
			for _, k := range []int{0, 1, 77} {
				table, rows, idx := make([]byte, n*width), make([]byte, k*width), someRows(r, k, n)
				for i := range table {
					table[i] = byte(r.Uint32())
				}
				for i := range rows {
					rows[i] = byte(r.Uint32())
				}
				taken, put := slices.Clone(rows), slices.Clone(table)
				for i, row := range idx {
					if row >= 0 {
						copy(taken[i*width:][:width], table[int(row)*width:])
						copy(put[int(row)*width:][:width], rows[i*width:])
					}
				}
				got := slices.Clone(rows)
				if TakeRows(got, table, idx, width); !bytes.Equal(got, taken) {
					t.Errorf("take %d rows of %d of %d bytes: others", k, n, width)
				}
				if PutRows(table, rows, idx, width); !bytes.Equal(table, put) {
					t.Errorf("put %d rows into %d of %d bytes: others", k, n, width)
				}
			}
		}
	}
}

// TestRowNumbersRandomly compares with index by index: indices below 0, just above and far
// above, and no dimension, or empty ones.
func TestRowNumbersRandomly(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	far := []int64{-1, math.MinInt32, math.MaxInt32, math.MinInt64, math.MaxInt64, 1 << 40}
	for range 3000 {
		dims, n := make([]int, r.IntN(5)), r.IntN(20)
		for k := range dims {
			dims[k] = r.IntN(5)
		}
		idx := make([]int64, n*len(dims))
		for i := range idx {
			d := dims[i%len(dims)]
			if idx[i] = int64(r.IntN(max(1, d))); r.IntN(30) == 0 {
				idx[i] = append(far, int64(d))[r.IntN(len(far)+1)]
			}
		}
		testRowNumbers(t, idx, dims, n)
		narrow := make([]int32, len(idx))
		for i, v := range idx {
			narrow[i] = int32(v)
		}
		testRowNumbers(t, narrow, dims, n)
	}
}

func testRowNumbers[I numeric.Index](t *testing.T, idx []I, dims []int, n int) {
	want, inside := make([]int64, n), true
	for i := range want {
		for k, v := range idx[i*len(dims):][:len(dims)] {
			if v < 0 || int64(v) >= int64(dims[k]) {
				want[i] = -1
				break
			}
			want[i] = want[i]*int64(dims[k]) + int64(v)
		}
		inside = inside && want[i] >= 0
	}
	got := make([]int64, n)
	if ok := RowNumbers(got, idx, dims); ok != inside || !slices.Equal(got, want) {
		t.Errorf("rows of %v in %v: %v, %v, want %v", idx, dims, got, ok, want)
	}
	if len(dims) == 1 {
		if got, want := BadIndex(idx, dims[0]), slices.Index(want, -1); got != want {
			t.Errorf("bad index of %v in %d at %d, want %d", idx, dims[0], got, want)
		}
	}
}

// TestScatterRandomly compares with the vector loop of each row: short rows and long ones,
// numbers of all kinds.
func TestScatterRandomly(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		testScatters(t, elementwise.Add[float32], elementwise.Sub[float32], elementwise.Mul[float32], elementwise.Max[float32], elementwise.Min[float32])
		testScatters(t, elementwise.Add[float64], elementwise.Sub[float64], elementwise.Mul[float64], elementwise.Max[float64], elementwise.Min[float64])
		testScatters(t, elementwise.Add[int32], elementwise.Sub[int32], elementwise.Mul[int32], elementwise.Max[int32], elementwise.Min[int32])
		testScatters(t, elementwise.Add[int64], elementwise.Sub[int64], elementwise.Mul[int64], elementwise.Max[int64], elementwise.Min[int64])
		testScatter(t, "Div", ScatterDiv[float32, int64], elementwise.Div[float32])
		testScatter(t, "Div", ScatterDiv[float64, int64], elementwise.Div[float64])
	})
}

func testScatters[T numeric.Real](t *testing.T, add, sub, mul, greater, lesser func(z, x, y []T)) {
	testScatter(t, "Add", ScatterAdd[T, int64], add)
	testScatter(t, "Sub", ScatterSub[T, int64], sub)
	testScatter(t, "Mul", ScatterMul[T, int64], mul)
	testScatter(t, "Max", ScatterMax[T, int64], greater)
	testScatter(t, "Min", ScatterMin[T, int64], lesser)
}

func testScatter[T numeric.Real](t *testing.T, name string, loop func(dst, src []T, idx []int64, inner int), row func(z, x, y []T)) {
	t.Helper()
	r := rand.New(rand.NewPCG(11, 12))
	for _, inner := range []int{0, 1, 2, 3, 15, 16, 17, 40} {
		for _, n := range []int{1, 30, 20000} {
			const k = 99
			dst, src, idx := randomReals[T](r, n*inner), randomReals[T](r, k*inner), someRows(r, k, min(n, 30))
			want := slices.Clone(dst)
			for i, to := range idx {
				if to >= 0 {
					z := want[int(to)*inner:][:inner]
					row(z, z, src[i*inner:][:inner])
				}
			}
			loop(dst, src, idx, inner)
			for i, v := range dst {
				if w := want[i]; (v != w || 1/float64(v) != 1/float64(w)) && (v == v || w == w) {
					t.Fatalf("%s of %d rows of %d: element %d is %v, want %v", name, n, inner, i, v, w)
				}
			}
		}
	}
}

// randomReals returns small whole numbers, zeros of both signs, infinities and NaN.
func randomReals[T numeric.Real](r *rand.Rand, n int) []T {
	x := make([]T, n)
	zero := 0.0
	special := []T{T(zero), -T(zero), T(zero)}
	if half := 0.5; T(half) != 0 {
		special = append(special, T(math.Copysign(0, -1)), T(math.Inf(1)), T(math.Inf(-1)), T(math.NaN()))
	}
	for i := range x {
		if x[i] = T(r.IntN(100)); r.IntN(2) == 0 {
			x[i] = special[r.IntN(len(special))]
		}
	}
	return x
}

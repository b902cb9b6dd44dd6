package gemm

import (
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// TestMatVec: products with a vector, in every form, are those of the definition,
// whatever the threads, and more exact than a sum in order.
func TestMatVec(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, k := range []int{1, dotLeast - 1, dotLeast, 33, 1000, 2*dotChunk + 5} {
			for form := range 8 {
				g := NewGemm(37, 1, k, form&1 != 0, form&2 != 0)
				g.Accumulate = form&4 != 0
				a, b, c := kerneltest.Random[float32](37*k, 1), kerneltest.Random[float32](k, 2), kerneltest.Random[float32](37, 3)
				want, again, e := slices.Clone(c), slices.Clone(c), Epilogue[float32]{Bias: []float32{2}, Activate: func(r []float32) { elementwise.Relu(r, r) }}
				gemmNaive(g, want, a, b)
				e.Apply(g, want, 0, 37, 0, 1)
				MatMul(kernel.Serial, g, c, a, b, e)
				MatMul(kerneltest.Backwards, g, again, a, b, e)
				if !slices.Equal(c, again) {
					t.Errorf("%+v depends on how the work is shared", g)
				}
				for i := range c {
					if d := math.Abs(float64(c[i] - want[i])); !(d <= 1e-6*float64(k)) {
						t.Fatalf("%+v: row %d is %v, want %v", g, i, c[i], want[i])
					}
				}
			}
		}
	})
}

// TestRowMat: products of a row, or two, and rows of a transposed B, which lie apart, are those of the
// definition, whatever the threads, and touch nothing beside C.
func TestRowMat(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, k := range []int{dotLeast, dotLeast + 1, 257, 1000, 2*dotChunk + 5} {
			for m := 1; m <= 2; m++ {
				checkRows[float32](t, m, k, 1e-6)
				checkRows[float64](t, m, k, 1e-14)
			}
		}
	})
}

func checkRows[T numeric.Float](t *testing.T, m, k int, eps float64) {
	t.Helper()
	for _, accumulate := range []bool{false, true} {
		g := NewGemm(m, 93, k, false, true)
		g.LDA, g.LDB, g.LDC, g.Accumulate = k+3, k+1, 95, accumulate
		a, b, c := kerneltest.Random[T](m*g.LDA, 1), kerneltest.Random[T](g.N*g.LDB, 2), kerneltest.Random[T](m*g.LDC, 3)
		want, again := slices.Clone(c), slices.Clone(c)
		e := Epilogue[T]{Bias: kerneltest.Random[T](g.N, 4), Activate: func(r []T) { elementwise.Relu(r, r) }}
		gemmNaive(g, want, a, b)
		e.Apply(g, want, 0, m, 0, g.N)
		MatMul(kernel.Serial, g, c, a, b, e)
		MatMul(kerneltest.Backwards, g, again, a, b, e)
		if !slices.Equal(c, again) {
			t.Errorf("%+v depends on how the work is shared", g)
		}
		for i := range c {
			if d := math.Abs(float64(c[i] - want[i])); !(d <= eps*float64(k)) {
				t.Fatalf("%+v: element %d is %v, want %v", g, i, c[i], want[i])
			}
		}
	}
}

// meanError is the mean of the squared differences from exact values, in units of
// the last place of numbers near 1.
func meanError(got []float32, exact []float64) (e float64) {
	for i := range got {
		d := (float64(got[i]) - exact[i]) / (exact[i] * 6e-8)
		e += d * d
	}
	return e / float64(len(got))
}

// TestSumsAreExact: sums of columns and products with vectors lose about as little
// as TensorFlow's (0.6, 0.7, 0.9 and 2.2), not what sums in order lose: here models
// with batch normalization by hand had twice TensorFlow's noise.
func TestSumsAreExact(t *testing.T) {
	const sums = 512
	for count, limit := range map[int]float64{32: 0.7, 64: 0.8, 128: 1.2, 512: 1.2} {
		x := kerneltest.Random[float32](count*sums, 5)
		for i := range x {
			x[i] += 3 // sums grow, as the errors of sums in order do
		}
		one := make([]float32, count)
		kernel.Fill(one, 1)
		columns, rows := make([]float64, sums), make([]float64, sums)
		for i, v := range x {
			columns[i%sums] += float64(v)
			rows[i/count] += float64(v)
		}
		kerneltest.EachLevel(t, func(t *testing.T) {
			got := make([]float32, sums)
			reduction.Reduce(kernel.Serial, reduction.NewReduction([]int{count, sums}, []bool{true, false}), got, x, reduction.SumFold[float32]())
			if e := meanError(got, columns); e > limit {
				t.Errorf("sums of columns of %d: mean error %v", count, e)
			}
			if count < dotLeast {
				return
			}
			MatMul(kernel.Serial, NewGemm(sums, 1, count, false, false), got, x, one, Epilogue[float32]{})
			if e := meanError(got, rows); e > limit {
				t.Errorf("products of %d with a vector: mean error %v", count, e)
			}
		})
	}
}

// TestDotsAreShort: the scheduler gets a chance within long sums.
func TestDotsAreShort(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		dot := simd.dot32
		if dot == nil {
			return
		}
		defer func() { simd.dot32 = dot }()
		simd.dot32 = func(x *float32, n int, y *float32) float32 {
			if n > kernel.VectorChunk {
				t.Errorf("a call for %d elements", n)
			}
			return dot(x, n, y)
		}
		const k = 3*kernel.VectorChunk + 5
		x, y, c := make([]float32, k), make([]float32, k), make([]float32, 1)
		kernel.Fill(x, 1)
		kernel.Fill(y, 1)
		if MatMul(kernel.Serial, NewGemm(1, 1, k, false, true), c, x, y, Epilogue[float32]{}); c[0] != k {
			t.Errorf("got %v, want %v", c[0], k)
		}
	})
}

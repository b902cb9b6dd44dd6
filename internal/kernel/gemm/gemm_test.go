package gemm

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

// gemmShapes meet every path: edges of one and two vectors, one row, blocks of
// k and of A, products that are packed and products that are not.
var gemmShapes = []struct{ m, n, k int }{
	{1, 1, 1}, {1, 17, 3}, {3, 1, 5}, {2, 2, 2}, {5, 7, 9}, {14, 32, 16}, {13, 31, 15}, {15, 33, 17},
	{28, 64, 4}, {6, 16, 3}, {7, 24, 40}, {1, 100, 200}, {50, 10, 128}, {40, 64, 30}, {16, 48, 1100},
	{17, 33, 1024}, {130, 40, 60}, {270, 36, 20}, {16, 2100, 3}, {1030, 40, 37},
	{1, 271, 323}, {2, 1000, 270}, {3, 700, 617}, // streams of rows
	{130, 96, 600}, {60, 64, 1100}, {37, 64, 3}, {1, 64, 40}, // whole panels for a transposed A in place
}

// magnitudes returns Σ|a·b| for each element: what the rounding error of a
// product is measured by.
func magnitudes[T numeric.Float](g Gemm, a, b []T) []T {
	c := make([]T, g.M*g.LDC)
	abs := func(x []T) []T {
		y := make([]T, len(x))
		elementwise.Abs(y, x)
		return y
	}
	gemmNaive(g, c, abs(a), abs(b))
	return c
}

// checkGemm compares a product with the naive one, also outside of C.
func checkGemm[T numeric.Float](t *testing.T, g Gemm, eps float64) {
	t.Helper()
	rowsA, rowsB := g.M, g.K
	if g.TransA {
		rowsA = g.K
	}
	if g.TransB {
		rowsB = g.N
	}
	// One element of offset, so that nothing is aligned.
	a, b := kerneltest.Random[T](rowsA*g.LDA+1, 1)[1:], kerneltest.Random[T](rowsB*g.LDB+1, 2)[1:]
	want := kerneltest.Random[T](g.M*g.LDC+1, 3)[1:]
	got := slices.Clone(want)
	size := magnitudes(g, a, b)
	gemmNaive(g, want, a, b)
	MatMul(kernel.Serial, g, got, a, b, Epilogue[T]{})
	for i := range want {
		limit := eps * (float64(size[i]) + 1) * math.Sqrt(float64(g.K)+4)
		if d := math.Abs(float64(got[i] - want[i])); !(d <= limit) {
			t.Fatalf("%+v: element %d,%d is %v, want %v", g, i/g.LDC, i%g.LDC, got[i], want[i])
		}
	}
}

func TestMatMulAgainstNaive(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, s := range gemmShapes {
			for trans := range 4 {
				g := NewGemm(s.m, s.n, s.k, trans&1 != 0, trans&2 != 0)
				checkGemm[float32](t, g, 1.2e-7)
				checkGemm[float64](t, g, 2.3e-16)
				g.Accumulate = true
				g.LDA, g.LDB, g.LDC = g.LDA+3, g.LDB+5, g.LDC+7
				checkGemm[float32](t, g, 1.2e-7)
				checkGemm[float64](t, g, 2.3e-16)
			}
		}
	})
}

func TestMatMulRandomShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for range 60 {
			g := NewGemm(1+r.IntN(90), 1+r.IntN(90), 1+r.IntN(70), r.IntN(2) == 1, r.IntN(2) == 1)
			checkGemm[float32](t, g, 1.2e-7)
			checkGemm[float64](t, g, 2.3e-16)
		}
	})
}

func TestMatMulIntegers(t *testing.T) {
	for trans := range 4 {
		g := NewGemm(7, 9, 5, trans&1 != 0, trans&2 != 0)
		a, b := make([]int32, 35), make([]int32, 45)
		for i := range a {
			a[i] = int32(i*i%13) - 6
		}
		for i := range b {
			b[i] = int32(i*7%11) - 5
		}
		want, got := make([]int32, 63), make([]int32, 63)
		gemmNaive(g, want, a, b)
		MatMul(kerneltest.Backwards, g, got, a, b, Epilogue[int32]{})
		if !slices.Equal(got, want) {
			t.Errorf("transpositions %b: %v, want %v", trans, got, want)
		}
	}
}

func TestMatMulComplex(t *testing.T) {
	a, b := []complex64{1 + 2i, 3, -1i, 2 - 1i}, []complex64{1i, 1, 2, -1 + 1i}
	c := make([]complex64, 4)
	MatMul(kernel.Serial, NewGemm(2, 2, 2, false, false), c, a, b, Epilogue[complex64]{})
	want := []complex64{-2 + 1i + 6, 1 + 2i - 3 + 3i, 1 + 4 - 2i, -1i - 2 + 1i + 2i + 1}
	if !slices.Equal(c, want) {
		t.Errorf("%v, want %v", c, want)
	}
}

func TestMatMulNothingToSum(t *testing.T) {
	c := []float32{1, 2, 3, 4}
	g := NewGemm(2, 2, 0, false, false)
	g.Accumulate = true
	MatMul(kernel.Serial, g, c, nil, nil, Epilogue[float32]{Bias: []float32{10, 20}})
	if want := []float32{11, 22, 13, 24}; !slices.Equal(c, want) {
		t.Errorf("accumulated %v, want %v", c, want)
	}
	g.Accumulate = false
	MatMul(kernel.Serial, g, c, nil, nil, Epilogue[float32]{})
	if want := make([]float32, 4); !slices.Equal(c, want) {
		t.Errorf("overwritten %v, want %v", c, want)
	}
	MatMul(kernel.Serial, NewGemm(0, 5, 5, false, false), nil, nil, make([]float32, 25), Epilogue[float32]{})
}

// TestMatMulBitsDoNotDependOnTasks compares a product on one thread with one
// whose tasks are run apart and in another order.
func TestMatMulBitsDoNotDependOnTasks(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, s := range append(gemmShapes, struct{ m, n, k int }{130, 288, 600}, struct{ m, n, k int }{400, 97, 600}) {
			for trans := range 4 {
				g := NewGemm(s.m, s.n, s.k, trans&1 != 0, trans&2 != 0)
				a, b := kerneltest.Random[float32](s.m*s.k, 1), kerneltest.Random[float32](s.k*s.n, 2)
				one, many := make([]float32, s.m*s.n), make([]float32, s.m*s.n)
				MatMul(kernel.Serial, g, one, a, b, Epilogue[float32]{})
				MatMul(kerneltest.Backwards, g, many, a, b, Epilogue[float32]{})
				if !slices.Equal(one, many) {
					t.Errorf("%+v: the result depends on how the work is shared", g)
				}
			}
		}
	})
}

func TestMatMulEpilogue(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, s := range gemmShapes {
			g := NewGemm(s.m, s.n, s.k, false, false)
			a, b, bias := kerneltest.Random[float32](s.m*s.k, 1), kerneltest.Random[float32](s.k*s.n, 2), kerneltest.Random[float32](s.n, 3)
			want, got := make([]float32, s.m*s.n), make([]float32, s.m*s.n)
			MatMul(kernel.Serial, g, want, a, b, Epilogue[float32]{})
			for i := range want {
				want[i] = max(0, want[i]+bias[i%s.n])
			}
			MatMul(kerneltest.Backwards, g, got, a, b, Epilogue[float32]{Bias: bias, Activate: func(row []float32) { elementwise.Relu(row, row) }})
			if !slices.Equal(got, want) {
				t.Errorf("%+v: bias and relu in the product differ from those after it", g)
			}
		}
	})
}

// TestMatMulOverlappingRows multiplies the windows of a signal by a filter.
func TestMatMulOverlappingRows(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		g := Gemm{M: 40, N: 20, K: 12, LDA: 4, LDB: 20, LDC: 20}
		a, b := kerneltest.Random[float32](39*4+12, 1), kerneltest.Random[float32](12*20, 2)
		want, got := make([]float32, 800), make([]float32, 800)
		gemmNaive(g, want, a, b)
		MatMul(kernel.Serial, g, got, a, b, Epilogue[float32]{})
		for i := range want {
			if math.Abs(float64(got[i]-want[i])) > 1e-5 {
				t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
			}
		}
	})
}

func TestMatMulKeepsNaN(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		const n = 37
		a, b, c := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
		kernel.Fill(a, 1)
		a[3*n+36], b[36*n+5] = kerneltest.NaN, kerneltest.Inf
		MatMul(kernel.Serial, NewGemm(n, n, n, false, false), c, a, b, Epilogue[float32]{})
		for i, v := range c {
			row, col := i/n, i%n
			switch {
			case row == 3 && v == v:
				t.Errorf("element %d,%d is %v, want NaN", row, col, v)
			case row != 3 && col == 5 && v != kerneltest.Inf:
				t.Errorf("element %d,%d is %v, want +Inf", row, col, v)
			case row != 3 && col != 5 && v != 0:
				t.Errorf("element %d,%d is %v, want 0", row, col, v)
			}
		}
	})
}

// FuzzMatMul compares products of any small shape with the naive one, exactly:
// the operands are small integers.
func FuzzMatMul(f *testing.F) {
	f.Add(uint8(14), uint8(32), uint8(16), uint8(0), uint64(1))
	f.Add(uint8(15), uint8(33), uint8(5), uint8(3), uint64(2))
	f.Fuzz(func(t *testing.T, m, n, k, flags uint8, seed uint64) {
		g := NewGemm(int(m), int(n), int(k), flags&1 != 0, flags&2 != 0)
		g.Accumulate = flags&4 != 0
		r := rand.New(rand.NewPCG(seed, 0))
		integers := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(r.IntN(9) - 4)
			}
			return x
		}
		a, b, want := integers(g.M*g.K), integers(g.K*g.N), integers(g.M*g.N)
		got := slices.Clone(want)
		gemmNaive(g, want, a, b)
		MatMul(kerneltest.Backwards, g, got, a, b, Epilogue[float32]{})
		if !slices.Equal(got, want) {
			t.Errorf("%+v differs from the naive product", g)
		}
	})
}

func TestMatMulRefusesShortSlices(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for trans := range 4 {
			g := NewGemm(20, 40, 30, trans&1 != 0, trans&2 != 0)
			for short := range 3 {
				n := [3]int{g.M * g.N, g.M * g.K, g.K * g.N}
				n[short]--
				func() {
					defer func() {
						if recover() == nil {
							t.Errorf("transpositions %b: operand %d is too short and nobody noticed", trans, short)
						}
					}()
					MatMul(kernel.Serial, g, make([]float32, n[0]), make([]float32, n[1]), make([]float32, n[2]), Epilogue[float32]{})
				}()
			}
		}
	})
}

package gemm

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Gemm describes a matrix product C = op(A)·op(B): op(A) is M×K, op(B) is K×N
// and C is M×N, all row-major. LDA, LDB and LDC are the distances between the
// rows as stored; they may be less than a row's length, so that the rows of A
// overlap as the windows of a convolution do.
type Gemm struct {
	M, N, K       int
	TransA        bool // A is stored as K×M
	TransB        bool // B is stored as N×K
	LDA, LDB, LDC int
	// Accumulate adds to C instead of overwriting it.
	Accumulate bool
}

// NewGemm describes the product of matrices stored without gaps.
func NewGemm(m, n, k int, transA, transB bool) Gemm {
	g := Gemm{M: m, N: n, K: k, TransA: transA, TransB: transB, LDA: k, LDB: n, LDC: n}
	if transA {
		g.LDA = m
	}
	if transB {
		g.LDB = k
	}
	return g
}

// operations is how many multiplications and additions g takes.
func (g Gemm) operations() int { return 2 * g.M * g.N * g.K }

// flushing is par that takes subnormal numbers for 0, where g takes long enough.
func flushing(par kernel.Par, g Gemm) kernel.Par {
	if g.operations() < kernel.FlushLeast {
		return par
	}
	return kernel.Flushing(par)
}

// Epilogue is done to a tile of C while it is still in the cache. Its zero
// value does nothing.
type Epilogue[T numeric.Number] struct {
	// Bias, of length N, is added to every row.
	Bias []T
	// Activate, if set, is applied to rows or parts of them, in place.
	Activate func(row []T)
	// Done, if set, is called for stretches of C, its elements [lo, hi) as rows follow each
	// other without gaps, once those are computed: while they are in the cache, on the
	// goroutine that has computed them. Each element is in one stretch. LDC has to be N.
	Done func(lo, hi int)
}

func (e *Epilogue[T]) empty() bool { return e.Bias == nil && e.Activate == nil && e.Done == nil }

// MatMul computes the product g of a and b into c. An element of C is the sum
// over k in an order that depends on the shapes alone, whatever the threads.
func MatMul[T numeric.Number](par kernel.Par, g Gemm, c, a, b []T, e Epilogue[T]) {
	if g.M == 0 || g.N == 0 {
		return
	}
	_ = c[(g.M-1)*g.LDC+g.N-1]
	if g.K == 0 {
		gemmEmpty(g, c)
		e.Apply(g, c, 0, g.M, 0, g.N)
		return
	}
	// The assembly checks no bounds.
	_, _ = a[g.indexA(g.M-1, g.K-1)], b[g.indexB(g.K-1, g.N-1)]
	switch c := any(c).(type) {
	case []float32:
		if f := productOf(g, simd.product32); f != nil {
			e, _ := any(e).(Epilogue[float32])
			f(par, g, c, any(a).([]float32), any(b).([]float32), e)
			return
		}
	case []float64:
		if f := productOf(g, simd.product64); f != nil {
			e, _ := any(e).(Epilogue[float64])
			f(par, g, c, any(a).([]float64), any(b).([]float64), e)
			return
		}
	}
	if byFloats(par, g, c, a, b) {
		e.Apply(g, c, 0, g.M, 0, g.N)
		return
	}
	gemmPortable(par, g, c, a, b, e)
}

// HasParts reports whether Parts computes products like g.
func HasParts(g Gemm) bool {
	return g.M > 0 && g.N > 0 && g.K > 0 && !g.Accumulate && !g.byDots() && simd.hasParts32 != nil && simd.hasParts32(g)
}

// Parts computes the product g of a and b part by part, none of which is kept: it calls
// worker for each goroutine that takes part, and what that returns for stretches of rows of
// C, the elements from at on as C would lie in memory without gaps. The bits are those of
// MatMul. It panics unless g HasParts.
func Parts(par kernel.Par, g Gemm, a, b []float32, worker func() func(at int, part []float32)) {
	_, _ = a[g.indexA(g.M-1, g.K-1)], b[g.indexB(g.K-1, g.N-1)] // the assembly checks no bounds
	simd.parts32(par, g, a, b, func() func(at int, part []float32) {
		put := worker()
		return func(at int, part []float32) {
			defer kernel.KeepSubnormals().Restore()
			put(at, part)
		}
	})
}

// AddAll adds to c the products g of a[i] and b[i], one after the other: the bits are
// those of a call of MatMul for each. Threads share the elements of C, so that they
// meet once and not for each product.
func AddAll[T numeric.Float](par kernel.Par, g Gemm, c []T, a, b [][]T) {
	g.Accumulate = true
	if g.M > 0 && g.N > 0 && g.K > 0 && !g.byDots() {
		_ = c[(g.M-1)*g.LDC+g.N-1]
		for i := range a { // the assembly checks no bounds
			_, _ = a[i][g.indexA(g.M-1, g.K-1)], b[i][g.indexB(g.K-1, g.N-1)]
		}
		switch c := any(c).(type) {
		case []float32:
			if simd.sums32 != nil {
				simd.sums32(par, g, c, any(a).([][]float32), any(b).([][]float32))
				return
			}
		case []float64:
			if simd.sums64 != nil {
				simd.sums64(par, g, c, any(a).([][]float64), any(b).([][]float64))
				return
			}
		}
	}
	for i := range a {
		MatMul(par, g, c, a[i], b[i], Epilogue[T]{})
	}
}

// AddsApart reports whether AddAll calls par once and does nothing after that, so that the
// call need not be over when par returns.
func AddsApart[T numeric.Float](g Gemm) bool {
	var c T
	_, single := any(c).(float32)
	return g.M > 0 && g.N > 0 && g.K > 0 && !g.byDots() && (single && simd.sums32 != nil || !single && simd.sums64 != nil)
}

// AddsSums reports whether g, if it accumulates, adds to each element of C the whole sum
// over k: the bits are those of a product that is added afterwards.
func AddsSums[T numeric.Number](g Gemm) bool {
	var c T
	switch any(c).(type) {
	case float32:
		return simd.product32 == nil || g.byDots() || simd.inOneBlock32(g)
	case float64:
		return simd.product64 == nil || g.byDots() || simd.inOneBlock64(g)
	}
	return true
}

// matrixProduct computes a matrix product.
type matrixProduct[T numeric.Float] func(par kernel.Par, g Gemm, c, a, b []T, e Epilogue[T])

// productOf returns what computes g, by products of rows if that suits it better; nil: the
// portable loops do.
func productOf[T numeric.Float](g Gemm, matrices matrixProduct[T]) matrixProduct[T] {
	switch {
	case g.byVector():
		return matVec[T]
	case g.byRow():
		return rowMat[T]
	}
	return matrices
}

// vectorLoops holds what computes products with vector instructions; nil: the portable
// loops do.
type vectorLoops struct {
	product32 matrixProduct[float32]
	product64 matrixProduct[float64]
	sums32    func(par kernel.Par, g Gemm, c []float32, a, b [][]float32)
	sums64    func(par kernel.Par, g Gemm, c []float64, a, b [][]float64)
	parts32   func(par kernel.Par, g Gemm, a, b []float32, worker func() func(at int, part []float32))
	// inOneBlock32 and inOneBlock64 report whether these sum up over all of k before
	// they add to C.
	inOneBlock32, inOneBlock64 func(Gemm) bool
	hasParts32                 func(Gemm) bool // parts32 computes such products
	dot32                      func(x *float32, n int, y *float32) float32
	// addRows32 and addRows64 are AddRows for the first elements of y, whose number they return.
	addRows32 func(y []float32, n int, x []float32, step int, b []float32, ldb int) int
	addRows64 func(y []float64, n int, x []float64, step int, b []float64, ldb int) int
	eliminate func(a *float64, n, stride int, pivot *float64, k int, divisor float64) int
}

// simd is set once, before main starts, by the file of the architecture.
var simd vectorLoops

// gemmEmpty is the product with nothing to sum up.
func gemmEmpty[T numeric.Number](g Gemm, c []T) {
	if g.Accumulate {
		return
	}
	for i := range g.M {
		clear(c[i*g.LDC : i*g.LDC+g.N])
	}
}

// Apply finishes a block of C. Its bits are those of operations by themselves.
func (e Epilogue[T]) Apply(g Gemm, c []T, i0, i1, j0, j1 int) {
	if e.empty() {
		return
	}
	defer kernel.KeepSubnormals().Restore()
	e.change(g, c, i0, i1, j0, j1)
	switch {
	case e.Done == nil || i0 == i1 || j0 == j1:
	case j0 == 0 && j1 == g.LDC:
		e.Done(i0*g.LDC, i1*g.LDC)
	default:
		for i := i0; i < i1; i++ {
			e.Done(i*g.LDC+j0, i*g.LDC+j1)
		}
	}
}

// change adds and activates.
func (e *Epilogue[T]) change(g Gemm, c []T, i0, i1, j0, j1 int) {
	if e.Bias == nil && e.Activate == nil {
		return
	}
	for i := i0; i < i1; i++ {
		row := c[i*g.LDC+j0 : i*g.LDC+j1]
		if e.Bias != nil {
			elementwise.Add(row, row, e.Bias[j0:j1])
		}
		if e.Activate != nil {
			e.Activate(row)
		}
	}
}

// Finish does to elements [lo, hi) of C, whole rows whose bias has been added, what follows.
func (e Epilogue[T]) Finish(c []T, lo, hi int) {
	if e.Activate == nil && e.Done == nil {
		return
	}
	defer kernel.KeepSubnormals().Restore()
	if e.Activate != nil {
		e.Activate(c[lo:hi])
	}
	if e.Done != nil {
		e.Done(lo, hi)
	}
}

// At is e for a part of C that begins at an element.
func (e Epilogue[T]) At(at int) Epilogue[T] {
	if done := e.Done; done != nil {
		e.Done = func(lo, hi int) { done(at+lo, at+hi) }
	}
	return e
}

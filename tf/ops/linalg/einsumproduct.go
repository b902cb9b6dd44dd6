package linalg

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Operands and results whose dimensions are such that matrices lie in them by rows or by columns are
// multiplied where they are: the projections of attention, its products of queries and keys, and of
// weights and values. Others are copied.

// matrices says where matrices lie in a tensor: how far rows and columns are apart, one of which
// is 1, and the matrices of a batch, by its dimensions.
type matrices struct {
	row, col int
	batch    []int
}

// matricesOf finds the matrices with the given dimensions as rows and columns in a tensor
// with dimensions term. It reports false where products do not take them as they lie.
func (p *einsumPlan) matricesOf(term []int, s tf.Shape, rows, cols []int) (m matrices, ok bool) {
	row, rowOK := p.stepOf(term, s, rows)
	col, colOK := p.stepOf(term, s, cols)
	switch {
	case p.shape(cols).NumElements() == 1:
		col = 1
	case p.shape(rows).NumElements() == 1:
		row = 1
	}
	m = matrices{row, col, p.view(p.batch, term, s).Steps}
	return m, rowOK && colOK && row > 0 && col > 0 && (row == 1 || col == 1)
}

// stepOf returns how far the elements of some dimensions, taken as one, are apart. It reports
// false where that differs.
func (p *einsumPlan) stepOf(term []int, s tf.Shape, dims []int) (step int, ok bool) {
	steps, span := p.view(dims, term, s).Steps, 0
	step = 1
	for i := len(dims) - 1; i >= 0; i-- {
		n := p.sizes[dims[i]]
		switch {
		case n == 1:
			continue
		case span == 0:
			step = steps[i]
		case steps[i] != span:
			return 0, false
		}
		span = steps[i] * n
	}
	return step, true
}

// denseMatrices are those of a tensor with the dimensions batch, rows and columns, in this order.
func (p *einsumPlan) denseMatrices(rows, cols []int) matrices {
	r, c := p.shape(rows).NumElements(), p.shape(cols).NumElements()
	steps := layout.Strides(append(p.shape(p.batch), r, c))
	return matrices{c, 1, steps[:len(p.batch)]}
}

// at returns where matrix k of a batch of the given sizes begins.
func (m *matrices) at(k int, sizes tf.Shape) (at int) {
	for i := len(sizes) - 1; i >= 0; i-- {
		at += k % sizes[i] * m.batch[i]
		k /= sizes[i]
	}
	return at
}

// stored returns whether matrices lie by columns, and how far these, or rows, are apart.
func (m *matrices) stored() (byColumns bool, lead int) {
	if m.col == 1 {
		return false, m.row
	}
	return true, m.col
}

// turned are the transposed matrices.
func (m matrices) turned() matrices { return matrices{m.col, m.row, m.batch} }

// factor is matrices with their elements.
type factor[T numeric.Number] struct {
	matrices
	x []T
}

// multiplyOperands sets z, of the result's shape, to the products of two operands.
func multiplyOperands[T numeric.Number](r *room[T], p *einsumPlan, x [][]T, z []T) error {
	a, err := operandOf(r, p, 0, x[0], p.free[0], p.contracted)
	if err != nil {
		return err
	}
	b, err := operandOf(r, p, 1, x[1], p.contracted, p.free[1])
	if err != nil {
		return err
	}
	if m, ok := p.matricesOf(p.out, p.shape(p.out), p.free[0], p.free[1]); ok && !repeats(p.out) {
		multiplyMatrices(r.c, p, factor[T]{m, z}, a, b)
		return nil
	}
	dims := join(p.batch, p.free[0], p.free[1])
	y, err := r.make(p.shape(dims).NumElements())
	if err != nil {
		return err
	}
	multiplyMatrices(r.c, p, factor[T]{p.denseMatrices(p.free[0], p.free[1]), y}, a, b)
	spread(p, dims, z, y)
	return nil
}

// operandOf returns the matrices of operand i, copied if they have to be.
func operandOf[T numeric.Number](r *room[T], p *einsumPlan, i int, x []T, rows, cols []int) (factor[T], error) {
	if m, ok := p.matricesOf(p.in[i], p.inShape[i], rows, cols); ok && len(p.summed[i]) == 0 {
		return factor[T]{m, x}, nil
	}
	y, err := arrange(r, p, i, x, join(p.batch, rows, cols), p.summed[i])
	return factor[T]{p.denseMatrices(rows, cols), y}, err
}

// multiplyMatrices sets the matrices of z to the products of those of a and b.
func multiplyMatrices[T numeric.Number](c *core.OpContext, p *einsumPlan, z, a, b factor[T]) {
	sizes := p.shape(p.batch)
	batch, rows, cols, inner := sizes.NumElements(), p.shape(p.free[0]).NumElements(), p.shape(p.free[1]).NumElements(), p.shape(p.contracted).NumElements()
	if inner == 0 {
		clear(z.x)
		return
	}
	g := gemm.Gemm{M: rows, N: cols, K: inner}
	byColumns, lead := z.stored()
	if g.LDC = lead; byColumns { // the transposed product, by rows
		g.M, g.N = cols, rows
		a.matrices, b.matrices = a.turned(), b.turned()
		a, b = b, a
	}
	g.TransA, g.LDA = a.stored()
	g.TransB, g.LDB = b.stored()
	one := func(par kernel.Par, k int) {
		gemm.MatMul(par, g, z.x[z.at(k, sizes):], a.x[a.at(k, sizes):], b.x[b.at(k, sizes):], gemm.Epilogue[T]{})
	}
	if batch == 1 {
		one(c.ParallelFor, 0)
		return
	}
	c.ParallelFor(batch, max(1, grain/max(1, saturated(rows, saturated(cols, inner)))), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			one(kernel.Serial, k)
		}
	})
}

package sparse

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "SparseMatrixSparseCholesky", In: "input: variant; permutation: int32", Out: "output: variant", Attrs: "type: " + fieldAttr,
		Shape: csrCholeskyShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("type", fieldKernels(csrCholesky[float32], csrCholesky[float64], csrCholesky[complex64], csrCholesky[complex128])),
	})
}

// SparseMatrixSparseCholesky returns the lower triangular matrix L, in
// compressed rows, for which L·Lᴴ is m, whose elements are of type d, with
// rows and columns in the order that permutation gives, a vector or one for
// each matrix of a batch. Only the lower triangle of m is read. See
// SparseMatrixOrderingAMD for an order that keeps L sparse. d is float32,
// float64, complex64 or complex128. permutation is int32. The result is a
// scalar of type variant. A matrix that is not positive definite or not
// square, a permutation of another shape or without each number once, and
// what holds no matrix of type d fail with INVALID_ARGUMENT in the step.
func SparseMatrixSparseCholesky(m, permutation tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("SparseMatrixSparseCholesky", tf.Join(opts, tf.Attr("type", d)), m, permutation)
}

func csrCholeskyShape(c *core.Infer) error {
	d, s := c.Handle(0)
	if p := c.In(1); p != nil && len(p) != 1 && len(p) != 2 {
		return invalid("Shape must be rank 1 or 2 but is rank %d", len(p))
	}
	setCSRShape(c, d, s)
	return nil
}

func csrCholesky[T field](c *core.OpContext) error {
	m, err := typedCSR(c, 0, c.Node.Type("type"), askedFor)
	if err != nil {
		return err
	}
	if err := checkCholesky(m, c.Input(1)); err != nil {
		return err
	}
	parts, n := core.Make[csrPart[T]](m.size()), m.numRows()
	for i := range parts {
		a, ok := permuted(csrPartOf[T](m, i), core.Data[int32](c.Input(1))[i*n:(i+1)*n])
		if !ok {
			return invalid("permutation must hold each of the numbers from 0 to %d once", n-1)
		}
		if parts[i], ok = factored(a); !ok {
			return invalid("Sparse Cholesky factorization failed for batch index %d. The input might not be valid.", i)
		}
	}
	setCSR(c, joinParts(m.shape, parts))
	return nil
}

func checkCholesky(m *csrMatrix, perm *core.Tensor) error {
	rank := len(m.shape)
	switch {
	case m.numRows() != m.numCols():
		return invalid("sparse matrix must be square; got: %d != %d", m.numRows(), m.numCols())
	case perm.Rank()+1 != rank:
		return invalid("sparse matrix must have the same rank as permutation; got: %d != %d + 1.", rank, perm.Rank())
	case perm.Dim(rank-2) != m.numRows():
		return invalid("permutation must have the same number of elements in each batch as the number of rows in sparse matrix; got: %d != %d", perm.Dim(rank-2), m.numRows())
	case rank == 3 && perm.Dim(0) != m.size():
		return invalid("permutation must have the same batch size as sparse matrix; got: %d != %d", perm.Dim(0), m.size())
	}
	return nil
}

// permuted returns the lower triangle of the symmetric matrix whose lower
// triangle is that of a, row and column i of which are row and column perm[i]
// of a; false if perm is no permutation. Columns are in order.
func permuted[T field](a csrPart[T], perm []int32) (csrPart[T], bool) {
	n := len(perm)
	place := slices.Repeat([]int32{-1}, n)
	for to, from := range perm {
		if uint(from) >= uint(n) || place[from] >= 0 {
			return csrPart[T]{}, false
		}
		place[from] = int32(to)
	}
	upper := csrPart[T]{rows: core.Make[int32](n + 1), width: n} // its rows become the columns
	add := func(visit func(row, col int32, v T)) {
		for i := range n {
			for k, hi := a.row(i); k < hi; k++ {
				if int(a.cols[k]) > i {
					continue
				}
				if row, col := place[i], place[a.cols[k]]; row >= col {
					visit(col, row, a.values[k])
				} else {
					visit(row, col, conj(a.values[k]))
				}
			}
		}
	}
	add(func(row, _ int32, _ T) { upper.rows[row+1]++ })
	for i := range n {
		upper.rows[i+1] += upper.rows[i]
	}
	next := slices.Clone(upper.rows)
	upper.cols, upper.values = core.Make[int32](int(upper.rows[n])), core.Make[T](int(upper.rows[n]))
	add(func(row, col int32, v T) {
		upper.cols[next[row]], upper.values[next[row]] = col, v
		next[row]++
	})
	return upper.transposed(false), true
}

// A triangle is a factor that grows row by row; by columns too, for the rows to
// come.
type triangle[T field] struct {
	rows   csrPart[T]
	parent []int32         // by row, in the elimination tree; -1: none yet
	below  [][]rowEntry[T] // by column: elements under the diagonal
	diag   []T
	sum    []T     // the row under way, by column
	mark   []int32 // by column: the last row that has it
}

type rowEntry[T field] struct {
	row   int32
	value T
}

// factored returns the Cholesky factor of the symmetric matrix whose lower
// triangle is a; false if that is not positive definite.
func factored[T field](a csrPart[T]) (csrPart[T], bool) {
	n := a.height()
	t := &triangle[T]{
		rows:   csrPart[T]{rows: make([]int32, 1, n+1), width: n},
		parent: slices.Repeat([]int32{-1}, n), mark: slices.Repeat([]int32{-1}, n),
		below: core.Make[[]rowEntry[T]](n), diag: core.Make[T](n), sum: core.Make[T](n),
	}
	for row := range n {
		if !t.add(&a, row) {
			return csrPart[T]{}, false
		}
	}
	return t.rows, true
}

// add computes a row: which columns it has follows from the tree, their values
// from the rows above.
func (t *triangle[T]) add(a *csrPart[T], row int) bool {
	pattern := t.pattern(a, row)
	diagonal := t.sum[row]
	t.sum[row] = 0
	for _, col := range pattern {
		l := t.sum[col] / t.diag[col]
		t.sum[col] = 0
		for _, e := range t.below[col] {
			t.sum[e.row] -= conj(e.value) * l
		}
		diagonal -= l * conj(l)
		t.below[col] = append(t.below[col], rowEntry[T]{int32(row), l})
		t.rows.cols, t.rows.values = append(t.rows.cols, col), append(t.rows.values, l)
	}
	d := realPart(diagonal)
	if !(d > 0) { // NaN too
		return false
	}
	t.diag[row] = realNumberOf[T](math.Sqrt(d))
	t.rows.cols, t.rows.values = append(t.rows.cols, int32(row)), append(t.rows.values, t.diag[row])
	t.rows.rows = append(t.rows.rows, int32(len(t.rows.cols)))
	return true
}

// pattern spreads a row of a into t.sum and returns the columns below the
// diagonal that the factor has in it, in order: what is reached upwards in the
// tree from those of a.
func (t *triangle[T]) pattern(a *csrPart[T], row int) (cols []int32) {
	t.mark[row] = int32(row)
	for i, hi := a.row(row); i < hi; i++ {
		t.sum[a.cols[i]] += a.values[i]
		for k := a.cols[i]; t.mark[k] != int32(row); k = t.parent[k] {
			t.mark[k] = int32(row)
			cols = append(cols, k)
			if t.parent[k] < 0 {
				t.parent[k] = int32(row)
			}
		}
	}
	slices.Sort(cols)
	return cols
}

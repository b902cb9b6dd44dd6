package sparse

import (
	"math"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "SparseTensorToCSRSparseMatrix", In: "indices: int64; values: T; dense_shape: int64", Out: "sparse_matrix: variant", Attrs: "T: " + fieldAttr,
		Shape: csrFromSparseShape, Grad: tf.GradFunc(csrFromSparseGrad), Kernels: core.ByType("T", sameFor(computed(csrFromSparse), fieldTypes...)),
	})
	core.Register(core.OpDef{
		Name: "CSRSparseMatrixToSparseTensor", In: "sparse_matrix: variant", Out: "indices: int64; values: type; dense_shape: int64", Attrs: "type: " + fieldAttr,
		Shape: csrToSparseShape, Grad: tf.GradFunc(csrToSparseGrad), Kernels: core.ByType("type", sameFor(computed(csrToSparse), fieldTypes...)),
	})
	core.Register(core.OpDef{
		Name: "DenseToCSRSparseMatrix", In: "dense_input: T; indices: int64", Out: "sparse_output: variant", Attrs: "T: " + fieldAttr,
		Shape: csrFromDenseShape, Grad: tf.GradFunc(csrFromDenseGrad), Kernels: core.ByType("T", sameFor(computed(csrFromDense), fieldTypes...)),
	})
	core.Register(core.OpDef{
		Name: "CSRSparseMatrixToDense", In: "sparse_input: variant", Out: "dense_output: type", Attrs: "type: " + fieldAttr,
		Shape: func(c *core.Infer) error { _, s := c.Handle(0); c.Set(0, s); return nil }, Grad: tf.GradFunc(csrToDenseGrad),
		Kernels: core.ByType("type", fieldKernels(csrToDense[float32], csrToDense[float64], csrToDense[complex64], csrToDense[complex128])),
	})
	core.Register(core.OpDef{
		Name: "CSRSparseMatrixComponents", In: "csr_sparse_matrix: variant; index: int32", Out: "row_ptrs: int32; col_inds: int32; values: type", Attrs: "type: " + fieldAttr,
		Shape: csrComponentsShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("type", fieldKernels(csrComponents[float32], csrComponents[float64], csrComponents[complex64], csrComponents[complex128])),
	})
	core.Register(core.OpDef{
		Name: "SparseMatrixNNZ", In: "sparse_matrix: variant", Out: "nnz: int32",
		Shape: csrNNZShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(computed(csrNNZ)),
	})
}

// SparseTensorToCSRSparseMatrix returns t, of rank 2 or, for a batch of
// matrices, 3, in compressed rows: a Variant. The indices have to be in
// order. Values are float32, float64, complex64 or complex128. The result is
// a scalar of type variant. Parts that do not fit together are refused with
// INVALID_ARGUMENT, when the graph is built if their shapes are known, else
// in the step. So are other ranks; indices out of order or bounds fail with
// INVALID_ARGUMENT in the step.
func SparseTensorToCSRSparseMatrix(t Tensor, opts ...tf.Option) tf.Output {
	return apply("SparseTensorToCSRSparseMatrix", opts, flat(t)...)
}

// CSRSparseMatrixToSparseTensor returns m, whose elements are of type d, as a
// sparse tensor. d is float32, float64, complex64 or complex128. The result
// is in the order of the rows. What holds no matrix of type d fails with
// INVALID_ARGUMENT in the step.
func CSRSparseMatrixToSparseTensor(m tf.Output, d tf.DType, opts ...tf.Option) Tensor {
	return tensorOf(tf.Apply(nil, "CSRSparseMatrixToSparseTensor", []tf.Output{m}, tf.Join(opts, tf.Attr("type", d))...))
}

// DenseToCSRSparseMatrix returns the elements of x at the given indices,
// which have to be in order, in compressed rows. x has rank 2 or, for a batch
// of matrices, 3, and type float32, float64, complex64 or complex128; indices
// are int64 with a row for each element. The result is a scalar of type
// variant. Other shapes are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step. Indices out of order or bounds
// fail with INVALID_ARGUMENT in the step.
func DenseToCSRSparseMatrix(x, indices tf.Output, opts ...tf.Option) tf.Output {
	return apply("DenseToCSRSparseMatrix", opts, x, indices)
}

// CSRSparseMatrixToDense returns m, whose elements are of type d, with zeros
// where it has no elements. d is float32, float64, complex64 or complex128.
// The result has the shape of m. What holds no matrix of type d fails with
// INVALID_ARGUMENT in the step.
func CSRSparseMatrixToDense(m tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("CSRSparseMatrixToDense", tf.Join(opts, tf.Attr("type", d)), m)
}

// CSRSparseMatrixComponents returns what matrix index of a batch consists of,
// index 0 of what is no batch: where each row begins, the columns of the
// elements, and the elements, of type d. d is float32, float64, complex64 or
// complex128. index is an int32 scalar, rows and cols are int32 vectors,
// values a vector of type d. An index outside the batch fails with
// INVALID_ARGUMENT in the step, as does what holds no matrix of type d.
func CSRSparseMatrixComponents(m, index tf.Output, d tf.DType, opts ...tf.Option) (rows, cols, values tf.Output) {
	op := tf.Apply(nil, "CSRSparseMatrixComponents", []tf.Output{m, index}, tf.Join(opts, tf.Attr("type", d))...)
	return op.Output(0), op.Output(1), op.Output(2)
}

// SparseMatrixNNZ returns how many elements m has, each matrix of a batch by
// itself. The result is int32, a scalar or, for a batch, a vector. What holds
// no matrix fails with INVALID_ARGUMENT in the step.
func SparseMatrixNNZ(m tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseMatrixNNZ", opts, m)
}

// setCSRShape makes output 0 a scalar that holds a matrix.
func setCSRShape(c *core.Infer, d tf.DType, s tf.Shape) {
	c.Set(0, tf.Shape{})
	c.SetHandle(0, d, s)
}

func csrFromSparseShape(c *core.Infer) error {
	rank, err := knownRank(c, 0)
	if err != nil {
		return err
	}
	if rank >= 0 && rank != 2 && rank != 3 {
		return invalid("Invalid rank: %d.  Expected a known rank of either 2 or 3.", rank)
	}
	setCSRShape(c, c.Type("T"), c.ConstShape(2))
	return nil
}

func csrFromDenseShape(c *core.Infer) error {
	s := c.In(0)
	if s != nil && len(s) != 2 && len(s) != 3 {
		return invalid("Invalid rank of dense: %d.  Expected a known rank of either 2 or 3.", len(s))
	}
	at, err := c.Rank(1, 2)
	if err != nil {
		return err
	}
	if s != nil && at[1] >= 0 && at[1] != len(s) {
		return invalid("indices.shape[1] must match rank of dense; saw: %d vs. %d", at[1], len(s))
	}
	setCSRShape(c, c.Type("T"), s)
	return nil
}

func csrToSparseShape(c *core.Infer) error {
	rank := -1
	if _, s := c.Handle(0); s != nil {
		rank = len(s)
	}
	setSparse(c, 0, rank)
	return nil
}

func csrComponentsShape(c *core.Infer) error {
	if s := c.In(1); len(s) != 0 {
		return invalid("index must be a scalar.")
	}
	rows := -1
	if _, s := c.Handle(0); len(s) >= 2 && s[len(s)-2] >= 0 {
		rows = s[len(s)-2] + 1
	}
	for i, n := range []int{rows, -1, -1} {
		c.Set(i, tf.Shape{n})
	}
	return nil
}

func csrNNZShape(c *core.Infer) error {
	if _, s := c.Handle(0); len(s) >= 2 {
		c.Set(0, s[:len(s)-2].Clone())
	}
	return nil
}

func csrFromSparseGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(tf.Output{}, CSRSparseMatrixToSparseTensor(dy[0], op.Type("T")).Values, tf.Output{})
}

func csrToSparseGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(SparseTensorToCSRSparseMatrix(Tensor{op.Output(0), dy[1], op.Output(2)}))
}

func csrFromDenseGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(CSRSparseMatrixToDense(dy[0], op.Type("T")), tf.Output{})
}

func csrToDenseGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(patternOf(op.Input(0), dy[0]))
}

// patternOf returns the elements of x, a dense tensor, where m has some.
func patternOf(m, x tf.Output) tf.Output {
	t := CSRSparseMatrixToSparseTensor(m, x.DType())
	t.Values = ops.GatherNd(x, t.Indices)
	return SparseTensorToCSRSparseMatrix(t)
}

// csrFromSparse keeps the values as they are: only the indices change.
func csrFromSparse(c *core.OpContext) error {
	at, vals, shape := c.Input(0), c.Input(1), c.Input(2)
	switch {
	case at.Rank() != 2:
		return invalid("Sparse indices must be rank 2 but is rank %d", at.Rank())
	case vals.Rank() != 1:
		return invalid("Sparse values must be rank 1 but is rank %d", vals.Rank())
	case shape.Rank() != 1:
		return invalid("Sparse shape must be rank 1 but is rank %d", shape.Rank())
	case vals.Len() != at.Dim(0):
		return invalid("Number of elements in indices (%d) and values (%d) do not match", at.Dim(0), vals.Len())
	case shape.Len() != at.Dim(1):
		return invalid("Index rank (%d) and shape rank (%d) do not match", at.Dim(1), shape.Len())
	}
	s, err := shape.Ints()
	if err != nil {
		return err
	}
	return compress(c, s, core.Data[int64](at), vals)
}

func csrFromDense(c *core.OpContext) error {
	x, at := c.Input(0), c.Input(1)
	switch {
	case x.Rank() != 2 && x.Rank() != 3:
		return invalid("params must have rank == 2 or 3; but saw shape: %s", x.Shape().String())
	case at.Rank() != 2:
		return invalid("indices must be a matrix, but saw shape: %s", at.Shape().String())
	case at.Dim(1) != x.Rank():
		return invalid("indices.shape[1] must be equal to the rank of params, but saw: %d vs. %d", at.Dim(1), x.Rank())
	}
	t := &coo{at: core.Data[int64](at), rank: x.Rank(), n: at.Dim(0), shape: x.Shape().Clone()}
	vals := core.NewTensor(x.DType(), tf.Shape{t.n})
	move := rows.Mover(vals, x)
	for i := range t.n {
		row, from := t.index(i), 0
		if !within(row, t.shape) {
			return invalid("indices[%d] = %s does not index into param shape %s", i, text(row), t.shape.String())
		}
		for k, v := range row {
			from = from*t.shape[k] + int(v)
		}
		move(i, from, 1)
	}
	return compress(c, t.shape, t.at, vals)
}

// compress makes output 0 the matrix of shape s that has the given elements,
// which must come matrix by matrix, row by row.
func compress(c *core.OpContext, s tf.Shape, at []int64, vals *core.Tensor) error {
	if err := checkCSRShape(s); err != nil {
		return err
	}
	t := &coo{at: at, rank: len(s), n: vals.Len(), shape: s}
	size, height := 1, s[len(s)-2]
	if len(s) == 3 {
		size = s[0]
	}
	pointers, err := c.Temp(tf.Int32, tf.Shape{size*(height+1) + size + 1})
	if err != nil {
		return err
	}
	clear(pointers.Buffer().Bytes())
	all := core.Data[int32](pointers.Escape())
	m := &csrMatrix{shape: s.Clone(), batch: all[:size+1], rows: all[size+1:], cols: core.Make[int32](t.n), values: vals.Share().Escape()}
	if err := m.count(t); err != nil {
		return err
	}
	setCSR(c, m)
	return nil
}

// count fills in pointers and columns.
func (m *csrMatrix) count(t *coo) error {
	before := 0
	for i := range t.n {
		at := t.index(i)
		if err := outside(at, m.shape); err != nil {
			return err
		}
		if at[t.rank-1] > math.MaxInt32 { // columns have 32 bits
			return invalid("column indices must be at most %d, indices[%d] = %s", math.MaxInt32, i, text(at))
		}
		matrix, row := 0, int(at[t.rank-2])
		if t.rank == 3 {
			matrix = int(at[0])
		}
		slot := matrix*(m.numRows()+1) + row + 1
		if slot < before {
			return invalid("indices must be in order: indices[%d] = %s comes too late", i, text(at))
		}
		before = slot
		m.rows[slot]++
		m.cols[i] = int32(at[t.rank-1])
	}
	for i := range m.size() {
		sum := int32(0)
		part := m.rows[i*(m.numRows()+1) : (i+1)*(m.numRows()+1)]
		for k, n := range part {
			sum += n
			part[k] = sum
		}
		m.batch[i+1] = m.batch[i] + sum
	}
	return nil
}

// outside is an error if an index does not lie in shape s.
func outside(at []int64, s tf.Shape) error {
	names := []string{"Batch", "Row", "Column"}[3-len(s):]
	for k, v := range at {
		if v < 0 || v >= int64(s[k]) {
			return invalid("%s index %d is outside of valid range [0, %d)", names[k], v, s[k])
		}
	}
	return nil
}

func csrToSparse(c *core.OpContext) error {
	m, err := typedCSR(c, 0, c.Node.Type("type"), func(have, want string) error {
		return invalid("Expected a CSRSparseMatrix of type %s but saw type: %s", want, have)
	})
	if err != nil {
		return err
	}
	rank := len(m.shape)
	at, err := c.Alloc(0, tf.Int64, tf.Shape{len(m.cols), rank})
	if err != nil {
		return err
	}
	index := core.Data[int64](at)
	m.each(func(matrix, row, i int) {
		if rank == 3 {
			index[i*rank] = int64(matrix)
		}
		index[i*rank+rank-2], index[i*rank+rank-1] = int64(row), int64(m.cols[i])
	})
	c.Set(1, m.values.Share())
	return allocShape(c, 2, m.shape)
}

// each calls f for each element, with its matrix, its row and its number.
func (m *csrMatrix) each(f func(matrix, row, i int)) {
	n := m.numRows()
	for b := range m.size() {
		pointers := m.rows[b*(n+1) : (b+1)*(n+1)]
		for row := range n {
			for i := pointers[row]; i < pointers[row+1]; i++ {
				f(b, row, int(m.batch[b]+i))
			}
		}
	}
}

func csrToDense[T field](c *core.OpContext) error {
	m, err := typedCSR(c, 0, c.Node.Type("type"), askedFor)
	if err != nil {
		return err
	}
	t, err := c.Alloc(0, m.values.DType(), m.shape)
	if err != nil {
		return err
	}
	y, x := core.Data[T](t), core.Data[T](m.values)
	clear(y)
	m.each(func(matrix, row, i int) { y[(matrix*m.numRows()+row)*m.numCols()+int(m.cols[i])] = x[i] })
	return nil
}

func csrComponents[T field](c *core.OpContext) error {
	m, err := typedCSR(c, 0, c.Node.Type("type"), notOfType)
	if err != nil {
		return err
	}
	index := c.Input(1)
	if index.Rank() != 0 {
		return invalid("index should be a scalar, but saw: %v", index)
	}
	i := int(core.Data[int32](index)[0])
	if i < 0 || i >= m.size() {
		return invalid("index (%d) not in [0, %d)", i, m.size())
	}
	p := csrPartOf[T](m, i)
	for k, v := range [][]int32{p.rows, p.cols} {
		t, err := c.Alloc(k, tf.Int32, tf.Shape{len(v)})
		if err != nil {
			return err
		}
		copy(core.Data[int32](t), v)
	}
	t, err := c.Alloc(2, m.values.DType(), tf.Shape{len(p.values)})
	if err == nil {
		copy(core.Data[T](t), p.values)
	}
	return err
}

func csrNNZ(c *core.OpContext) error {
	m, err := inputCSR(c, 0)
	if err != nil {
		return err
	}
	t, err := c.Alloc(0, tf.Int32, m.shape[:len(m.shape)-2])
	if err != nil {
		return err
	}
	for i := range core.Data[int32](t) {
		core.Data[int32](t)[i] = m.batch[i+1] - m.batch[i]
	}
	return nil
}

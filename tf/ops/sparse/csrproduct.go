package sparse

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const transpositions = "transpose_a: bool = false; transpose_b: bool = false; adjoint_a: bool = false; adjoint_b: bool = false"
	core.Register(core.OpDef{
		Name: "SparseMatrixTranspose", In: "input: variant", Out: "output: variant", Attrs: "conjugate: bool = false; type: " + fieldAttr,
		Shape: csrTransposeShape, Grad: tf.GradFunc(csrTransposeGrad),
		Kernels: core.ByType("type", fieldKernels(csrTranspose[float32], csrTranspose[float64], csrTranspose[complex64], csrTranspose[complex128])),
	})
	core.Register(core.OpDef{
		Name: "SparseMatrixMatMul", In: "a: variant; b: T", Out: "output: T",
		Attrs: "T: type; " + transpositions + "; transpose_output: bool = false; conjugate_output: bool = false",
		Shape: csrMatMulShape, Grad: tf.GradFunc(csrMatMulGrad),
		Kernels: core.ByType("T", byType{tf.Float32: csrMatMul[float32], tf.Float64: csrMatMul[float64], tf.Complex64: csrMatMul[complex64], tf.Complex128: csrMatMul[complex128]}),
	})
	core.Register(core.OpDef{
		Name: "SparseMatrixSparseMatMul", In: "a: variant; b: variant", Out: "c: variant", Attrs: "type: " + fieldAttr + "; " + transpositions,
		Shape: csrSparseMatMulShape, Grad: tf.GradFunc(csrSparseMatMulGrad),
		Kernels: core.ByType("type", byType{tf.Float32: csrSparseMatMul[float32], tf.Float64: csrSparseMatMul[float64], tf.Complex64: csrSparseMatMul[complex64], tf.Complex128: csrSparseMatMul[complex128]}),
	})
}

// SparseMatrixTransposeOpts are the optional attributes of
// SparseMatrixTranspose.
type SparseMatrixTransposeOpts struct{ Conjugate bool }

// Apply sets the attributes.
func (o SparseMatrixTransposeOpts) Apply(s *tf.Spec) { s.Set("conjugate", o.Conjugate) }

// SparseMatrixTranspose returns the transpose of m, whose elements are of
// type d. d is float32, float64, complex64 or complex128. The result is a
// scalar of type variant. What holds no matrix of type d fails with
// INVALID_ARGUMENT in the step. Its options are [SparseMatrixTransposeOpts].
func SparseMatrixTranspose(m tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("SparseMatrixTranspose", tf.Join(opts, tf.Attr("type", d)), m)
}

// MatrixForm says in which form an operand is multiplied.
type MatrixForm struct{ Transpose, Adjoint bool }

// SparseMatrixMatMulOpts are the optional attributes of SparseMatrixMatMul.
type SparseMatrixMatMulOpts struct {
	A, B                             MatrixForm
	TransposeOutput, ConjugateOutput bool
}

// Apply sets the attributes.
func (o SparseMatrixMatMulOpts) Apply(s *tf.Spec) {
	setForms(s, o.A, o.B)
	s.Set("transpose_output", o.TransposeOutput)
	s.Set("conjugate_output", o.ConjugateOutput)
}

func setForms(s *tf.Spec, a, b MatrixForm) {
	s.Set("transpose_a", a.Transpose)
	s.Set("transpose_b", b.Transpose)
	s.Set("adjoint_a", a.Adjoint)
	s.Set("adjoint_b", b.Adjoint)
}

// SparseMatrixMatMul returns the product of a, a matrix in compressed rows,
// and b, a dense one, or of batches of them, matrix by matrix. Both have one
// type, float32, float64, complex64 or complex128, and one rank, 2 or 3; the
// result is dense and keeps them. Sizes that do not match are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step; different types, ranks and batches fail with it in the step. Options
// that both transpose an operand and take its adjoint are refused when the
// graph is built.
// Its options are [SparseMatrixMatMulOpts] and [SparseMatrixSparseMatMulOpts].
func SparseMatrixMatMul(a, b tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseMatrixMatMul", opts, a, b)
}

// SparseMatrixSparseMatMulOpts are the optional attributes of
// SparseMatrixSparseMatMul.
type SparseMatrixSparseMatMulOpts struct{ A, B MatrixForm }

// Apply sets the attributes.
func (o SparseMatrixSparseMatMulOpts) Apply(s *tf.Spec) { setForms(s, o.A, o.B) }

// SparseMatrixSparseMatMul returns the product of two matrices in compressed
// rows, whose elements are of type d, or of batches of them. Sums that come
// out as zero stay elements. d is float32, float64, complex64 or complex128.
// A batch of one goes with any other. The result is a scalar of type variant.
// Sizes that do not match are refused with INVALID_ARGUMENT, when the graph
// is built if they are known, else in the step; so are batches of other
// sizes. Options that both transpose an operand and take its adjoint are
// refused when the graph is built. What holds no matrix of type d fails with
// INVALID_ARGUMENT in the step.
// Its options are [SparseMatrixSparseMatMulOpts].
func SparseMatrixSparseMatMul(a, b tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("SparseMatrixSparseMatMul", tf.Join(opts, tf.Attr("type", d)), a, b)
}

func csrTranspose[T field](c *core.OpContext) error {
	m, err := typedCSR(c, 0, c.Node.Type("type"), notOfType)
	if err != nil {
		return err
	}
	s := flipped(m.shape, true)
	if err := checkCSRShape(s); err != nil {
		return err
	}
	parts := core.Make[csrPart[T]](m.size())
	for i := range parts {
		p := csrPartOf[T](m, i)
		parts[i] = p.transposed(c.Node.Bool("conjugate"))
	}
	setCSR(c, joinParts(s, parts))
	return nil
}

// transposed returns the transpose of p, columns in order.
func (p *csrPart[T]) transposed(conjugated bool) csrPart[T] {
	t := csrPart[T]{core.Make[int32](p.width + 1), core.Make[int32](len(p.cols)), core.Make[T](len(p.cols)), p.height()}
	for _, k := range p.cols {
		t.rows[k+1]++
	}
	for k := range p.width {
		t.rows[k+1] += t.rows[k]
	}
	next := slices.Clone(t.rows)
	for row := range p.height() {
		for i, hi := p.row(row); i < hi; i++ {
			to := next[p.cols[i]]
			next[p.cols[i]]++
			t.cols[to], t.values[to] = int32(row), p.values[i]
		}
	}
	if conjugated {
		conjugateAll(t.values)
	}
	return t
}

// formed returns p as it is to be read.
func (p csrPart[T]) formed(transpose, conjugated bool) csrPart[T] {
	if !transpose {
		return p
	}
	return p.transposed(conjugated)
}

func csrMatMul[T field](n *core.Node) (core.Kernel, error) {
	f, err := csrFormOf(n)
	if err != nil {
		return nil, err
	}
	flip, conjugates := n.Bool("transpose_output"), n.Bool("conjugate_output")
	return core.Compute(func(c *core.OpContext) error {
		b := c.Input(1)
		m, err := inputCSR(c, 0)
		if err != nil {
			return err
		}
		if err := checkCSRMatMul(m, b, f); err != nil {
			return err
		}
		out := flipped(b.Shape(), f.transposeB)
		out[len(out)-2] = flipped(m.shape, f.transposeA)[len(out)-2]
		y, err := c.Alloc(0, b.DType(), flipped(out, flip))
		if err != nil {
			return err
		}
		rows, cols := out[len(out)-2], out[len(out)-1]
		for i := range m.size() {
			a := csrPartOf[T](m, i)
			a = a.formed(f.transposeA, f.conjugateA)
			a.times(matrixOf[T](y, i, rows, cols, flip, false), matrixOf[T](b, i, a.width, cols, f.transposeB, f.conjugateB), cols)
		}
		if conjugates {
			conjugateAll(core.Data[T](y))
		}
		return nil
	}), nil
}

func checkCSRMatMul(m *csrMatrix, b *core.Tensor, f csrForm) error {
	rank := len(m.shape)
	size := 1
	if b.Rank() == 3 {
		size = b.Dim(0)
	}
	switch {
	case m.values.DType() != b.DType():
		return invalid("Input types don't match.  a.dtype == %s vs. b.dtype == %s", m.values.DType().CName(), b.DType().CName())
	case rank != b.Rank():
		return invalid("Ranks of a and b must match, saw: %d vs. %d.", rank, b.Rank())
	case m.size() != size:
		return invalid("Batch sizes of a and b must match, saw: %d vs. %d.", m.size(), size)
	case flipped(m.shape, f.transposeA)[rank-1] != flipped(b.Shape(), f.transposeB)[rank-2]:
		return invalid("Inner product dimensions of A and B do not agree. Shapes are: %s vs. %s", m.shape.String(), b.Shape().String())
	}
	return nil
}

// A denseMatrix is one of a dense batch, read or written as it is or
// transposed.
type denseMatrix[T field] struct {
	data       []T
	down, over int // by how many elements neighbours in a column and in a row are apart
	conjugated bool
}

// matrixOf returns matrix i of a batch, of rows×cols elements as the product
// sees it.
func matrixOf[T field](t *core.Tensor, i, rows, cols int, transposed, conjugated bool) denseMatrix[T] {
	m := denseMatrix[T]{core.Data[T](t)[i*rows*cols : (i+1)*rows*cols], cols, 1, conjugated}
	if transposed {
		m.down, m.over = 1, rows
	}
	return m
}

func (m *denseMatrix[T]) at(i, k int) T {
	v := m.data[i*m.down+k*m.over]
	if m.conjugated {
		return conj(v)
	}
	return v
}

// times sets y, of the given number of columns, to the product of p and b.
func (p *csrPart[T]) times(y, b denseMatrix[T], cols int) {
	sum := core.Make[T](cols)
	for row := range p.height() {
		clear(sum)
		for i, hi := p.row(row); i < hi; i++ {
			v, from := p.values[i], int(p.cols[i])
			for k := range sum {
				sum[k] += v * b.at(from, k)
			}
		}
		for k, v := range sum {
			y.data[row*y.down+k*y.over] = v
		}
	}
}

func csrSparseMatMul[T field](n *core.Node) (core.Kernel, error) {
	f, err := csrFormOf(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		a, b, err := csrOperands(c)
		if err != nil {
			return err
		}
		s, err := sparseProductShape(a, b, f)
		if err != nil {
			return err
		}
		parts := core.Make[csrPart[T]](max(a.size(), b.size()))
		if a.size() == 0 || b.size() == 0 {
			parts = nil
		}
		for i := range parts {
			p, q := csrPartOf[T](a, min(i, a.size()-1)), csrPartOf[T](b, min(i, b.size()-1))
			p, q = p.formed(f.transposeA, f.conjugateA), q.formed(f.transposeB, f.conjugateB)
			parts[i] = p.product(&q)
		}
		setCSR(c, joinParts(s, parts))
		return nil
	}), nil
}

// csrOperands returns the two matrices in the inputs, which have to be of the
// node's type.
func csrOperands(c *core.OpContext) (a, b *csrMatrix, err error) {
	both := []*csrMatrix{nil, nil}
	for i := range both {
		if both[i], err = inputCSR(c, i); err != nil {
			return nil, nil, err
		}
	}
	for i, m := range both {
		if d := c.Node.Type("type"); m.values.DType() != d {
			return nil, nil, invalid("dtype of %c is not equal to 'type': %s vs. %s", 'a'+i, m.values.DType().CName(), d.CName())
		}
	}
	return both[0], both[1], nil
}

func sparseProductShape(a, b *csrMatrix, f csrForm) (tf.Shape, error) {
	if a.size() != b.size() && a.size() != 1 && b.size() != 1 {
		return nil, invalid("Batch sizes of A and B are not compatible.  Batch sizes are: %d vs. %d", a.size(), b.size())
	}
	x, y := flipped(a.shape, f.transposeA), flipped(b.shape, f.transposeB)
	if x[len(x)-1] != y[len(y)-2] {
		return nil, invalid("Inner product dimensions of A and B do not agree.  Shapes are: %s vs. %s", x.String(), y.String())
	}
	out := tf.Shape{x[len(x)-2], y[len(y)-1]}
	if len(x) == 3 || len(y) == 3 {
		size := max(a.size(), b.size())
		if a.size() == 0 || b.size() == 0 {
			size = 0
		}
		out = append(tf.Shape{size}, out...)
	}
	return out, checkCSRShape(out)
}

// product returns the product of p and q, columns in order.
func (p *csrPart[T]) product(q *csrPart[T]) csrPart[T] {
	out := csrPart[T]{rows: make([]int32, 1, p.height()+1), width: q.width}
	sums := map[int32]T{}
	for row := range p.height() {
		clear(sums)
		begin := len(out.cols)
		for i, hi := p.row(row); i < hi; i++ {
			for k, end := q.row(int(p.cols[i])); k < end; k++ {
				sum, seen := sums[q.cols[k]]
				if !seen {
					out.cols = append(out.cols, q.cols[k])
				}
				sums[q.cols[k]] = sum + p.values[i]*q.values[k]
			}
		}
		slices.Sort(out.cols[begin:])
		for _, k := range out.cols[begin:] {
			out.values = append(out.values, sums[k])
		}
		out.rows = append(out.rows, int32(len(out.cols)))
	}
	return out
}

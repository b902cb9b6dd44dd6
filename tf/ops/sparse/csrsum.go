package sparse

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Operations for which TensorFlow has kernels on GPUs only.

func init() {
	core.Register(core.OpDef{
		Name: "SparseMatrixZeros", In: "dense_shape: int64", Out: "sparse_matrix: variant", Attrs: "type: " + fieldAttr,
		Shape: csrZerosShape, NoGrad: core.NotDifferentiable, Kernels: core.ByType("type", sameFor(computed(csrZeros), fieldTypes...)),
	})
	core.Register(core.OpDef{
		Name: "SparseMatrixAdd", In: "a: variant; b: variant; alpha: T; beta: T", Out: "c: variant", Attrs: "T: " + fieldAttr,
		Shape: csrLike, Grad: tf.GradFunc(csrAddGrad),
		Kernels: core.ByType("T", fieldKernels(csrAdd[float32], csrAdd[float64], csrAdd[complex64], csrAdd[complex128])),
	})
	core.Register(core.OpDef{
		Name: "SparseMatrixMul", In: "a: variant; b: T", Out: "output: variant", Attrs: "T: type",
		Shape: csrLike, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", fieldKernels(csrMul[float32], csrMul[float64], csrMul[complex64], csrMul[complex128])),
	})
	core.Register(core.OpDef{
		Name: "SparseMatrixSoftmax", In: "logits: variant", Out: "softmax: variant", Attrs: "type: {float, double}",
		Shape: csrLike, Grad: tf.GradFunc(csrSoftmaxGradient), Kernels: core.ByType("type", byType{tf.Float32: computed(csrSoftmax[float32]), tf.Float64: computed(csrSoftmax[float64])}),
	})
	core.Register(core.OpDef{
		Name: "SparseMatrixSoftmaxGrad", In: "softmax: variant; grad_softmax: variant", Out: "gradient: variant", Attrs: "type: {float, double}",
		Shape: csrLike, NoGrad: core.NoGradientDefined, Kernels: core.ByType("type", byType{tf.Float32: computed(csrSoftmaxGrad[float32]), tf.Float64: computed(csrSoftmaxGrad[float64])}),
	})
}

// SparseMatrixZeros returns a matrix, or a batch of them, without elements,
// of type d and the shape that a vector gives. shape is an int64 vector of
// two or three sizes. d is float32, float64, complex64 or complex128. The
// result is a scalar of type variant. Another rank is refused with
// INVALID_ARGUMENT when the graph is built; other sizes fail with
// INVALID_ARGUMENT in the step.
func SparseMatrixZeros(shape tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("SparseMatrixZeros", tf.Join(opts, tf.Attr("type", d)), shape)
}

// SparseMatrixAdd returns alpha·a + beta·b, of which alpha and beta are
// scalars. It has elements where one of the operands has. alpha and beta have
// the type of both matrices, float32, float64, complex64 or complex128. The
// result is a scalar of type variant. Different shapes or types, and an alpha
// or beta that is no scalar, fail with INVALID_ARGUMENT in the step.
func SparseMatrixAdd(a, b, alpha, beta tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseMatrixAdd", opts, a, b, alpha, beta)
}

// SparseMatrixMul returns a times b: a scalar, or for a batch one number for
// each matrix, of shape [n, 1, 1]. b has the type of a, float32, float64,
// complex64 or complex128. The result is a scalar of type variant. Another
// shape of b fails with UNIMPLEMENTED in the step, another type with
// INVALID_ARGUMENT.
func SparseMatrixMul(a, b tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseMatrixMul", opts, a, b)
}

// SparseMatrixSoftmax returns the softmax of each row, over its elements
// alone. They are of type d. d is float32 or float64. The result is a scalar
// of type variant. What holds no matrix of type d fails with INVALID_ARGUMENT
// in the step.
func SparseMatrixSoftmax(m tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("SparseMatrixSoftmax", tf.Join(opts, tf.Attr("type", d)), m)
}

// SparseMatrixSoftmaxGrad returns the gradient of SparseMatrixSoftmax, given
// its result and the gradient of that. d is float32 or float64. The result is
// a scalar of type variant. Elements that grad lacks count as 0. Different
// shapes fail with INVALID_ARGUMENT in the step, as does what holds no matrix
// of type d.
func SparseMatrixSoftmaxGrad(softmax, grad tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("SparseMatrixSoftmaxGrad", tf.Join(opts, tf.Attr("type", d)), softmax, grad)
}

func csrZerosShape(c *core.Infer) error {
	if _, err := c.Rank(0, 1); err != nil {
		return err
	}
	setCSRShape(c, c.Type("type"), c.ConstShape(0))
	return nil
}

// csrLike: the result has the shape of the first operand.
func csrLike(c *core.Infer) error {
	d, s := c.Handle(0)
	setCSRShape(c, d, s)
	return nil
}

func csrAddGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	d := op.Type("T")
	g := CSRSparseMatrixToDense(dy[0], d)
	a, b := patternOf(op.Input(0), g), patternOf(op.Input(1), g)
	return tf.Grads(SparseMatrixMul(a, op.Input(2)), SparseMatrixMul(b, op.Input(3)), tf.Output{}, tf.Output{})
}

func csrSoftmaxGradient(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(SparseMatrixSoftmaxGrad(op.Output(0), dy[0], op.Type("type")))
}

func csrZeros(c *core.OpContext) error {
	if c.Input(0).Rank() != 1 {
		return invalid("dense_shape must be a vector, got shape %s", c.Input(0).Shape().String())
	}
	s, err := c.Input(0).Ints()
	if err != nil {
		return err
	}
	return compress(c, s, nil, core.NewTensor(c.Node.Type("type"), tf.Shape{0}))
}

func csrAdd[T field](c *core.OpContext) error {
	a, b, err := sameCSR(c, c.Node.Type("T"))
	if err != nil {
		return err
	}
	if c.Input(2).Rank() != 0 || c.Input(3).Rank() != 0 {
		return invalid("alpha and beta must be scalars, got shapes %s and %s", c.Input(2).Shape().String(), c.Input(3).Shape().String())
	}
	alpha, beta := core.Data[T](c.Input(2))[0], core.Data[T](c.Input(3))[0]
	parts := core.Make[csrPart[T]](a.size())
	for i := range parts {
		p, q := csrPartOf[T](a, i), csrPartOf[T](b, i)
		parts[i] = p.plus(&q, alpha, beta)
	}
	setCSR(c, joinParts(a.shape, parts))
	return nil
}

// sameCSR returns the matrices in inputs 0 and 1, of type d and of equal shape.
func sameCSR(c *core.OpContext, d tf.DType) (a, b *csrMatrix, err error) {
	if a, err = typedCSR(c, 0, d, notOfType); err != nil {
		return nil, nil, err
	}
	if b, err = typedCSR(c, 1, d, notOfType); err != nil {
		return nil, nil, err
	}
	if !a.shape.Equal(b.shape) {
		return nil, nil, invalid("Incompatible shapes of a and b, a.shape == %s, b.shape == %s", a.shape.String(), b.shape.String())
	}
	return a, b, nil
}

// plus returns x·p + y·q, columns in order.
func (p *csrPart[T]) plus(q *csrPart[T], x, y T) csrPart[T] {
	out := csrPart[T]{rows: make([]int32, 1, p.height()+1), width: p.width}
	sums := map[int32]T{}
	for row := range p.height() {
		clear(sums)
		begin := len(out.cols)
		for _, from := range []struct {
			p *csrPart[T]
			x T
		}{{p, x}, {q, y}} {
			for i, hi := from.p.row(row); i < hi; i++ {
				k := from.p.cols[i]
				sum, seen := sums[k]
				if !seen {
					out.cols = append(out.cols, k)
				}
				sums[k] = sum + from.x*from.p.values[i]
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

func csrMul[T field](c *core.OpContext) error {
	m, err := typedCSR(c, 0, c.Node.Type("T"), notOfType)
	if err != nil {
		return err
	}
	b := c.Input(1)
	if b.Rank() != 0 && (len(m.shape) != 3 || !b.Shape().Equal(tf.Shape{m.size(), 1, 1})) {
		return tf.Errorf(tf.Unimplemented, "b must be a scalar or shaped [batch_size, 1, 1], got %s for a matrix of shape %s", b.Shape().String(), m.shape.String())
	}
	y := *m
	y.values = m.values.Clone()
	for i := range m.size() {
		by := core.Data[T](b)[i%b.Len()]
		part := csrPartOf[T](&y, i).values
		for k := range part {
			part[k] *= by
		}
	}
	setCSR(c, &y)
	return nil
}

func csrSoftmax[T float32 | float64](c *core.OpContext) error {
	m, err := typedCSR(c, 0, c.Node.Type("type"), notOfType)
	if err != nil {
		return err
	}
	y := *m
	y.values = m.values.Clone()
	for i := range m.size() {
		p := csrPartOf[T](&y, i)
		for row := range p.height() {
			lo, hi := p.row(row)
			csrSoftmaxRow(p.values[lo:hi])
		}
	}
	setCSR(c, &y)
	return nil
}

// csrSoftmaxRow replaces x by its softmax.
func csrSoftmaxRow[T float32 | float64](x []T) {
	if len(x) == 0 {
		return
	}
	most, sum := slices.Max(x), T(0)
	for i, v := range x {
		x[i] = T(math.Exp(float64(v - most)))
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}

// csrSoftmaxGrad takes elements that the gradient does not have for zeros.
func csrSoftmaxGrad[T float32 | float64](c *core.OpContext) error {
	m, g, err := sameCSR(c, c.Node.Type("type"))
	if err != nil {
		return err
	}
	y := *m
	y.values = m.values.Clone()
	for i := range m.size() {
		p, q, out := csrPartOf[T](m, i), csrPartOf[T](g, i), csrPartOf[T](&y, i)
		for row := range p.height() {
			csrSoftmaxRowGrad(&out, &p, &q, row)
		}
	}
	setCSR(c, &y)
	return nil
}

func csrSoftmaxRowGrad[T float32 | float64](out, softmax, grad *csrPart[T], row int) {
	given, sum := map[int32]T{}, T(0)
	for i, hi := grad.row(row); i < hi; i++ {
		given[grad.cols[i]] += grad.values[i]
	}
	lo, hi := softmax.row(row)
	for i := lo; i < hi; i++ {
		sum += softmax.values[i] * given[softmax.cols[i]]
	}
	for i := lo; i < hi; i++ {
		out.values[i] = (given[softmax.cols[i]] - sum) * softmax.values[i]
	}
}

// Plus returns the sum of two matrices of equal type and shape, for AddN.
func (m *csrMatrix) Plus(other any) (any, error) {
	o, ok := other.(*csrMatrix)
	if !ok || o.values.DType() != m.values.DType() || !o.shape.Equal(m.shape) {
		return nil, invalid("Incompatible shapes of a and b, a.shape == %s, b is another", m.shape.String())
	}
	switch m.values.DType() {
	case tf.Float32:
		return sumOf[float32](m, o), nil
	case tf.Float64:
		return sumOf[float64](m, o), nil
	case tf.Complex64:
		return sumOf[complex64](m, o), nil
	}
	return sumOf[complex128](m, o), nil
}

func sumOf[T field](a, b *csrMatrix) *csrMatrix {
	parts := core.Make[csrPart[T]](a.size())
	for i := range parts {
		p, q := csrPartOf[T](a, i), csrPartOf[T](b, i)
		parts[i] = p.plus(&q, 1, 1)
	}
	return joinParts(a.shape, parts)
}

// Zero returns a matrix like m without elements.
func (m *csrMatrix) Zero() any {
	return &csrMatrix{shape: m.shape, batch: core.Make[int32](len(m.batch)), rows: core.Make[int32](len(m.rows)), values: core.NewTensor(m.values.DType(), tf.Shape{0})}
}

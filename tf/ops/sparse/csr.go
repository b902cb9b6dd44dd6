package sparse

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Matrices in compressed rows (CSR): a scalar Variant holds a matrix, or a
// batch of them.

func init() { core.RegisterVariant(csrTypeName, decodeCSR) }

const csrTypeName = "tensorflow::CSRSparseMatrix"

// A csrMatrix is what such a Variant holds. It does not change. Its parts are
// the tensors that TensorFlow has.
type csrMatrix struct {
	shape  tf.Shape // rows and columns, behind the size of the batch if it is one
	batch  []int32  // where the elements of each matrix begin, and where the last one's end
	rows   []int32  // where the elements of each row begin in its matrix; one more for each matrix, where they end
	cols   []int32  // the column of each element
	values *core.Tensor
}

// The numbers that matrices have.
type field interface {
	float32 | float64 | complex64 | complex128
}

var fieldTypes = []tf.DType{tf.Float32, tf.Float64, tf.Complex64, tf.Complex128}

// fieldKernels lists one kernel for each type.
func fieldKernels(f32, f64, c64, c128 func(*core.OpContext) error) byType {
	return byType{tf.Float32: computed(f32), tf.Float64: computed(f64), tf.Complex64: computed(c64), tf.Complex128: computed(c128)}
}

const fieldAttr = "{float, double, complex64, complex128}"

func (m *csrMatrix) size() int    { return len(m.batch) - 1 }
func (m *csrMatrix) numRows() int { return m.shape[len(m.shape)-2] }
func (m *csrMatrix) numCols() int { return m.shape[len(m.shape)-1] }

// A csrPart is one matrix.
type csrPart[T field] struct {
	rows, cols []int32
	values     []T
	width      int
}

// row returns where the elements of row i are.
func (p *csrPart[T]) row(i int) (lo, hi int) { return int(p.rows[i]), int(p.rows[i+1]) }

func (p *csrPart[T]) height() int { return len(p.rows) - 1 }

// csrPartOf returns matrix i of a batch.
func csrPartOf[T field](m *csrMatrix, i int) csrPart[T] {
	n, lo, hi := m.numRows()+1, m.batch[i], m.batch[i+1]
	return csrPart[T]{m.rows[i*n : (i+1)*n], m.cols[lo:hi], core.Data[T](m.values)[lo:hi], m.numCols()}
}

// joinParts makes a matrix of shape s of its parts.
func joinParts[T field](s tf.Shape, parts []csrPart[T]) *csrMatrix {
	m := &csrMatrix{shape: s, batch: []int32{0}}
	n := 0
	for _, p := range parts {
		n += len(p.cols)
		m.batch = append(m.batch, int32(n))
		m.rows = append(m.rows, p.rows...)
		m.cols = append(m.cols, p.cols...)
	}
	m.values = core.NewTensor(tf.TypeOf[T](), tf.Shape{n})
	for i, p := range parts {
		copy(core.Data[T](m.values)[m.batch[i]:], p.values)
	}
	return m
}

// setCSR makes output 0 a scalar that holds m.
func setCSR(c *core.OpContext, m *csrMatrix) {
	t := core.NewTensor(tf.Variant, tf.Shape{})
	t.Variants()[0].Value = m
	c.Set(0, t)
}

// inputCSR returns the matrix that input i holds.
func inputCSR(c *core.OpContext, i int) (*csrMatrix, error) {
	t := c.Input(i)
	if t.Rank() != 0 {
		return nil, invalid("Invalid input matrix: Shape must be rank 0 but is rank %d", t.Rank())
	}
	m, ok := t.Variants()[0].Value.(*csrMatrix)
	if !ok {
		return nil, invalid("Could not retrieve Variant input %d", i)
	}
	return m, nil
}

// typedCSR is inputCSR for a matrix of a type; the message says which is wrong,
// in the words of the op.
func typedCSR(c *core.OpContext, i int, d tf.DType, words func(have, want string) error) (*csrMatrix, error) {
	m, err := inputCSR(c, i)
	if err == nil && m.values.DType() != d {
		err = words(m.values.DType().CName(), d.CName())
	}
	return m, err
}

func askedFor(have, want string) error {
	return invalid("Asked for a CSRSparseMatrix of type %s but saw dtype: %s", want, have)
}

func notOfType(have, want string) error {
	return invalid("dtype of input is not equal to 'type': %s vs. %s", have, want)
}

// EncodeVariant writes m as TensorFlow does.
func (m *csrMatrix) EncodeVariant() (core.VariantData, error) {
	shape := core.NewTensor(tf.Int64, tf.Shape{len(m.shape)})
	for i, d := range m.shape {
		core.Data[int64](shape)[i] = int64(d)
	}
	d := core.VariantData{TypeName: csrTypeName, Metadata: make([]byte, 8), Tensors: []*core.Tensor{shape}}
	d.Metadata[0] = 1 // it is valid
	binary.LittleEndian.PutUint32(d.Metadata[4:], uint32(m.values.DType()))
	for _, v := range [][]int32{m.batch, m.rows, m.cols} {
		t := core.NewTensor(tf.Int32, tf.Shape{len(v)})
		copy(core.Data[int32](t), v)
		d.Tensors = append(d.Tensors, t)
	}
	d.Tensors = append(d.Tensors, m.values)
	return d, nil
}

// decodeCSR reads what EncodeVariant or TensorFlow wrote.
func decodeCSR(d core.VariantData) (any, error) {
	if len(d.Tensors) != 5 || len(d.Metadata) != 8 {
		return nil, invalid("a CSRSparseMatrix must have 5 tensors and 8 bytes of metadata, got %d and %d", len(d.Tensors), len(d.Metadata))
	}
	shape, err := d.Tensors[0].Ints()
	if err != nil || d.Tensors[0].Rank() != 1 {
		return nil, invalid("CSRSparseMatrix::Validate: dense_shape should be a vector, but saw %v", d.Tensors[0])
	}
	m := &csrMatrix{shape: shape, values: d.Tensors[4]}
	for i, to := range []*[]int32{&m.batch, &m.rows, &m.cols} {
		t := d.Tensors[i+1]
		if t.DType() != tf.Int32 || t.Rank() != 1 {
			return nil, invalid("CSRSparseMatrix::Validate: pointers and indices must be int32 vectors, got %v%v", t.DType(), t.Shape())
		}
		*to = core.Data[int32](t)
	}
	if !slices.Contains(fieldTypes, m.values.DType()) || m.values.Rank() != 1 {
		return nil, invalid("CSRSparseMatrix::Validate: values must be a vector of a type of %v, got %v%v", fieldTypes, m.values.DType(), m.values.Shape())
	}
	return m, m.valid()
}

// valid checks that all pointers and indices lie where they may.
func (m *csrMatrix) valid() error {
	if err := checkCSRShape(m.shape); err != nil {
		return err
	}
	size := 1
	if len(m.shape) == 3 {
		size = m.shape[0]
	}
	n := len(m.cols)
	switch {
	case size != m.size():
		return invalid("CSRSparseMatrix::Validate: dense_shape is %s but batch pointers implies batch size is %d", m.shape.String(), m.size())
	case len(m.rows) != size*(m.numRows()+1):
		return invalid("CSRSparseMatrix::Validate: row_pointers should have size batch_size * (num_rows + 1), saw shapes: %s vs. %d", m.shape.String(), len(m.rows))
	case n != m.values.Len():
		return invalid("CSRSparseMatrix::Validate: size(col_indices) = %d != size(values) = %d", n, m.values.Len())
	case !ascends(m.batch, n):
		return invalid("CSRSparseMatrix::Validate: batch pointers must ascend from 0 to %d", n)
	}
	for i := range size {
		if count := int(m.batch[i+1] - m.batch[i]); !ascends(m.rows[i*(m.numRows()+1):(i+1)*(m.numRows()+1)], count) {
			return invalid("CSRSparseMatrix::Validate: row pointers of matrix %d must ascend from 0 to %d", i, count)
		}
	}
	for _, k := range m.cols {
		if uint(k) >= uint(m.numCols()) {
			return invalid("CSRSparseMatrix::Validate: column index %d is outside of valid range [0, %d)", k, m.numCols())
		}
	}
	return nil
}

// ascends reports whether v goes from 0 to n, never back.
func ascends(v []int32, n int) bool {
	return len(v) > 0 && v[0] == 0 && int(v[len(v)-1]) == n && slices.IsSorted(v)
}

// checkCSRShape wants 2 or 3 sizes that pointers of 32 bits can tell.
func checkCSRShape(s tf.Shape) error {
	if len(s) != 2 && len(s) != 3 {
		return invalid("SparseTensor must have rank 2 or 3; but indices has rank: %d", len(s))
	}
	if err := checkSizes(s); err != nil {
		return err
	}
	size, rows := 1, s[len(s)-2]
	if len(s) == 3 {
		size = s[0]
	}
	if size >= math.MaxInt32 {
		return invalid("dense_shape batch_size must be < Int32Max, but the input value is %d", size)
	}
	if rows >= math.MaxInt32 || (rows+1)*size > math.MaxInt32 {
		return invalid("The csr row index size, computed based on the dense_shape, must be <= Int32Max, but is too large. Current value is %d", (rows+1)*size)
	}
	return nil
}

// Conjugated returns the matrix of the conjugates of m's elements, for Conj.
func (m *csrMatrix) Conjugated() any {
	if !m.values.DType().IsComplex() {
		return m
	}
	c := *m
	c.values = m.values.Clone()
	switch m.values.DType() {
	case tf.Complex64:
		conjugateAll(core.Data[complex64](c.values))
	default:
		conjugateAll(core.Data[complex128](c.values))
	}
	return &c
}

func conjugateAll[T field](v []T) {
	for i, x := range v {
		v[i] = conj(x)
	}
}

// conj returns the conjugate of v: v itself if it is real.
func conj[T field](v T) T {
	switch x := any(v).(type) {
	case complex64:
		return any(complex(real(x), -imag(x))).(T)
	case complex128:
		return any(complex(real(x), -imag(x))).(T)
	}
	return v
}

// realPart returns the real part of v.
func realPart[T field](v T) float64 {
	switch x := any(v).(type) {
	case float32:
		return float64(x)
	case float64:
		return x
	case complex64:
		return float64(real(x))
	case complex128:
		return real(x)
	}
	return 0
}

// realNumberOf returns x as a T.
func realNumberOf[T field](x float64) (v T) {
	switch p := any(&v).(type) {
	case *float32:
		*p = float32(x)
	case *float64:
		*p = x
	case *complex64:
		*p = complex(float32(x), 0)
	case *complex128:
		*p = complex(x, 0)
	}
	return v
}

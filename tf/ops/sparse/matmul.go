package sparse

import (
	"github.com/gorge-tf/gorge/internal/kernel/descent"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "SparseTensorDenseMatMul", In: "a_indices: Tindices; a_values: T; a_shape: int64; b: T", Out: "product: T",
		Attrs: "T: type; Tindices: {int32, int64} = int64; adjoint_a: bool = false; adjoint_b: bool = false",
		Shape: productShape, Grad: tf.GradFunc(productGrad),
		Kernels: core.ByType("T", byType{
			tf.Float32: product(same[float32]), tf.Float64: product(same[float64]), tf.Float16: product(same[float32]), tf.BFloat16: product(same[float32]),
			tf.Int32: product(same[int32]), tf.Complex64: product(conjugate[complex64]), tf.Complex128: product(conjugate[complex128]),
		}),
	})
	core.Register(core.OpDef{
		Name: "SparseMatMul", In: "a: Ta; b: Tb", Out: "product: float",
		Attrs: "transpose_a: bool = false; transpose_b: bool = false; a_is_sparse: bool = false; b_is_sparse: bool = false; Ta: {float, bfloat16} = float; Tb: {float, bfloat16} = float",
		Shape: matMulShape, Grad: tf.GradFunc(matMulGrad), Kernels: core.AnyType(matMul),
	})
}

// AdjointOpts are the optional attributes of SparseTensorDenseMatMul: operands
// to be transposed, and conjugated, first.
type AdjointOpts struct{ A, B bool }

// Apply sets the attributes.
func (o AdjointOpts) Apply(s *tf.Spec) {
	s.Set("adjoint_a", o.A)
	s.Set("adjoint_b", o.B)
}

// SparseTensorDenseMatMul returns the product of a sparse matrix, of which
// indices may be int32 or int64 and in any order, and a dense one. a is [m k]
// and b [k n], of one type, float16, bfloat16, float32, float64, int32,
// complex64 or complex128, which the result [m n] keeps. Parts that do not
// fit together are refused with INVALID_ARGUMENT, when the graph is built if
// their shapes are known, else in the step. Sizes that do not match are
// refused in the same way, and indices out of bounds fail with
// INVALID_ARGUMENT in the step. Its options are [AdjointOpts].
func SparseTensorDenseMatMul(a Tensor, b tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseTensorDenseMatMul", opts, append(flat(a), b)...)
}

// MatMulOpts are the optional attributes of SparseMatMul: matrices to be
// transposed first, and which have many zeros.
type MatMulOpts struct{ TransposeA, TransposeB, ASparse, BSparse bool }

// Apply sets the attributes.
func (o MatMulOpts) Apply(s *tf.Spec) {
	s.Set("transpose_a", o.TransposeA)
	s.Set("transpose_b", o.TransposeB)
	s.Set("a_is_sparse", o.ASparse)
	s.Set("b_is_sparse", o.BSparse)
}

// SparseMatMul returns the product, in float32, of two matrices of float32 or
// bfloat16. a is [m k] and b [k n], as they are or transposed; the result is
// [m n]. Other shapes are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step. Its options are [MatMulOpts].
func SparseMatMul(a, b tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseMatMul", opts, a, b)
}

func productShape(c *core.Infer) error {
	for i, rank := range []int{2, 1} {
		if _, err := c.Rank(i, rank); err != nil {
			return err
		}
	}
	a := c.ConstShape(2)
	if a == nil {
		a = tf.Shape{-1, -1}
	}
	if len(a) != 2 {
		return invalid("Shape must be rank 2 but is rank %d", len(a))
	}
	b, err := c.Rank(3, 2)
	if err != nil {
		return err
	}
	m, inner := turned(a, c.Bool("adjoint_a"))
	other, n := turned(b, c.Bool("adjoint_b"))
	if _, err := mergeDim(inner, other); err != nil {
		return err
	}
	c.Set(0, tf.Shape{m, n})
	return nil
}

// turned returns the rows and columns of a matrix of shape s.
func turned(s tf.Shape, transposed bool) (rows, columns int) {
	if transposed {
		return s[1], s[0]
	}
	return s[0], s[1]
}

// productGrad multiplies, for the values, the rows that each of them met.
func productGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	at, vals, shape, b := op.Input(0), op.Input(1), op.Input(2), op.Input(3)
	ta, tb := op.Bool("adjoint_a"), op.Bool("adjoint_b")
	g := b.Graph()
	swap := ops.Const(g, []int32{1, 0})
	db := SparseTensorDenseMatMul(Tensor{at, vals, shape}, dy[0], AdjointOpts{A: !ta})
	turned := b
	if tb {
		db, turned = ops.ConjugateTranspose(db, swap), ops.Transpose(b, swap)
	}
	rows, columns := column(at, 0), column(at, 1)
	if ta {
		rows, columns = columns, rows
	}
	z, w := ops.Gather(dy[0], rows, 0), ops.Gather(turned, columns, 0)
	if b.DType().IsComplex() {
		switch { // the product with b conjugated, which is done already if b was transposed only
		case !ta && !tb:
			w = ops.Conj(w)
		case ta && !tb:
			z = ops.Conj(z)
		case ta && tb:
			z, w = ops.Conj(z), ops.Conj(w)
		}
	}
	da := ops.Sum(ops.Mul(z, w), ops.Const(g, []int32{1}))
	return tf.Grads(tf.Output{}, da, tf.Output{}, db)
}

// column returns a column of a matrix of indices.
func column(at tf.Output, k int) tf.Output {
	g := at.Graph()
	return ops.GatherV2(at, ops.Scalar(g, int32(k)), ops.Scalar(g, int32(1)))
}

func same[T any](v T) T { return v }

func conjugate[T numeric.Complex](v T) T {
	return T(complex(real(complex128(v)), -imag(complex128(v))))
}

// product makes the kernel of the product of a sparse and a dense matrix.
func product[T number](conj func(T) T) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		ta, tb := n.Bool("adjoint_a"), n.Bool("adjoint_b")
		return core.Compute(func(c *core.OpContext) error {
			p, err := newFactors(c, ta, tb)
			if err != nil {
				return err
			}
			out, store, err := result[T](c, 0, c.Input(3).DType(), tf.Shape{p.m, p.n})
			if err != nil {
				return err
			}
			a, b := values[T](c.Input(1)), values[T](c.Input(3))
			if tb {
				b = adjoint(b, p.n, p.k, conj)
			}
			if ta {
				a = adjoint(a, 1, len(a), conj)
			}
			clear(out)
			// Threads share columns, so that each adds in the order of the values.
			c.ParallelFor(p.n, max(16, 1<<16/(len(a)+1)), func(lo, hi int) {
				for i, v := range a {
					row, from := p.rows[i]*p.n, p.columns[i]*p.n
					descent.Axpy(out[row+lo:row+hi], v, b[from+lo:from+hi])
				}
			})
			store()
			return nil
		}), nil
	}
}

// adjoint returns a matrix of m rows and n columns transposed and conjugated.
func adjoint[T number](x []T, m, n int, conj func(T) T) []T {
	out := core.Make[T](len(x))
	for i := range m {
		for k := range n {
			out[k*m+i] = conj(x[i*n+k])
		}
	}
	return out
}

// factors says where the values of a sparse matrix, transposed or not, lie in
// m×k, to be multiplied with k×n.
type factors struct {
	m, n, k       int
	rows, columns []int
}

func newFactors(c *core.OpContext, ta, tb bool) (*factors, error) {
	at, vals, shape, b := c.Input(0), c.Input(1), c.Input(2), c.Input(3)
	if err := checkProduct(at, vals, shape, b); err != nil {
		return nil, err
	}
	s, err := sizes(shape)
	if err != nil {
		return nil, err
	}
	var p factors
	var inner int
	p.m, p.k = turned(s, ta)
	inner, p.n = turned(b.Shape(), tb)
	if p.k != inner {
		return nil, invalid("Cannot multiply A and B because inner dimension does not match: %d vs. %d.  Did you forget a transpose?  Dimensions of A: [%d, %d).  Dimensions of B: %s",
			p.k, inner, s[0], s[1], b.Shape().String())
	}
	where, err := at.Ints()
	if err != nil {
		return nil, err
	}
	return &p, p.place(where, ta)
}

// place sets the rows and columns of values.
func (p *factors) place(where []int, transposed bool) error {
	p.rows, p.columns = core.Make[int](len(where)/2), core.Make[int](len(where)/2)
	left, right := 0, 1
	if transposed {
		left, right = 1, 0
	}
	for i := 0; i < len(where); i += 2 {
		m, k := where[i+left], where[i+right]
		if k < 0 || k >= p.k {
			return invalid("k (%d) from index[%d,%d] out of bounds (>=%d)", k, i/2, right, p.k)
		}
		if m < 0 || m >= p.m {
			return invalid("m (%d) from index[%d,%d] out of bounds (>=%d)", m, i/2, left, p.m)
		}
		p.rows[i/2], p.columns[i/2] = m, k
	}
	return nil
}

func checkProduct(at, vals, shape, b *core.Tensor) error {
	switch {
	case b.Rank() != 2:
		return invalid("Tensor 'b' is not a matrix")
	case shape.Rank() != 1:
		return invalid("Tensor 'a_shape' is not a vector")
	case shape.Len() != 2:
		return invalid("Tensor 'a_shape' must have 2 elements")
	case vals.Rank() != 1:
		return invalid("Tensor 'a_values' is not a vector")
	case at.Rank() != 2:
		return invalid("Tensor 'a_indices' is not a matrix")
	case at.Dim(0) != vals.Len():
		return invalid("Number of rows of a_indices does not match number of entries in a_values")
	case at.Dim(1) != shape.Len():
		return invalid("Number of columns of a_indices does not match number of entries in a_shape")
	}
	return nil
}

func matMulShape(c *core.Infer) error {
	a, err := c.Rank(0, 2)
	if err != nil {
		return err
	}
	b, err := c.Rank(1, 2)
	if err != nil {
		return err
	}
	m, inner := turned(a, c.Bool("transpose_a"))
	other, n := turned(b, c.Bool("transpose_b"))
	c.Set(0, tf.Shape{m, n})
	_, err = mergeDim(inner, other)
	return err
}

// matMulGrad multiplies in the same way; only an operand on the right is
// transposed, by an operation of its own, as TensorFlow does.
func matMulGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	ta, tb := op.Bool("transpose_a"), op.Bool("transpose_b")
	as, bs := op.Bool("a_is_sparse"), op.Bool("b_is_sparse")
	a, b := op.Input(0), op.Input(1)
	times := func(x, y tf.Output, o MatMulOpts, d tf.DType) tf.Output {
		return castTo(SparseMatMul(x, y, o), d)
	}
	var da, db tf.Output
	if ta {
		da = times(b, dy[0], MatMulOpts{TransposeA: tb, TransposeB: true, ASparse: bs}, a.DType())
	} else {
		da = times(dy[0], b, MatMulOpts{TransposeB: !tb, BSparse: bs}, a.DType())
	}
	if tb {
		db = times(dy[0], a, MatMulOpts{TransposeA: true, TransposeB: ta, BSparse: as}, b.DType())
	} else {
		db = times(a, dy[0], MatMulOpts{TransposeA: !ta, ASparse: as}, b.DType())
	}
	return tf.Grads(da, db)
}

func castTo(x tf.Output, d tf.DType) tf.Output {
	if x.DType() == d {
		return x
	}
	return ops.Cast(x, d)
}

func matMul(n *core.Node) (core.Kernel, error) {
	ta, tb := n.Bool("transpose_a"), n.Bool("transpose_b")
	return core.Compute(func(c *core.OpContext) error {
		a, b := c.Input(0), c.Input(1)
		switch {
		case a.Rank() != 2:
			return invalid("a is not a matrix")
		case b.Rank() != 2:
			return invalid("b is not a matrix")
		}
		m, k := turned(a.Shape(), ta)
		inner, n := turned(b.Shape(), tb)
		if k != inner {
			return invalid("Matrix size incompatible: a: %s, b: %s", a.Shape().String(), b.Shape().String())
		}
		out, err := c.Alloc(0, tf.Float32, tf.Shape{m, n})
		if err != nil {
			return err
		}
		gemm.MatMul(c.ParallelFor, gemm.NewGemm(m, n, k, ta, tb), core.Data[float32](out), values[float32](a), values[float32](b), gemm.Epilogue[float32]{})
		return nil
	}), nil
}

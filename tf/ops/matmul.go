package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "MatMul", Traits: core.MatrixProduct, In: "a: T; b: T", Out: "product: T",
		Attrs: "transpose_a: bool = false; transpose_b: bool = false; T: {" + floatTypes + ", int32, int64, " + unsignedTypes + ", " + complexTypes +
			"}; grad_a: bool = false; grad_b: bool = false",
		Shape: matMulShape, Expensive: true, Grad: tf.GradFunc(matMulGrad),
		Kernels: core.ByType("T", byType{
			tf.Float32: matMul[float32], tf.Float64: matMul[float64], tf.Float16: halfMatMul[tf.Half], tf.BFloat16: halfMatMul[tf.BF16],
			tf.Int32: matMul[int32], tf.Int64: matMul[int64], tf.Complex64: matMul[complex64], tf.Complex128: matMul[complex128],
		}),
	})
}

// MatMulOpts are the optional attributes of MatMul.
type MatMulOpts struct {
	TransposeA, TransposeB bool
	// GradA and GradB mark the products that are gradients.
	GradA, GradB bool
}

// Apply sets the attributes.
func (o MatMulOpts) Apply(s *tf.Spec) {
	s.Set("transpose_a", o.TransposeA)
	s.Set("transpose_b", o.TransposeB)
	s.Set("grad_a", o.GradA)
	s.Set("grad_b", o.GradB)
}

// MatMul returns the product of matrices a, of shape [m k], and b, of shape
// [k n], each transposed first if so asked. See BatchMatMulV2 for stacks of
// matrices. Its options are [MatMulOpts]. The result is [m n]; with k = 0 it
// holds zeros. Both have one type: floating-point numbers (float16, bfloat16,
// float32, float64), int32, int64 or complex numbers. float16 and bfloat16
// are added up in float32 and rounded once. Other ranks and inner sizes that
// differ are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step.
func MatMul(a, b tf.Output, opts ...tf.Option) tf.Output { return apply("MatMul", opts, a, b) }

func matMulShape(c *core.Infer) error {
	a, err := c.Rank(0, 2)
	if err != nil {
		return err
	}
	b, err := c.Rank(1, 2)
	if err != nil {
		return err
	}
	m, ka := matrixSizes(a, c.Bool("transpose_a"))
	kb, n := matrixSizes(b, c.Bool("transpose_b"))
	if ka >= 0 && kb >= 0 && ka != kb {
		return tf.Errorf(tf.InvalidArgument, "Dimensions must be equal: inner dimensions %d and %d differ", ka, kb)
	}
	c.Set(0, tf.Shape{m, n})
	return nil
}

// matrixSizes returns the rows and columns of the last two dimensions of s.
func matrixSizes(s tf.Shape, transposed bool) (rows, cols int) {
	rows, cols = s[len(s)-2], s[len(s)-1]
	if transposed {
		return cols, rows
	}
	return rows, cols
}

// matMulArgs checks the operands of a MatMul and describes the product.
func matMulArgs(c *core.OpContext, ta, tb bool) (gemm.Gemm, error) {
	a, b := c.Input(0).Shape(), c.Input(1).Shape()
	for i, s := range []tf.Shape{a, b} {
		if len(s) != 2 {
			return gemm.Gemm{}, tf.Errorf(tf.InvalidArgument, "In[%d] ndims must be >= 2", i)
		}
	}
	m, ka := matrixSizes(a, ta)
	kb, n := matrixSizes(b, tb)
	if ka != kb {
		return gemm.Gemm{}, tf.Errorf(tf.InvalidArgument, "Matrix size-incompatible: In[0]: %s, In[1]: %s", a.String(), b.String())
	}
	return gemm.NewGemm(m, n, ka, ta, tb), nil
}

func matMul[T interface {
	numeric.Number
	tf.Elem
}](n *core.Node) (core.Kernel, error) {
	ta, tb := n.Bool("transpose_a"), n.Bool("transpose_b")
	multiply := func(c *core.OpContext, g gemm.Gemm, z *core.Tensor, e gemm.Epilogue[T]) {
		gemm.MatMul(c.Par(), g, core.Data[T](z), core.Data[T](c.Input(0)), core.Data[T](c.Input(1)), e)
	}
	return &core.PartsKernel{
		Compute: func(c *core.OpContext) error {
			g, err := matMulArgs(c, ta, tb)
			if err != nil {
				return err
			}
			out, err := c.Alloc(0, c.Input(0).DType(), tf.Shape{g.M, g.N})
			if err != nil {
				return err
			}
			multiply(c, g, out, gemm.Epilogue[T]{})
			return nil
		},
		Shape: func(c *core.OpContext) (core.Shape, error) {
			g, err := matMulArgs(c, ta, tb)
			return core.Shape{g.M, g.N}, err
		},
		Into: func(c *core.OpContext, z *core.Tensor, done func(lo, hi int)) {
			if g, err := matMulArgs(c, ta, tb); err == nil {
				multiply(c, g, z, gemm.Epilogue[T]{Done: done})
			}
		},
	}, nil
}

// halfMatMul multiplies in float32 and rounds the result once.
func halfMatMul[H interface {
	numeric.HalfFloat
	tf.Elem
}](n *core.Node) (core.Kernel, error) {
	ta, tb := n.Bool("transpose_a"), n.Bool("transpose_b")
	return core.Compute(func(c *core.OpContext) error {
		g, err := matMulArgs(c, ta, tb)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, c.Input(0).DType(), tf.Shape{g.M, g.N})
		if err != nil {
			return err
		}
		z := core.Borrow[float32](c, out.Len())
		gemm.MatMul(c.ParallelFor, g, z, wide[H](c, c.Input(0)), wide[H](c, c.Input(1)), gemm.Epilogue[float32]{})
		elementwise.Narrow(core.Data[H](out), z)
		return nil
	}), nil
}

// wide returns the elements of t as float32, in borrowed memory.
func wide[H interface {
	numeric.HalfFloat
	tf.Elem
}](c *core.OpContext, t *core.Tensor) []float32 {
	out := core.Borrow[float32](c, t.Len())
	elementwise.Widen(out, core.Data[H](t))
	return out
}

// matMulGrad transposes the operands so that no gradient has to be transposed
// itself.
func matMulGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	ta, tb := op.Bool("transpose_a"), op.Bool("transpose_b")
	a, b, dz := conj(op.Input(0)), conj(op.Input(1)), dy[0]
	var da, db tf.Output
	if ta {
		da = MatMul(b, dz, MatMulOpts{TransposeA: tb, TransposeB: true, GradA: true})
	} else {
		da = MatMul(dz, b, MatMulOpts{TransposeB: !tb, GradA: true})
	}
	if tb {
		db = MatMul(dz, a, MatMulOpts{TransposeA: true, TransposeB: ta, GradB: true})
	} else {
		db = MatMul(a, dz, MatMulOpts{TransposeA: !ta, GradB: true})
	}
	return tf.Grads(da, db)
}

package quantize

import (
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "QuantizedMatMul", In: "a: T1; b: T2; min_a: float; max_a: float; min_b: float; max_b: float", Out: "out: Toutput; min_out: float; max_out: float",
		Attrs: "T1: " + quantizedTypes + "; T2: " + quantizedTypes + "; Toutput: " + quantizedTypes + " = DT_QINT32; " +
			"transpose_a: bool = false; transpose_b: bool = false; Tactivation: " + quantizedTypes + " = DT_QUINT8",
		Shape: withSpan(2, shapeOf("MatMul")), Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T1", byType{tf.QUint8: only(quantizedMatMul, map[string]tf.DType{"T2": tf.QUint8, "Toutput": tf.QInt32})}),
	})
}

// QuantizedMatMul returns the product of matrices of 8 bits without sign, in
// 32 bits. Attributes transpose_a and transpose_b are those of MatMul. Values
// that are not quint8 are refused with NOT_FOUND in the step, the result is
// qint32. Factors that are no matrices or do not fit, bounds that are no
// scalars, and ranges without width are refused with INVALID_ARGUMENT in the
// step, shapes when the graph is built if they are known.
func QuantizedMatMul(a, b Quantized, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedMatMul", opts, a.Values, b.Values, a.Min, a.Max, b.Min, b.Max)
}

// matrices describes the product of two inputs.
type matrices struct{ transA, transB bool }

func matricesOf(n *core.Node) matrices { return matrices{n.Bool("transpose_a"), n.Bool("transpose_b")} }

// product checks matrices of these shapes.
func (m matrices) product(a, b tf.Shape) (gemm.Gemm, error) {
	switch {
	case len(a) != 2:
		return gemm.Gemm{}, invalid("In[0] is not a matrix")
	case len(b) != 2:
		return gemm.Gemm{}, invalid("In[1] is not a matrix")
	}
	rows, k := a[0], a[1]
	if m.transA {
		rows, k = k, rows
	}
	depth, columns := b[0], b[1]
	if m.transB {
		depth, columns = columns, depth
	}
	if k != depth {
		return gemm.Gemm{}, invalid("Matrix size-incompatible: In[0]: %s, In[1]: %s", a.String(), b.String())
	}
	return gemm.NewGemm(rows, columns, k, m.transA, m.transB), nil
}

func quantizedMatMul(n *core.Node) (core.Kernel, error) {
	m := matricesOf(n)
	return core.Compute(func(c *core.OpContext) error {
		if err := checkFactorSpans(c); err != nil {
			return err
		}
		a, b := c.Input(0), c.Input(1)
		spanA, spanB := spanAt(c, 2), spanAt(c, 4)
		g, err := m.product(a.Shape(), b.Shape())
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.QInt32, tf.Shape{g.M, g.N})
		if err != nil {
			return err
		}
		gemm.MatMul8(c.ParallelFor, g, core.Data[int32](out), bytesAt[uint8](a, spanA), bytesAt[uint8](b, spanB))
		return setSpan(c, productSpan(level[uint8](spanA), level[uint8](spanB)))
	}), nil
}

// checkFactorSpans checks the ranges of two matrices.
func checkFactorSpans(c *core.OpContext) error {
	for i, name := range []string{"min_a", "max_a", "min_b", "max_b"} {
		if t := c.Input(2 + i); t.Len() != 1 || i == 0 && t.Rank() != 0 {
			return invalid("%s must be a scalar, but got shape%s", name, t.Shape().String())
		}
	}
	for i, name := range []string{"a", "b"} {
		if r := spanAt(c, 2+2*i); !(r.hi > r.lo) {
			return invalid("max_%s must be larger than min_%s.", name, name)
		}
	}
	return nil
}

// bytesAt returns the elements of t, of range r, as distances from the number
// that stands for 0.
func bytesAt[Q gemm.Byte](t *core.Tensor, r span) gemm.Bytes[Q] {
	return gemm.Bytes[Q]{Data: core.Data[Q](t), Zero: int32(unbounded[Q](0, r))}
}

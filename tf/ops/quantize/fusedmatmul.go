package quantize

import (
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A matMulFusion is an op that multiplies matrices of 8 bits, adds biases and
// does more to the result. TensorFlow has oneDNN compute it.
type matMulFusion struct {
	name    string
	relu    bool
	anyBias bool // float32 or whole numbers
	out     tf.DType
}

func init() {
	for _, f := range []matMulFusion{
		{"QuantizedMatMulWithBias", false, true, tf.QInt32},
		{"QuantizedMatMulWithBiasAndRelu", true, false, tf.QInt32},
		{"QuantizedMatMulWithBiasAndRequantize", false, true, tf.QUint8},
		{"QuantizedMatMulWithBiasAndReluAndRequantize", true, true, tf.QUint8},
		{"QuantizedMatMulWithBiasAndDequantize", false, true, tf.Float32},
	} {
		core.Register(core.OpDef{
			Name: f.name, In: f.inputs(), Out: f.outputs(), Attrs: f.attrs(), Shape: f.shape, Expensive: true, NoGrad: core.NoGradientDefined,
			Kernels: core.ByType("T1", byType{tf.QUint8: only(f.kernel, map[string]tf.DType{"T2": tf.QInt8, "Toutput": f.out})}),
		})
	}
}

// QuantizedMatMulWith returns the product of a, of 8 bits without sign, and b,
// of 8 bits with sign and 0 in the middle of its range, plus biases, and what
// is then done to the sums. The op is the one of TensorFlow's whose name lists
// that, as QuantizedMatMulWithBiasAndRelu. Other types are refused with
// NOT_FOUND in the step; a bias without an element for each column, and
// factors that are no matrices or do not fit, with INVALID_ARGUMENT.
func QuantizedMatMulWith(a, b Quantized, then Then, opts ...tf.Option) Quantized {
	in := append([]tf.Output{a.Values, b.Values}, then.inputs(a.Min, a.Max, b.Min, b.Max)...)
	return quantizedOf(then.name("QuantizedMatMul"), opts, in...)
}

// QuantizedMatMulWithBiasAndDequantize is QuantizedMatMulWith whose result is
// float32. Attribute input_quant_mode tells whether a has 0 in the middle of
// its range (Scaled) or its minimum first (MinFirst). Types of a and b and
// errors are those of QuantizedMatMulWith.
func QuantizedMatMulWithBiasAndDequantize(a, b Quantized, then Then, opts ...tf.Option) tf.Output {
	in := append([]tf.Output{a.Values, b.Values}, then.inputs(a.Min, a.Max, b.Min, b.Max)...)
	return apply("QuantizedMatMulWithBiasAndDequantize", tf.Join(opts, tf.Attr("Toutput", tf.Float32)), in...)
}

// to32 reports whether the result has the range of sums.
func (f matMulFusion) to32() bool { return f.out == tf.QInt32 }

func (f matMulFusion) inputs() string {
	in := "a: T1; b: T2; bias: float"
	if f.anyBias {
		in = "a: T1; b: T2; bias: Tbias"
	}
	in += "; min_a: float; max_a: float; min_b: float; max_b: float"
	if !f.to32() {
		in += "; min_freezed_output: float; max_freezed_output: float"
	}
	return in
}

func (f matMulFusion) outputs() string {
	if f.out == tf.Float32 {
		return "out: Toutput"
	}
	return "out: Toutput; min_out: float; max_out: float"
}

func (f matMulFusion) attrs() string {
	a := "T1: " + quantizedTypes + "; T2: " + quantizedTypes + "; "
	if f.anyBias {
		a += "Tbias: {float, qint32}; "
	}
	out := map[tf.DType]string{tf.QInt32: quantizedTypes + " = DT_QINT32", tf.QUint8: quantizedTypes + " = DT_QUINT8", tf.Float32: "{float}"}[f.out]
	return a + "Toutput: " + out + "; transpose_a: bool = false; transpose_b: bool = false; input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'"
}

func (f matMulFusion) shape(c *core.Infer) error {
	if err := shapeOf("MatMul")(c); err != nil {
		return err
	}
	if _, err := c.Rank(2, 1); err != nil {
		return err
	}
	return scalarShapes(c, 3, 1)
}

// kernel makes the kernel of a node. Only what is dequantized heeds the mode of
// the input's range: TensorFlow loses the attribute where it puts oneDNN's ops
// in the place of the others.
func (f matMulFusion) kernel(n *core.Node) (core.Kernel, error) {
	m, scaled := matricesOf(n), f.out == tf.Float32 && n.Str("input_quant_mode") == Scaled
	scalars := inRank0(3, "min_a", "max_a", "min_b", "max_b")
	if !f.to32() {
		scalars.names = append(scalars.names, "min_freezed_output", "max_freezed_output")
	}
	return core.Compute(func(c *core.OpContext) error {
		a, b, bias := c.Input(0), c.Input(1), c.Input(2)
		g, err := m.product(a.Shape(), b.Shape())
		if err != nil {
			return err
		}
		if err := scalars.check(c); err != nil {
			return err
		}
		if bias.Rank() != 1 || bias.Len() != g.N {
			return invalid("bias must have an element for each of %d columns, got shape %s", g.N, bias.Shape().String())
		}
		out, err := c.Alloc(0, f.out, tf.Shape{g.M, g.N})
		if err != nil {
			return err
		}
		sums := core.Borrow[int32](c, out.Len())
		gemm.MatMul8(c.ParallelFor, g, sums, gemm.Bytes[uint8]{Data: core.Data[uint8](a)}, gemm.Bytes[int8]{Data: core.Data[int8](b)})
		finish := f.finish(c, scaled)
		finish.bias = f.biases(c, g, scaled)
		finish.into(c, out, sums, g.N)
		return f.setSpan(c)
	}), nil
}

// finish returns what becomes of the sums, but for biases.
func (f matMulFusion) finish(c *core.OpContext, scaled bool) *finish {
	a, b := spanAt(c, 3), spanAt(c, 5)
	width := a.hi - a.lo
	if scaled {
		width = a.farther()
	}
	stepA, stepB := float32(float64(width)/255), float32(float64(b.farther())/127)
	result := float32(1)
	switch f.out {
	case tf.QInt32:
		result = stepA * stepB
	case tf.QUint8:
		result = float32(float64(spanAt(c, 7).farther()) / 255)
	}
	done := newFinish(stepA, []float32{stepB}, result)
	done.relu = f.relu
	return done
}

// biases returns the biases. Where the range's minimum comes first they also
// make up for 0 not being number 0; TensorFlow does that in steps of the input
// whatever those are, and not to biases that are whole numbers.
func (f matMulFusion) biases(c *core.OpContext, g gemm.Gemm, scaled bool) []float32 {
	a, b, bias := spanAt(c, 3), spanAt(c, 5), c.Input(2)
	width := a.hi - a.lo
	switch {
	case scaled && bias.DType() == tf.QInt32:
		perUnit := 1 / float32(255*127/float64(a.hi*b.farther()))
		out := core.Make[float32](bias.Len())
		for i, v := range core.Data[int32](bias) {
			out[i] = float32(v) * perUnit
		}
		return out
	case bias.DType() == tf.QInt32:
		return biases(bias, []float32{float32(255 * 127 / float64(width*b.farther()))})
	case scaled:
		return core.Data[float32](bias)
	}
	out, zero := core.Make[float32](bias.Len()), 255*a.lo/width
	for j, sum := range columnSums(g, core.Data[int8](c.Input(1))) {
		out[j] = core.Data[float32](bias)[j] + float32(sum)*zero
	}
	return out
}

// columnSums returns the sums of the columns of b.
func columnSums(g gemm.Gemm, b []int8) []int32 {
	sums := core.Make[int32](g.N)
	for i, v := range b {
		column := i % g.LDB
		if g.TransB {
			column = i / g.LDB
		}
		sums[column] += int32(v)
	}
	return sums
}

func (f matMulFusion) setSpan(c *core.OpContext) error {
	switch f.out {
	case tf.QInt32:
		return setSpan(c, productSpan(symmetricLevel[uint8](spanAt(c, 3)), symmetricLevel[int8](spanAt(c, 5))))
	case tf.QUint8:
		return setSpan(c, spanAt(c, 7))
	}
	return nil
}

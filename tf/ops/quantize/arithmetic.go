package quantize

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const (
		in    = "x: T1; y: T2; min_x: float; max_x: float; min_y: float; max_y: float"
		out   = "z: Toutput; min_z: float; max_z: float"
		types = "T1: " + quantizedTypes + "; T2: " + quantizedTypes + "; Toutput: " + quantizedTypes + " = DT_QINT32"
	)
	bytes := map[string]tf.DType{"T2": tf.QUint8, "Toutput": tf.QInt32}
	core.Register(core.OpDef{
		Name: "QuantizedAdd", In: in, Out: out, Attrs: types, Shape: withSpan(2, core.BroadcastShape), NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T1", byType{tf.QUint8: only(quantizedBinary(sum), bytes)}),
	})
	core.Register(core.OpDef{
		Name: "QuantizedMul", In: in, Out: out, Attrs: types, Shape: productShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T1", byType{tf.QUint8: only(quantizedBinary(product), bytes)}),
	})
	core.Register(core.OpDef{
		Name: "QuantizedBiasAdd", In: "input: T1; bias: T2; min_input: float; max_input: float; min_bias: float; max_bias: float", Out: "output: out_type; min_out: float; max_out: float",
		Attrs: "T1: " + quantizedTypes + "; T2: " + quantizedTypes + "; out_type: " + quantizedTypes,
		Shape: withSpan(2, shapeOf("BiasAdd")), NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T1", byType{
			tf.QUint8: only(quantizedBias[uint8], bytesTo32("T2", tf.QUint8)),
			tf.QInt8:  only(quantizedBias[int8], bytesTo32("T2", tf.QInt8)),
		}),
	})
}

// bytesTo32 are types of an op that computes numbers of 32 bits from those of
// type d.
func bytesTo32(second string, d tf.DType) map[string]tf.DType {
	return map[string]tf.DType{second: d, "out_type": tf.QInt32}
}

// QuantizedAdd returns x + y, numbers of 8 bits without sign, in 32 bits. One
// of them may be a scalar or be repeated along its first dimensions. Values
// that are not quint8 are refused with NOT_FOUND in the step, the result is
// qint32. Shapes that do not broadcast are refused with INVALID_ARGUMENT, when
// the graph is built if they are known, else in the step. Ranges without width
// are refused with it in the step; a broadcast of another kind is refused with
// UNIMPLEMENTED.
func QuantizedAdd(x, y Quantized, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedAdd", opts, x.Values, y.Values, x.Min, x.Max, y.Min, y.Max)
}

// QuantizedMul returns x*y as QuantizedAdd does x + y. Types, shapes and
// errors are those of QuantizedAdd.
func QuantizedMul(x, y Quantized, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedMul", opts, x.Values, y.Values, x.Min, x.Max, y.Min, y.Max)
}

// QuantizedBiasAdd adds a vector to every row of x, both of 8 bits, in 32
// bits. Both are quint8 or both are qint8; others are refused with NOT_FOUND
// in the step. x has two dimensions or more, bias is a vector as long as the
// last; other shapes are refused with INVALID_ARGUMENT in the step.
func QuantizedBiasAdd(x, bias Quantized, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedBiasAdd", tf.Join(opts, tf.Attr("out_type", tf.QInt32)), x.Values, bias.Values, x.Min, x.Max, bias.Min, bias.Max)
}

// productShape says nothing of the ranges' shapes, as TensorFlow's function.
func productShape(c *core.Infer) error {
	c.Set(1, tf.Shape{})
	c.Set(2, tf.Shape{})
	return core.BroadcastShape(c)
}

// A table holds what each number of 8 bits becomes.
type table [256]int32

// A binary is an operation on two numbers, each looked up first.
type binary struct {
	scalars scalarNames
	ordered [2]string // messages for ranges without width
	empty   string    // message for an operand without elements that would be repeated
	// operand returns the table of an operand that has range own, both is the
	// union of the ranges. alone is for an operand that is one number.
	operand func(own, both span, alone bool) *table
	join    func(x, y int32) int32
	result  func(x, y, both span) span
}

var sum = binary{
	inRank0(2, "min_x", "max_x", "min_y", "max_y"),
	[2]string{"max_x must be larger than min_x.", "max_y must be larger than min_y."},
	"Must have some elements to add",
	func(own, both span, alone bool) *table {
		if alone {
			return requantizedEach(own, sumSpan(both))
		}
		return requantizedLine(own, sumSpan(both))
	},
	func(x, y int32) int32 { return x + y },
	func(_, _, both span) span { return sumSpan(both) },
}

var product = binary{
	scalarNames{2, []string{"min_x", "max_x", "min_y", "max_y"}, "%[1]s must be a scalar"},
	[2]string{"max_x must be larger than min_a.", "max_x must be larger than min_b."},
	"vector must have at least 1 element",
	func(own, _ span, _ bool) *table {
		zero, t := int32(unbounded[uint8](0, own)), new(table)
		for i := range t {
			t[i] = int32(i) - zero
		}
		return t
	},
	func(x, y int32) int32 { return x * y },
	func(x, y, _ span) span { return productSpan(level[uint8](x), level[uint8](y)) },
}

// sumSpan leaves room to add up numbers of a range.
func sumSpan(r span) span {
	most := max(abs(r.lo), abs(r.hi)) * (1 << 14)
	return span{-most, most}
}

// requantizedEach takes each number to another range by itself.
func requantizedEach(from, to span) *table {
	t := new(table)
	for i := range t {
		t[i] = quantized[int32](meaning(uint8(i), from), to)
	}
	return t
}

// requantizedLine takes two numbers to another range and continues the line
// through them.
func requantizedLine(from, to span) *table {
	first := unbounded[int32](meaning(uint8(0), from), to)
	step, t := int32(unbounded[int32](meaning(uint8(1), from), to)-first), new(table)
	for i := range t {
		t[i] = int32(min(max(first+int64(i)*int64(step), lowest64[int32]()), highest64[int32]()))
	}
	return t
}

func quantizedBinary(b binary) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			s, err := b.shape(c)
			if err != nil {
				return err
			}
			out, err := c.Alloc(0, tf.QInt32, s)
			if err != nil {
				return err
			}
			x, y := spanAt(c, 2), spanAt(c, 4)
			both := span{min(x.lo, y.lo), max(x.hi, y.hi)}
			long, short := c.Input(0), c.Input(1)
			tLong, tShort := b.tables(x, y, both, long.Len() == 1, short.Len() == 1)
			if long.Len() < short.Len() || long.Len() == 1 {
				long, short, tLong, tShort = short, long, tShort, tLong
			}
			joinRepeated(c, core.Data[int32](out), core.Data[uint8](long), core.Data[uint8](short), tLong, tShort, b.join)
			return setSpan(c, b.result(x, y, both))
		}), nil
	}
}

// tables returns those of both operands. Of two single numbers the first one is
// alone.
func (b *binary) tables(x, y, both span, oneX, oneY bool) (tx, ty *table) {
	return b.operand(x, both, oneX), b.operand(y, both, oneY && !oneX)
}

// shape checks the inputs and returns the shape of the result.
func (b *binary) shape(c *core.OpContext) (tf.Shape, error) {
	if err := b.scalars.check(c); err != nil {
		return nil, err
	}
	x, y := c.Input(0).Shape(), c.Input(1).Shape()
	out, ok := tf.BroadcastShapes(x, y)
	if !ok {
		return nil, invalid("Incompatible shapes: %s vs. %s", x.String(), y.String())
	}
	for i, text := range b.ordered {
		if r := spanAt(c, 2+2*i); !(r.hi > r.lo) {
			return nil, invalid("%s", text)
		}
	}
	if out.NumElements() == 0 && !x.Equal(y) && x.NumElements() != 1 && y.NumElements() != 1 {
		return nil, invalid("%s", b.empty)
	}
	// TensorFlow repeats the shorter operand along the longer one whatever its
	// shape is, and that is wrong for those that are refused here.
	if !repeats(out, x) || !repeats(out, y) || out.NumElements() != max(x.NumElements(), y.NumElements()) && out.NumElements() > 0 {
		return nil, tf.Errorf(tf.Unimplemented, "Broadcast between %s and %s is not supported yet.", x.String(), y.String())
	}
	return out, nil
}

// repeats reports whether shape s, repeated as a whole, fills shape out.
func repeats(out, s tf.Shape) bool {
	for len(s) > 0 && s[0] == 1 {
		s = s[1:]
	}
	return s.Equal(out[len(out)-len(s):])
}

// joinRepeated computes z from x, as long, and y, which is repeated.
func joinRepeated[Q int8 | uint8](c *core.OpContext, z []int32, x, y []Q, tx, ty *table, join func(x, y int32) int32) {
	c.ParallelFor(len(z), grain, func(lo, hi int) {
		for i := lo; i < hi; {
			from := i % len(y)
			n := min(hi-i, len(y)-from)
			for k, v := range y[from : from+n] {
				z[i+k] = join(tx[uint8(x[i+k])], ty[uint8(v)])
			}
			i += n
		}
	})
}

func quantizedBias[Q int8 | uint8](*core.Node) (core.Kernel, error) {
	scalars := inRank0(2, "min_input", "max_input", "min_bias", "max_bias")
	return core.Compute(func(c *core.OpContext) error {
		if err := scalars.check(c); err != nil {
			return err
		}
		x, bias := c.Input(0), c.Input(1)
		if err := checkBias(x.Shape(), bias.Shape()); err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.QInt32, x.Shape())
		if err != nil {
			return err
		}
		from, add := spanAt(c, 2), spanAt(c, 4)
		most := greater(from.hi, greater(-from.lo, greater(add.hi, -add.lo))) * (1 << 17)
		to := span{-most, most}
		tx, tBias := requantizedAffine[Q](from, to), requantizedAffine[Q](add, to)
		zero := quantized[int32](0, to)
		joinRepeated(c, core.Data[int32](out), core.Data[Q](x), core.Data[Q](bias), tx, tBias, func(x, y int32) int32 { return x + y + zero })
		return setSpan(c, to)
	}), nil
}

// checkBias wants a number for each element of x's last dimension.
func checkBias(x, bias tf.Shape) error {
	switch {
	case len(x) < 2:
		return invalid("Input tensor must be at least 2D: %s", x.String())
	case len(bias) != 1:
		return invalid("Biases must be 1D: %s", bias.String())
	case bias[0] != x[len(x)-1]:
		return invalid("Must provide as many biases as the last dimension of the input tensor: %s vs. %s", bias.String(), x.String())
	case bias[0] == 0:
		return invalid("Must provide at least 1 bias")
	}
	return nil
}

// requantizedAffine takes each number to another range as vector code does.
func requantizedAffine[Q int8 | uint8](from, to span) *table {
	var all [256]Q
	for i := range all {
		all[i] = Q(i)
	}
	t := new(table)
	inQuanta(t[:], all[:], affineOf[Q](from), to)
	return t
}

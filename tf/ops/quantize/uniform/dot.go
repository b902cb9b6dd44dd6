package uniform

import (
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "UniformQuantizedDot", In: "lhs: Tin; rhs: Tin; " + scalingsIn, Out: "output: Tout",
		Attrs: "Tin: {qint8}; Tout: {qint32}; " + threeLevels, Shape: dotShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("Tin", byType{tf.QInt8: dot}),
	})
	core.Register(core.OpDef{
		Name: "UniformQuantizedDotHybrid", In: "lhs: Tlhs; rhs: Trhs; rhs_scales: float; rhs_zero_points: int32", Out: "output: Tout",
		Attrs: "Tlhs: {float}; Trhs: {qint8}; Tout: {float}; " + levels("rhs_"), Shape: dotShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("Trhs", byType{tf.QInt8: dotHybrid}),
	})
}

// UniformQuantizedDot returns the product of matrices of 8 bits, in 32 bits of
// the given scales and zero points. The columns of the second matrix and of
// the product may have scales of their own. Factors that are no matrices or do
// not fit, axes other than 1, and scales that are not positive are refused
// with INVALID_ARGUMENT.
func UniformQuantizedDot(a, b Quantized, scales, zeroPoints tf.Output, by Of, opts ...tf.Option) Quantized {
	own := by.options(opts, tf.Attr("Tout", tf.QInt32))
	return Quantized{apply("UniformQuantizedDot", own, a.Values, b.Values, a.Scales, a.ZeroPoints, b.Scales, b.ZeroPoints, scales, zeroPoints), scales, zeroPoints}
}

// UniformQuantizedDotHybrid returns the product of a matrix of float32, whose
// rows it quantizes, and one of 8 bits. b is qint8, the result is float32.
// Factors that are no matrices or do not fit are refused with
// INVALID_ARGUMENT.
func UniformQuantizedDotHybrid(a tf.Output, b Quantized, by Numbers, opts ...tf.Option) tf.Output {
	return apply("UniformQuantizedDotHybrid", tf.Join(opts, tf.Attr("Tout", tf.Float32), by.of("rhs_")), a, b.Values, b.Scales, b.ZeroPoints)
}

// dotShape serves both ops: the scalings of the first operand and the result are
// only there where there are 8 inputs.
func dotShape(c *core.Infer) error {
	a, err := c.Rank(0, 2)
	if err != nil {
		return err
	}
	b, err := c.Rank(1, 2)
	if err != nil {
		return err
	}
	first := 2
	if c.NumIn() == 8 {
		first = 4
	}
	for i := 2; i < c.NumIn(); i++ {
		if err := rankAtMost(c, i, b2i(i >= first)); err != nil {
			return err
		}
	}
	if _, ok := (tf.Shape{a[1]}).Merge(tf.Shape{b[0]}); !ok {
		return invalid("Dimensions must be equal, but are %d and %d", a[1], b[0])
	}
	for i := first; i < c.NumIn(); i += 2 {
		if err := scalingShape(c, i, b[1]); err != nil {
			return err
		}
	}
	c.Set(0, tf.Shape{a[0], b[1]})
	return nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func rankAtMost(c *core.Infer, i, rank int) error {
	if s := c.In(i); len(s) > rank {
		return invalid("Shape must be at most rank %d but is rank %d", rank, len(s))
	}
	return nil
}

// scalingShape wants scales and zero points, inputs i and i+1, to be scalars, or
// vectors with an element for each of n slices.
func scalingShape(c *core.Infer, i, n int) error {
	scales, zeros := c.In(i), c.In(i+1)
	switch {
	case scales == nil || zeros == nil:
		return nil
	case len(scales) != len(zeros):
		return invalid("scales and zero_points must have same rank.")
	case len(scales) == 0:
		return nil
	}
	for _, s := range []tf.Shape{scales, zeros} {
		if _, ok := s.Merge(tf.Shape{n}); !ok {
			return invalid("Dimensions must be equal, but are %d and %d", s[0], n)
		}
	}
	return nil
}

// checkDotAxes allows the axes of a product's operands: that of columns, or
// none.
func checkDotAxes(n *core.Node) error {
	if n.Attr("lhs_quantization_axis") != nil && n.Int("lhs_quantization_axis") != -1 {
		return invalid("lhs_quantization_axis Attr must be -1 (per-tensor).")
	}
	for _, name := range []string{"rhs_quantization_axis", "output_quantization_axis"} {
		if n.Attr(name) != nil && n.Int(name) != 1 && n.Int(name) != -1 {
			return invalid("%s Attr must be 1 (per-channel) or -1 (per-tensor).", name)
		}
	}
	return nil
}

// checkDot checks the shapes of a product's operands.
func checkDot(a, b tf.Shape) error {
	switch {
	case len(a) != 2:
		return invalid("lhs rank must be 2, but given lhs shape %s", a.String())
	case len(b) != 2:
		return invalid("rhs rank must be 2, but given rhs shape %s", b.String())
	case a[1] != b[0]:
		return invalid("lhs.dim_size(1) and rhs.dim_size(0) must be equal, but given lhs shape %s and rhs shape %s", a.String(), b.String())
	}
	return nil
}

// columnsAt returns the scaling that inputs i and i+1 are, for a matrix or its
// columns.
func columnsAt(c *core.OpContext, i int, matrix tf.Shape) (scaling, error) {
	axis := 1
	if c.Input(i).Rank() == 0 {
		axis = -1
	}
	return scalingAt(c, i, matrix, axis)
}

// checkPositive refuses scales that are not above 0.
func checkPositive(c *core.OpContext, of string, i int) error {
	if !(scaling{scales: core.Data[float32](c.Input(i))}).positive() {
		return invalid("%s scales elements must be all positive.", of)
	}
	return nil
}

// checkScales checks the scales of two operands and the result, and that the
// first operand has one for all.
func checkScales(c *core.OpContext) error {
	for i, of := range []string{"lhs", "rhs", "output"} {
		if err := checkPositive(c, of, 2+2*i); err != nil {
			return err
		}
	}
	return nil
}

func checkLeft(c *core.OpContext) error {
	if scales, zeros := c.Input(2).Shape(), c.Input(3).Shape(); len(scales) != 0 || len(zeros) != 0 {
		return invalid("lhs scales/zero_points must be all scalar tensors. Given: %s%s", scales.String(), zeros.String())
	}
	return nil
}

// dotArgs checks the inputs of UniformQuantizedDot.
func dotArgs(c *core.OpContext) (right, out scaling, err error) {
	a, b := c.Input(0).Shape(), c.Input(1).Shape()
	if err = checkScales(c); err != nil {
		return right, out, err
	}
	if err = checkDot(a, b); err != nil {
		return right, out, err
	}
	if err = checkLeft(c); err != nil {
		return right, out, err
	}
	if right, err = columnsAt(c, 4, b); err != nil {
		return right, out, err
	}
	if out, err = columnsAt(c, 6, tf.Shape{a[0], b[1]}); err != nil {
		return right, out, err
	}
	if len(right.shape) == 0 && len(out.shape) > 0 {
		return right, out, invalid("If rhs is per-tensor quantized, output must be also per-tensor quantized. Given rhs scales and zero_points of shape %s but given output scales and zero_points of shape %s", right.shape.String(), out.shape.String())
	}
	return right, out, nil
}

func dot(n *core.Node) (core.Kernel, error) {
	if err := checkDotAxes(n); err != nil {
		return nil, err
	}
	least, most := bounds(n, "output_")
	return core.Compute(func(c *core.OpContext) error {
		right, to, err := dotArgs(c)
		if err != nil {
			return err
		}
		left := scalingOf(c, 2)
		columns := c.Input(1).Shape()[1]
		by, err := rescalings(columns, left.scale(0), right, to, least, most)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.QInt32, tf.Shape{c.Input(0).Shape()[0], columns})
		if err != nil {
			return err
		}
		y := core.Data[int32](out)
		for i, sum := range dotSums(c, core.Data[int8](c.Input(0)), same(left.zero(0)), right) {
			y[i] = by[i%columns].of(sum)
		}
		return nil
	}), nil
}

// dotSums returns the sums of products of a and the matrix in input 1.
func dotSums(c *core.OpContext, a []int8, zeroA func(int) int32, right scaling) []int32 {
	s := c.Input(1).Shape()
	b := core.Make[int8](len(core.Data[int8](c.Input(1))))
	layout.TransposeNumbers(c.ParallelFor, layout.NewTransposition(s, []int{1, 0}), b, core.Data[int8](c.Input(1)))
	f := factored{a: a, b: b, rows: c.Input(0).Shape()[0], n: s[1], k: s[0], zeroA: zeroA, zeroB: right.zero}
	return f.sums(c.ParallelFor)
}

func dotHybrid(n *core.Node) (core.Kernel, error) {
	if err := checkDotAxes(n); err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		a, b := c.Input(0).Shape(), c.Input(1).Shape()
		if err := checkDot(a, b); err != nil {
			return err
		}
		right, err := columnsAt(c, 2, b)
		if err != nil {
			return err
		}
		if err := checkPositive(c, "rhs", 2); err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.Float32, tf.Shape{a[0], b[1]})
		if err != nil {
			return err
		}
		x, left := quantizedLines(core.Data[float32](c.Input(0)), a[0])
		y := core.Data[float32](out)
		for i, sum := range dotSums(c, x, left.zero, right) {
			y[i] = float32(sum) * left.scale(i/b[1]) * right.scale(i%b[1])
		}
		return nil
	}), nil
}

// quantizedLines quantizes lines of numbers, each by itself.
func quantizedLines(x []float32, lines int) ([]int8, scaling) {
	y, n := core.Make[int8](len(x)), len(x)/max(1, lines)
	s := scaling{core.Make[float32](lines), core.Make[int32](lines), tf.Shape{lines}}
	for i := range lines {
		s.scales[i], s.zeros[i] = quantizeLine(y[i*n:(i+1)*n], x[i*n:(i+1)*n])
	}
	return y, s
}

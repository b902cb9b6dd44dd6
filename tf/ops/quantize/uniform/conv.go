package uniform

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const window = "; window_strides: list(int) = []; padding: string; explicit_padding: list(int) = []; lhs_dilation: list(int) = []; rhs_dilation: list(int) = []; " +
		"batch_group_count: int = 1; feature_group_count: int = 1; dimension_numbers: string = ''; "
	core.Register(core.OpDef{
		Name: "UniformQuantizedConvolution", In: "lhs: Tin; rhs: Tin; " + scalingsIn, Out: "output: Tout",
		Attrs: "Tin: {qint8}; Tout: {qint32}" + window + threeLevels, Shape: convShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("Tin", byType{tf.QInt8: convolution}),
	})
	core.Register(core.OpDef{
		Name: "UniformQuantizedConvolutionHybrid", In: "lhs: Tlhs; rhs: Trhs; rhs_scales: float; rhs_zero_points: int32", Out: "output: Tout",
		Attrs: "Tlhs: {float}; Trhs: {qint8}; Tout: {float}" + window + levels("rhs_"), Shape: convShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("Trhs", byType{tf.QInt8: convolutionHybrid}),
	})
}

// ConvOpts are the attributes of a convolution beside its padding, as XLA has
// them.
type ConvOpts struct {
	Strides                    []int
	ImageDilation, FilterHoles []int // how far apart elements are
	Padding                    []int // for padding EXPLICIT: before and after each dimension
	Dimensions                 Dimensions
	BatchGroups, FeatureGroups int // 0 stands for 1
}

// Apply sets the attributes.
func (o ConvOpts) Apply(s *tf.Spec) {
	for name, v := range map[string][]int{"window_strides": o.Strides, "lhs_dilation": o.ImageDilation, "rhs_dilation": o.FilterHoles, "explicit_padding": o.Padding} {
		if v != nil {
			s.Set(name, v)
		}
	}
	if len(o.Dimensions.InputSpatial) > 0 {
		s.Set("dimension_numbers", o.Dimensions.Marshal())
	}
	s.Set("batch_group_count", max(1, o.BatchGroups))
	s.Set("feature_group_count", max(1, o.FeatureGroups))
}

// UniformQuantizedConvolution returns images of 8 bits convolved with filters
// of 8 bits, in 32 bits of the given scales and zero points. The outputs of
// filters and the features of the result may have scales of their own. Images
// and filters have one number of dimensions, three at least. Other shapes,
// groups that do not divide the features, windows and paddings that are not
// valid, and scales that do not fit are refused with INVALID_ARGUMENT.
// Its options are [ConvOpts].
func UniformQuantizedConvolution(x, filters Quantized, scales, zeroPoints tf.Output, padding string, by Of, opts ...tf.Option) Quantized {
	own := by.options(opts, tf.Attr("Tout", tf.QInt32), tf.Attr("padding", padding))
	return Quantized{apply("UniformQuantizedConvolution", own, x.Values, filters.Values, x.Scales, x.ZeroPoints, filters.Scales, filters.ZeroPoints, scales, zeroPoints), scales, zeroPoints}
}

// UniformQuantizedConvolutionHybrid returns images of float32, each of which
// it quantizes, convolved with filters of 8 bits. Errors are those of
// UniformQuantizedConvolution. Its options are [ConvOpts].
func UniformQuantizedConvolutionHybrid(x tf.Output, filters Quantized, padding string, by Numbers, opts ...tf.Option) tf.Output {
	own := []tf.Option{tf.Attr("Tout", tf.Float32), tf.Attr("padding", padding), by.of("rhs_")}
	return apply("UniformQuantizedConvolutionHybrid", tf.Join(opts, own...), x, filters.Values, filters.Scales, filters.ZeroPoints)
}

// convShape serves both ops, as dotShape does.
func convShape(c *core.Infer) error {
	first := 2
	if c.NumIn() == 8 {
		first = 4
	}
	for i := 2; i < c.NumIn(); i++ {
		if err := rankAtMost(c, i, b2i(i >= first)); err != nil {
			return err
		}
	}
	x, w := c.In(0), c.In(1)
	for _, s := range []tf.Shape{x, w} {
		if s != nil && len(s) < 2 {
			return invalid("Shape must be at least rank 2 but is rank %d", len(s))
		}
	}
	switch {
	case x == nil && w == nil:
		return nil
	case x != nil && w != nil && len(x) != len(w):
		return invalid("lhs and rhs must have same rank.")
	case !x.Known() || !w.Known():
		c.Set(0, unknown(max(len(x), len(w))))
		return nil
	}
	return knownConvShape(c, first)
}

// unknown returns a shape of this rank.
func unknown(rank int) tf.Shape {
	s := make(tf.Shape, rank)
	for i := range s {
		s[i] = -1
	}
	return s
}

func knownConvShape(c *core.Infer, first int) error {
	a, err := convAttrsOf(c.Node)
	if err != nil {
		return err
	}
	g, err := a.geometry(c.In(0), c.In(1))
	if err != nil {
		return err
	}
	for i := first; i < c.NumIn(); i += 2 {
		if err := scalingShape(c, i, g.w[0]); err != nil {
			return err
		}
	}
	c.Set(0, g.out.back(g.y))
	return nil
}

// A convolver is a node's attributes.
type convolver struct {
	*convAttrs
	filterAxis, outAxis int
	least, most         int32
}

func convolverOf(n *core.Node) (*convolver, error) {
	a, err := convAttrsOf(n)
	if err != nil {
		return nil, err
	}
	if n.Attr("lhs_quantization_axis") != nil && n.Int("lhs_quantization_axis") != -1 {
		return nil, invalid("lhs_quantization_axis Attr must be -1 (per-tensor).")
	}
	v := &convolver{convAttrs: a, filterAxis: n.Int("rhs_quantization_axis"), outAxis: n.Int("output_quantization_axis")}
	v.least, v.most = bounds(n, "output_")
	return v, nil
}

// filters returns the scaling that inputs i and i+1 are.
func (v *convolver) filters(c *core.OpContext, i int, g *geometry) (scaling, error) {
	if v.filterAxis != -1 && v.filterAxis != g.filters[0] {
		return scaling{}, invalid("rhs_quantization_axis Attr must be -1 (per-tensor) or dimension_numbers.kernel_output_feature_dimension (per-channel).")
	}
	return scalingAt(c, i, c.Input(1).Shape(), v.filterAxis)
}

// results returns the scaling of the result.
func (v *convolver) results(c *core.OpContext, g *geometry, right scaling) (scaling, error) {
	if v.outAxis != -1 && v.outAxis != g.out[1] {
		return scaling{}, invalid("output_quantization_axis Attr must be -1 (per-tensor) or dimension_numbers.output_feature_dimension (per-channel).")
	}
	to, err := scalingAt(c, 6, g.out.back(g.y), v.outAxis)
	if err == nil && len(right.shape) == 0 && len(to.shape) > 0 {
		err = invalid("If rhs is per-tensor quantized, output must be also per-tensor quantized. Given output scales/zero_points of rank %d", len(to.shape))
	}
	return to, err
}

// plan checks the inputs of UniformQuantizedConvolution.
func (v *convolver) plan(c *core.OpContext) (g *geometry, right, to scaling, err error) {
	if err = checkScales(c); err != nil {
		return nil, right, to, err
	}
	if g, err = v.geometry(c.Input(0).Shape(), c.Input(1).Shape()); err != nil {
		return nil, right, to, err
	}
	if err = checkLeft(c); err != nil {
		return nil, right, to, err
	}
	if right, err = v.filters(c, 4, g); err != nil {
		return nil, right, to, err
	}
	to, err = v.results(c, g, right)
	return g, right, to, err
}

func convolution(n *core.Node) (core.Kernel, error) {
	v, err := convolverOf(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		g, right, to, err := v.plan(c)
		if err != nil {
			return err
		}
		left := scalingOf(c, 2)
		by, err := rescalings(g.y[1], left.scale(0), right, to, v.least, v.most)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.QInt32, g.out.back(g.y))
		if err != nil {
			return err
		}
		x := inOrder(c, g.images, c.Input(0).Shape(), core.Data[int8](c.Input(0)))
		filters := inOrder(c, g.filters, c.Input(1).Shape(), core.Data[int8](c.Input(1)))
		results(c, g, core.Data[int32](out), func(y []int32) {
			g.convolve(c, x, filters, left.zero, right.zero, func(at, _, feature int, sum int32) { y[at] = by[feature].of(sum) })
		})
		return nil
	}), nil
}

func convolutionHybrid(n *core.Node) (core.Kernel, error) {
	v, err := convolverOf(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		if err := checkPositive(c, "rhs", 2); err != nil {
			return err
		}
		g, err := v.geometry(c.Input(0).Shape(), c.Input(1).Shape())
		if err != nil {
			return err
		}
		right, err := v.filters(c, 2, g)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.Float32, g.out.back(g.y))
		if err != nil {
			return err
		}
		x, left := quantizedLines(inOrder(c, g.images, c.Input(0).Shape(), core.Data[float32](c.Input(0))), g.x[0])
		filters := inOrder(c, g.filters, c.Input(1).Shape(), core.Data[int8](c.Input(1)))
		results(c, g, core.Data[float32](out), func(y []float32) {
			g.convolve(c, x, filters, left.zero, right.zero, func(at, image, feature int, sum int32) {
				y[at] = float32(sum) * left.scale(image) * right.scale(feature)
			})
		})
		return nil
	}), nil
}

// inOrder returns the elements of a tensor with its dimensions in the order of
// the layout.
func inOrder[T numeric.Number](c *core.OpContext, l dimensionOrder, s tf.Shape, x []T) []T {
	y := core.Make[T](len(x))
	layout.TransposeNumbers(c.ParallelFor, layout.NewTransposition(s, l), y, x)
	return y
}

// results has compute write what is moved to y's order of dimensions.
func results[T numeric.Number](c *core.OpContext, g *geometry, y []T, compute func(y []T)) {
	own := core.Make[T](len(y))
	compute(own)
	layout.TransposeNumbers(c.ParallelFor, layout.NewTransposition(g.y, g.out.inverse()), y, own)
}

// convolve calls set for each result: its place, the image it is of, its feature
// and the sum.
func (g *geometry) convolve(c *core.OpContext, x, filters []int8, zeroX, zeroW func(int) int32, set func(at, image, feature int, sum int32)) {
	if slices.Contains(g.y, 0) { // there may be places for any number of positions then
		return
	}
	places, rows, k := g.places(), g.positions(), g.taps()
	outputs := g.y[1]
	block := gcd(outputs/g.groups, outputs/g.batchGroups)
	patches := core.Make[int8](rows * k)
	for image := range g.y[0] {
		for first := 0; first < outputs; first += block {
			source := first/(outputs/g.batchGroups)*g.y[0] + image
			g.gather(patches, x, places, source, first/(outputs/g.groups), int8(zeroX(source)))
			f := factored{a: patches, b: filters[first*k : (first+block)*k], rows: rows, n: block, k: k, zeroA: same(zeroX(source)), zeroB: func(j int) int32 { return zeroW(first + j) }}
			for i, sum := range f.sums(c.ParallelFor) {
				feature := first + i%block
				set((image*outputs+feature)*rows+i/block, source, feature, sum)
			}
		}
	}
}

// gather sets patches to what each window covers of an image's group of
// features, and to pad outside of the image.
func (g *geometry) gather(patches, x []int8, places []int, image, group int, pad int8) {
	pixels, taps := g.x[2:].NumElements(), g.w[2:].NumElements()
	inputs := g.w[1]
	for row := range g.positions() {
		for in := range inputs {
			feature := x[(image*g.x[1]+group*inputs+in)*pixels:][:pixels]
			to := patches[(row*inputs+in)*taps:][:taps]
			for i, p := range places[row*taps : (row+1)*taps] {
				if to[i] = pad; p >= 0 {
					to[i] = feature[p]
				}
			}
		}
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

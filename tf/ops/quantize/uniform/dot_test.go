package uniform_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/quantize/uniform"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addDot()
	addDotHybrid()
	addConvolution()
	addConvolutionHybrid()
}

// two makes the function of an op of two quantized operands.
func two(f func(x, y uniform.Quantized, scales, zeros tf.Output) uniform.Quantized) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		x, y := uniform.Quantized{Values: in[0], Scales: in[2], ZeroPoints: in[3]}, uniform.Quantized{Values: in[1], Scales: in[4], ZeroPoints: in[5]}
		return []tf.Output{f(x, y, in[6], in[7]).Values}
	}
}

func addDot() {
	const op = "UniformQuantizedDot"
	f := func(right, out numbers) function {
		return two(func(x, y uniform.Quantized, scales, zeros tf.Output) uniform.Quantized {
			return uniform.UniformQuantizedDot(x, y, scales, zeros, uniform.Of{Left: whole, Right: right, Out: out})
		})
	}
	x, y := spread(tf.QInt8, 3, 5), spread(tf.QInt8, 5, 2)
	in := tensors{x, y, scale(0.5), zero(3), scale(0.25), zero(-7), scale(1.5), zero(11)}
	columns, axis, out := tensors{vec(0.25, 2), zeros(-7, 5)}, along(whole, 1), numbers{Min: -10000, Max: 30000}
	optest.Add(
		of(op, "", in, f(whole, wide)), of(op, "bounded", in, f(whole, out)),
		of(op, "none", tensors{spread(tf.QInt8, 3, 0), spread(tf.QInt8, 0, 2), scale(0.5), zero(3), scale(0.25), zero(-7), scale(1.5), zero(11)}, f(whole, wide)),
		of(op, "columns", append(tensors{x, y, scale(0.5), zero(3)}, columns[0], columns[1], scale(1.5), zero(11)), f(axis, wide)),
		of(op, "both", append(tensors{x, y, scale(0.5), zero(3)}, columns[0], columns[1], vec(1, 3), zeros(2, 3)), f(axis, along(wide, 1))))
	optest.Add(bad(op, f(whole, wide), in, map[string]swap{
		"cube": {0, spread(tf.QInt8, 1, 3, 5)}, "vector": {1, spread(tf.QInt8, 5)}, "depth": {1, spread(tf.QInt8, 4, 2)}, "scale": {2, scale(0)}, "right scale": {4, scale(-1)}, "out scale": {6, scale(0)},
		"zeros": {3, zeros(1)}, "right zeros": {5, zeros(1)}, "out zeros": {7, zeros(1)},
	})...)
	optest.Add(optest.Failing(op, "out", f(whole, wide), append(in[:6:6], vec(1, 3), zeros(2, 3))...), optest.Failing(op, "infinite", f(whole, wide), append(in[:2:2], scale(float32(math.Inf(1))), zero(0), scale(1), zero(0), scale(1), zero(0))...))
}

func addDotHybrid() {
	const op = "UniformQuantizedDotHybrid"
	f := func(n numbers) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{uniform.UniformQuantizedDotHybrid(in[0], uniform.Quantized{Values: in[1], Scales: in[2], ZeroPoints: in[3]}, n)}
		}
	}
	y := spread(tf.QInt8, 5, 2)
	for name, x := range map[string]*core.Tensor{"": optest.Within(-3, 4, 3, 5), "above": optest.Within(2, 4, 3, 5), "below": optest.Within(-4, -2, 3, 5), "zero": core.NewTensor(tf.Float32, tf.Shape{2, 5})} {
		optest.Add(of(op, name, tensors{x, y, scale(0.5), zero(3)}, f(whole)), of(op, name+" columns", tensors{x, y, vec(0.5, 2), zeros(3, -9)}, f(along(whole, 1))))
	}
	optest.Add(bad(op, f(whole), tensors{optest.Within(-3, 4, 3, 5), y, scale(0.5), zero(3)}, map[string]swap{
		"cube": {0, optest.Within(0, 1, 1, 3, 5)}, "vector": {1, spread(tf.QInt8, 5)}, "depth": {1, spread(tf.QInt8, 4, 2)}, "scale": {2, scale(0)}, "zeros": {3, zeros(1)},
	})...)
}

// convCases are convolutions of every kind.
var convCases = map[string]struct {
	x, w    []int
	padding string
	o       uniform.ConvOpts
}{
	"":          {[]int{2, 3, 4, 5}, []int{4, 3, 2, 3}, "VALID", uniform.ConvOpts{}},
	"same":      {[]int{2, 2, 5, 4}, []int{2, 2, 3, 2}, "SAME", uniform.ConvOpts{Strides: []int{2, 1}}},
	"explicit":  {[]int{1, 2, 5, 4}, []int{2, 2, 3, 2}, "EXPLICIT", uniform.ConvOpts{Padding: []int{1, 0, 2, 3}}},
	"dilated":   {[]int{1, 2, 7, 4}, []int{2, 2, 3, 2}, "SAME", uniform.ConvOpts{FilterHoles: []int{2, 3}, ImageDilation: []int{1, 2}}},
	"groups":    {[]int{2, 4, 4, 4}, []int{6, 2, 2, 2}, "VALID", uniform.ConvOpts{FeatureGroups: 2}},
	"batches":   {[]int{4, 3, 4, 4}, []int{6, 3, 2, 2}, "VALID", uniform.ConvOpts{BatchGroups: 2}},
	"line":      {[]int{2, 3, 9}, []int{2, 3, 4}, "VALID", uniform.ConvOpts{Strides: []int{3}}},
	"volume":    {[]int{1, 2, 3, 4, 3}, []int{2, 2, 2, 2, 2}, "SAME", uniform.ConvOpts{}},
	"last":      {[]int{2, 4, 5, 3}, []int{2, 3, 3, 4}, "SAME", uniform.ConvOpts{Dimensions: channelsLast}},
	"not large": {[]int{1, 1, 2, 2}, []int{1, 1, 3, 3}, "VALID", uniform.ConvOpts{}},
}

// channelsLast is how TensorFlow's images and filters are.
var channelsLast = uniform.Dimensions{
	InputFeature: 3, InputSpatial: []int{1, 2}, KernelInput: 2, KernelOutput: 3, KernelSpatial: []int{0, 1}, OutputFeature: 3, OutputSpatial: []int{1, 2},
}

// outputs returns which dimension of a filter and of the result is that of the
// outputs, and their number.
func outputs(w []int, d uniform.Dimensions) (filter, result, n int) {
	if d.InputSpatial == nil {
		return 0, 1, w[0]
	}
	return d.KernelOutput, d.OutputFeature, w[d.KernelOutput]
}

// each returns n scales and zero points.
func each(n int) (scales, points *core.Tensor) {
	points = core.NewTensor(tf.Int32, tf.Shape{n})
	for i := range n {
		core.Data[int32](points)[i] = int32(5*i - 3)
	}
	return optest.Within(0.5, 3, n), points
}

func convolution(padding string, o uniform.ConvOpts, right, out numbers) function {
	return two(func(x, y uniform.Quantized, scales, zeros tf.Output) uniform.Quantized {
		return uniform.UniformQuantizedConvolution(x, y, scales, zeros, padding, uniform.Of{Left: whole, Right: right, Out: out}, o)
	})
}

func addConvolution() {
	const op = "UniformQuantizedConvolution"
	for name, c := range convCases {
		filter, result, n := outputs(c.w, c.o.Dimensions)
		x, w := spread(tf.QInt8, c.x...), spread(tf.QInt8, c.w...)
		scales, points := each(n)
		optest.Add(
			of(op, name, tensors{x, w, scale(0.5), zero(3), scale(0.25), zero(-7), scale(1.5), zero(11)}, convolution(c.padding, c.o, whole, wide)),
			of(op, name+" outputs", tensors{x, w, scale(0.5), zero(200), scales, points, scale(1.5), zero(11)}, convolution(c.padding, c.o, along(whole, filter), wide)),
			of(op, name+" both", tensors{x, w, scale(0.5), zero(3), scales, points, scales, points}, convolution(c.padding, c.o, along(whole, filter), along(wide, result))))
	}
	in := tensors{spread(tf.QInt8, 2, 3, 4, 4), spread(tf.QInt8, 2, 3, 2, 2), scale(0.5), zero(3), scale(0.25), zero(-7), scale(1.5), zero(11)}
	optest.Add(bad(op, convolution("SAME", uniform.ConvOpts{}, whole, wide), in, map[string]swap{
		"rank": {1, spread(tf.QInt8, 2, 3, 2)}, "features": {1, spread(tf.QInt8, 2, 2, 2, 2)}, "fewer features": {0, spread(tf.QInt8, 2, 6, 4, 4)}, "scale": {2, scale(0)}, "filter scale": {4, scale(0)}, "out scale": {6, scale(0)},
		"zeros": {3, zeros(1)}, "filter zeros": {5, zeros(1)}, "out zeros": {7, zeros(1)},
	})...)
	scales, points := each(2)
	optest.Add(
		optest.Failing(op, "axis", convolution("SAME", uniform.ConvOpts{}, along(whole, 1), wide), in...),
		optest.Failing(op, "out axis", convolution("SAME", uniform.ConvOpts{}, whole, along(wide, 0)), in...),
		optest.Failing(op, "only out", convolution("SAME", uniform.ConvOpts{}, whole, along(wide, 1)), append(in[:6:6], scales, points)...),
		optest.Failing(op, "padding", convolution("same", uniform.ConvOpts{}, whole, wide), in...),
		optest.Failing(op, "padding too", convolution("SAME", uniform.ConvOpts{Padding: []int{1, 1, 1, 1}}, whole, wide), in...),
		optest.Failing(op, "short padding", convolution("EXPLICIT", uniform.ConvOpts{Padding: []int{1, 1}}, whole, wide), in...),
		optest.Failing(op, "negative padding", convolution("EXPLICIT", uniform.ConvOpts{Padding: []int{1, 1, -1, 1}}, whole, wide), in...),
		optest.Failing(op, "strides", convolution("SAME", uniform.ConvOpts{Strides: []int{1}}, whole, wide), in...),
		optest.Failing(op, "no stride", convolution("SAME", uniform.ConvOpts{Strides: []int{1, 0}}, whole, wide), in...),
		optest.Failing(op, "groups", convolution("SAME", uniform.ConvOpts{FeatureGroups: 2}, whole, wide), in...),
		optest.Failing(op, "batch groups", convolution("SAME", uniform.ConvOpts{BatchGroups: 3}, whole, wide), in...),
		optest.Failing(op, "dimension", convolution("SAME", uniform.ConvOpts{Dimensions: uniform.Dimensions{InputSpatial: []int{2, 7}}}, whole, wide), in...),
		optest.Failing(op, "dimensions", convolution("SAME", uniform.ConvOpts{Dimensions: uniform.Dimensions{InputSpatial: []int{2}}}, whole, wide), in...))
}

func addConvolutionHybrid() {
	const op = "UniformQuantizedConvolutionHybrid"
	f := func(padding string, o uniform.ConvOpts, n numbers) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{uniform.UniformQuantizedConvolutionHybrid(in[0], uniform.Quantized{Values: in[1], Scales: in[2], ZeroPoints: in[3]}, padding, n, o)}
		}
	}
	for name, c := range convCases {
		filter, _, n := outputs(c.w, c.o.Dimensions)
		x, w := optest.Within(-3, 4, c.x...), spread(tf.QInt8, c.w...)
		scales, points := each(n)
		optest.Add(of(op, name, tensors{x, w, scale(0.5), zero(3)}, f(c.padding, c.o, whole)), of(op, name+" outputs", tensors{x, w, scales, points}, f(c.padding, c.o, along(whole, filter))))
	}
	optest.Add(bad(op, f("SAME", uniform.ConvOpts{}, whole), tensors{optest.Within(-3, 4, 2, 3, 4, 4), spread(tf.QInt8, 2, 3, 2, 2), scale(0.5), zero(3)}, map[string]swap{"scale": {2, scale(0)}, "zeros": {3, zeros(1)}, "rank": {0, optest.Within(0, 1, 3, 4, 4)}})...)
}

func TestDimensionsTravel(t *testing.T) {
	if s := channelsLast.Marshal(); len(s) == 0 {
		t.Error("dimension numbers are lost")
	}
}

// FuzzDimensions feeds anything to the parser of dimension numbers.
func FuzzDimensions(f *testing.F) {
	f.Add(channelsLast.Marshal())
	f.Add("\x1a\x02\x01")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, s string) {
		n, err := core.NewNode("n", "UniformQuantizedConvolutionHybrid", core.Attrs{
			"Tlhs": tf.Float32, "Trhs": tf.QInt8, "Tout": tf.Float32, "padding": "SAME", "dimension_numbers": s, "rhs_quantization_min_val": int64(0), "rhs_quantization_max_val": int64(0),
		})
		if err != nil {
			t.Fatal(err)
		}
		images := tf.Shape{1, 2, 3, 4}
		_, err = core.InferShapes(n, []tf.Shape{images, images, {}, {}}, nil)
		if err != nil && tf.CodeOf(err) != tf.InvalidArgument {
			t.Error(err)
		}
	})
}

package ops_test

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// moved returns the options of a sample that moves a window.
func moved(strides []int, padding string, more ...tf.Option) []tf.Option {
	return append([]tf.Option{tf.Attr("strides", strides), tf.Attr("padding", padding)}, more...)
}

var (
	steps1     = []int{1, 1, 1, 1}
	nhwc, nchw = ops.WindowOpts{DataFormat: "NHWC"}, ops.WindowOpts{DataFormat: "NCHW"}
)

// A convSample is a convolution that samples of the op itself and of both
// gradients are made of.
type convSample struct {
	name         string
	x, w, dy     []int
	attrs        []tf.Option
	fails, badDy bool
	noGolden     string
}

const (
	inexactConv = 1e-5 // TensorFlow sums in another order
	notNCHW     = "TensorFlow computes this order of dimensions on other devices only"
	noGroups    = "TensorFlow has no gradients of it on the CPU"
	halfConv    = 0.1 // TensorFlow rounds each sum to 16 bits
)

func (s convSample) add(op, backInput, backFilter string) {
	s.addForward(op)
	if s.name == "" {
		s.addHalf(op, backInput, backFilter)
	}
	if s.fails {
		return
	}
	x, w := sizesOf(s.x), sizesOf(s.w)
	base := sample{Name: s.name, Fails: s.badDy, Tol: inexactConv, NoGolden: s.noGolden}
	back := base
	back.Op, back.In = backInput, []*core.Tensor{seq(s.w...), seq(s.dy...)}
	back.F = func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{tf.Apply(g, backInput, []tf.Output{ops.Const(g, x, len(x)), in[0], in[1]}, s.attrs...).Output(0)}
	}
	filter := base
	filter.Op, filter.In = backFilter, []*core.Tensor{seq(s.x...), seq(s.dy...)}
	filter.F = func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{tf.Apply(g, backFilter, []tf.Output{in[0], ops.Const(g, w, len(w)), in[1]}, s.attrs...).Output(0)}
	}
	if s.name == "" {
		back.Types, filter.Types = wideConv, wideConv
	}
	addSamples(back, filter)
}

// wideConv are the types in which TensorFlow computes as exactly as we do.
var wideConv = []tf.DType{tf.Float64}

func (s convSample) addForward(op string) {
	if s.badDy {
		return
	}
	types := onlyOwn
	if s.name == "" {
		types = wideConv
	}
	addSamples(sample{Op: op, Name: s.name, Types: types, In: []*core.Tensor{seq(s.x...), seq(s.w...)}, F: applied(op, s.attrs...), Fails: s.fails, Tol: inexactConv, NoGolden: s.noGolden})
}

// addHalf adds samples in 16-bit types.
func (s convSample) addHalf(op, backInput, backFilter string) {
	x, w := sizesOf(s.x), sizesOf(s.w)
	for _, d := range []tf.DType{tf.Float16, tf.BFloat16} {
		a, b, dy := convert(seq(s.x...), d), convert(seq(s.w...), d), convert(seq(s.dy...), d)
		base := sample{Name: d.String(), Types: onlyOwn, Tol: halfConv, Rough: "16 bits are too few"}
		forward, back, filter := base, base, base
		forward.Op, forward.In, forward.F = op, []*core.Tensor{a, b}, applied(op, s.attrs...)
		back.Op, back.In = backInput, []*core.Tensor{b, dy}
		back.F = func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{tf.Apply(g, backInput, []tf.Output{ops.Const(g, x, len(x)), in[0], in[1]}, s.attrs...).Output(0)}
		}
		filter.Op, filter.In = backFilter, []*core.Tensor{a, dy}
		filter.F = func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{tf.Apply(g, backFilter, []tf.Output{in[0], ops.Const(g, w, len(w)), in[1]}, s.attrs...).Output(0)}
		}
		addSamples(forward, back, filter)
	}
}

func sizesOf(s []int) []int32 {
	out := make([]int32, len(s))
	for i, v := range s {
		out[i] = int32(v)
	}
	return out
}

func init() {
	explicit := ops.WindowOpts{ExplicitPaddings: []int{0, 0, 1, 0, 0, 2, 0, 0}}
	dilated := ops.WindowOpts{Dilations: []int{1, 2, 1, 1}}
	for _, s := range []convSample{
		{x: []int{2, 4, 5, 3}, w: []int{3, 2, 3, 4}, dy: []int{2, 4, 5, 4}, attrs: moved(steps1, "SAME")},
		{name: "valid", x: []int{1, 4, 5, 2}, w: []int{3, 2, 2, 3}, dy: []int{1, 2, 4, 3}, attrs: moved(steps1, "VALID")},
		{name: "wide", x: []int{1, 3, 4, 18}, w: []int{3, 3, 18, 2}, dy: []int{1, 3, 4, 2}, attrs: moved(steps1, "SAME")},
		{name: "strides", x: []int{2, 5, 4, 2}, w: []int{3, 3, 2, 2}, dy: []int{2, 3, 2, 2}, attrs: moved([]int{1, 2, 2, 1}, "SAME")},
		{name: "explicit", x: []int{1, 3, 3, 2}, w: []int{2, 2, 2, 3}, dy: []int{1, 3, 4, 3}, attrs: moved(steps1, "EXPLICIT", explicit)},
		{name: "dilated", x: []int{1, 5, 3, 2}, w: []int{2, 2, 2, 3}, dy: []int{1, 3, 2, 3}, attrs: moved(steps1, "VALID", dilated), noGolden: noGroups},
		{name: "pointwise", x: []int{2, 2, 3, 3}, w: []int{1, 1, 3, 4}, dy: []int{2, 2, 3, 4}, attrs: moved(steps1, "VALID")},
		{name: "no images", x: []int{0, 3, 3, 2}, w: []int{2, 2, 2, 3}, dy: []int{0, 3, 3, 3}, attrs: moved(steps1, "SAME")},
		{name: "NCHW", x: []int{2, 3, 4, 5}, w: []int{3, 2, 3, 4}, dy: []int{2, 4, 4, 5}, attrs: moved(steps1, "SAME", nchw), noGolden: notNCHW},
		{name: "channels differ", x: []int{1, 3, 3, 3}, w: []int{2, 2, 2, 3}, attrs: moved(steps1, "SAME"), fails: true},
		{name: "matrix", x: []int{3, 3}, w: []int{2, 2, 2, 3}, attrs: moved(steps1, "SAME"), fails: true},
		{name: "flat filter", x: []int{1, 3, 3, 2}, w: []int{2, 3}, attrs: moved(steps1, "SAME"), fails: true},
		{name: "too small", x: []int{1, 1, 1, 2}, w: []int{3, 3, 2, 2}, attrs: moved(steps1, "VALID"), fails: true},
		{name: "another batch", x: []int{1, 3, 3, 2}, w: []int{2, 2, 2, 3}, dy: []int{2, 3, 3, 3}, attrs: moved(steps1, "SAME"), badDy: true},
		{name: "other positions", x: []int{1, 3, 3, 2}, w: []int{2, 2, 2, 3}, dy: []int{1, 2, 3, 3}, attrs: moved(steps1, "SAME"), badDy: true},
		{name: "other outputs", x: []int{1, 3, 3, 2}, w: []int{2, 2, 2, 3}, dy: []int{1, 3, 3, 2}, attrs: moved(steps1, "SAME"), badDy: true},
	} {
		s.add("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter")
	}
	addConv3D()
	addConvFunctions()
	grouped := convSample{name: "groups", x: []int{1, 3, 3, 4}, w: []int{2, 2, 2, 6}, dy: []int{1, 3, 3, 6}, attrs: moved(steps1, "SAME"), noGolden: noGroups}
	grouped.add("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter")
}

func addConv3D() {
	ones := []int{1, 1, 1, 1, 1}
	for _, s := range []convSample{
		{x: []int{1, 3, 2, 4, 2}, w: []int{2, 1, 3, 2, 3}, dy: []int{1, 3, 2, 4, 3}, attrs: moved(ones, "SAME")},
		{name: "strides", x: []int{1, 4, 3, 4, 2}, w: []int{2, 2, 2, 2, 2}, dy: []int{1, 2, 1, 3, 2}, attrs: moved([]int{1, 2, 2, 1, 1}, "VALID")},
	} {
		s.add("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2")
	}
}

// addConvFunctions uses the ops by their Go functions.
func addConvFunctions() {
	add := func(op string, in []*core.Tensor, f func(in []tf.Output) tf.Output) {
		addSamples(sample{Op: op, Name: "function", In: in, Types: onlyOwn, Tol: inexactConv,
			F: func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in)} }})
	}
	x, w, dy := seq(1, 3, 4, 2), seq(2, 2, 2, 3), seq(1, 3, 4, 3)
	add("Conv2D", []*core.Tensor{x, w}, func(in []tf.Output) tf.Output { return ops.Conv2D(in[0], in[1], steps1, "SAME", nhwc) })
	add("Conv2DBackpropInput", []*core.Tensor{w, dy}, func(in []tf.Output) tf.Output {
		return ops.Conv2DBackpropInput(ops.Const(in[0].Graph(), []int32{3, 4}, 2), in[0], in[1], steps1, "SAME")
	})
	add("Conv2DBackpropFilter", []*core.Tensor{x, dy}, func(in []tf.Output) tf.Output {
		return ops.Conv2DBackpropFilter(in[0], ops.Const(in[0].Graph(), []int32{2, 2, 2, 3}, 4), in[1], steps1, "SAME")
	})
	addSamples(sample{Op: "Conv2DBackpropFilter", Name: "no outputs", In: []*core.Tensor{x, seq(1, 3, 4, 0)}, Types: onlyOwn,
		F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			// Its shape is all there is: nothing can be differentiated.
			return []tf.Output{ops.Shape(ops.Conv2DBackpropFilter(in[0], ops.Const(g, []int32{2, 2, 2, 0}, 4), in[1], steps1, "SAME"))}
		}})
	ones := slices.Repeat([]int{1}, 5)
	x, w, dy = seq(1, 2, 2, 3, 1), seq(2, 1, 2, 1, 2), seq(1, 2, 2, 3, 2)
	add("Conv3D", []*core.Tensor{x, w}, func(in []tf.Output) tf.Output { return ops.Conv3D(in[0], in[1], ones, "SAME") })
	add("Conv3DBackpropInputV2", []*core.Tensor{w, dy}, func(in []tf.Output) tf.Output {
		return ops.Conv3DBackpropInputV2(ops.Const(in[0].Graph(), []int32{1, 2, 2, 3, 1}, 5), in[0], in[1], ones, "SAME")
	})
	add("Conv3DBackpropFilterV2", []*core.Tensor{x, dy}, func(in []tf.Output) tf.Output {
		return ops.Conv3DBackpropFilterV2(in[0], ops.Const(in[0].Graph(), []int32{2, 1, 2, 1, 2}, 5), in[1], ones, "SAME")
	})
}

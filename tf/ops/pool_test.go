package ops_test

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// pooledBy returns the options of a sample that pools.
func pooledBy(ksize, strides []int, padding string, more ...tf.Option) []tf.Option {
	return moved(strides, padding, append(more, tf.Attr("ksize", ksize))...)
}

// distinct returns numbers no two of which are equal, so that maxima are clear.
func distinct(s ...int) *core.Tensor {
	t := core.NewTensor(tf.Float32, append(tf.Shape{}, s...))
	n := len(core.Data[float32](t))
	for i := range n {
		core.Data[float32](t)[i] = float32(i*29%(n|1)) - float32(n)/2
	}
	return t
}

var (
	two   = []int{1, 2, 2, 1}
	three = []int{1, 3, 3, 1}
)

const unchecked = "TensorFlow checks it too late or not at all"

func init() {
	addMaxPool()
	addMaxPoolGrad()
	addMaxPoolV2()
	addAvgPool()
	addPool3D()
}

func addMaxPool() {
	in := func(s ...int) []*core.Tensor { return []*core.Tensor{distinct(s...)} }
	explicit := ops.WindowOpts{ExplicitPaddings: []int{0, 0, 1, 0, 0, 1, 0, 0}}
	add := func(name string, in []*core.Tensor, o []tf.Option) {
		addSamples(sample{Op: "MaxPool", Name: name, In: in, F: applied("MaxPool", o...)})
	}
	refused := func(name, noGolden string, in []*core.Tensor, o []tf.Option) {
		addSamples(sample{Op: "MaxPool", Name: name, In: in, Fails: true, NoGolden: noGolden, F: applied("MaxPool", o...)})
	}
	add("", in(2, 4, 5, 3), pooledBy(two, two, "VALID"))
	add("overlapping", in(1, 4, 5, 2), pooledBy(three, two, "SAME"))
	add("explicit", in(1, 3, 4, 2), pooledBy(two, two, "EXPLICIT", explicit))
	addSamples(sample{Op: "MaxPool", Name: "depth", In: in(1, 2, 2, 6), F: applied("MaxPool", pooledBy([]int{1, 1, 1, 3}, []int{1, 1, 1, 3}, "VALID")...), Rough: "there is no gradient"})
	argmax := func(name string, fails bool, ksize, strides []int) {
		addSamples(sample{Op: "MaxPoolWithArgmax", Name: name, Fails: fails, In: in(2, 2, 2, 4), Types: onlyOwn, Rough: "channels are left alone",
			Static: "TensorFlow expects fewer channels", F: applied("MaxPoolWithArgmax", pooledBy(ksize, strides, "VALID")...)})
	}
	depth2 := []int{1, 1, 1, 2}
	argmax("depth", false, depth2, depth2)
	argmax("depth does not divide", true, []int{1, 1, 1, 3}, []int{1, 1, 1, 3})
	addSamples(sample{Op: "AvgPool", Name: "depth steps", In: in(1, 2, 2, 4), F: applied("AvgPool", pooledBy(steps1, depth2, "VALID")...)})
	add("no images", in(0, 4, 5, 3), pooledBy(two, two, "VALID"))
	addSamples(sample{Op: "MaxPool", Name: "NCHW", In: in(1, 3, 4, 5), NoGolden: notNCHW, F: applied("MaxPool", pooledBy([]int{1, 1, 2, 2}, []int{1, 1, 2, 2}, "SAME", nchw)...)},
		sample{Op: "MaxPool", Name: "function", In: in(1, 4, 4, 2), F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.MaxPool(in[0], two, two, "SAME")}
		}})
	refused("flat", "", in(4, 5, 3), pooledBy(two, two, "VALID"))
	refused("too small", "", in(1, 1, 2, 3), pooledBy(three, steps1, "VALID"))
}

func addMaxPoolGrad() {
	const name = "MaxPoolGrad"
	x := distinct(1, 4, 5, 2)
	o := pooledBy(three, two, "SAME")
	// The maxima are computed, not fed: they have to belong to the images.
	grad := func(op string) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			y := tf.Apply(g, "MaxPool", in[:1], o...).Output(0)
			return []tf.Output{tf.Apply(g, op, []tf.Output{in[0], y, in[1]}, o...).Output(0)}
		}
	}
	floats := []tf.DType{tf.Float64, tf.Int32, tf.Int64, tf.Uint16}
	addSamples(
		sample{Op: name, In: []*core.Tensor{x, seq(1, 2, 3, 2)}, F: grad(name), Types: floats},
		sample{Op: "MaxPoolGradGrad", In: []*core.Tensor{x, seq(1, 4, 5, 2)}, F: grad("MaxPoolGradGrad"), Types: floats},
		sample{Op: name, Name: "another shape", Fails: true, In: []*core.Tensor{x, seq(1, 2, 3, 3)}, F: grad(name)},
		sample{Op: name, Name: "flat images", Fails: true, In: []*core.Tensor{seq(4, 5, 2), seq(1, 2, 3, 2), seq(1, 2, 3, 2)}, F: applied(name, o...)},
		sample{Op: name, Name: "other maxima", Fails: true, In: []*core.Tensor{x, seq(1, 2, 3, 3), seq(1, 2, 3, 2)}, F: applied(name, o...)})
}

func addMaxPoolV2() {
	v2 := func(op, padding string) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			k, s := ops.Const(g, []int32{1, 3, 3, 1}, 4), ops.Const(g, []int32{1, 2, 2, 1}, 4)
			y := ops.MaxPoolV2(in[0], k, s, padding)
			if op == "MaxPoolV2" {
				return []tf.Output{y}
			}
			return []tf.Output{tf.Apply(g, op, []tf.Output{in[0], y, in[1], k, s}, tf.Attr("padding", padding)).Output(0)}
		}
	}
	x := distinct(1, 4, 5, 2)
	addSamples(
		sample{Op: "MaxPoolV2", In: []*core.Tensor{x}, F: v2("MaxPoolV2", "SAME")},
		sample{Op: "MaxPoolGradV2", In: []*core.Tensor{x, seq(1, 2, 3, 2)}, F: v2("MaxPoolGradV2", "SAME"), Types: onlyOwn},
		sample{Op: "MaxPoolGradGradV2", In: []*core.Tensor{x, seq(1, 4, 5, 2)}, F: v2("MaxPoolGradGradV2", "SAME"), Types: onlyOwn})
}

func addAvgPool() {
	const name, back = "AvgPool", "AvgPoolGrad"
	grad := func(sizes []int32, o ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{tf.Apply(g, back, []tf.Output{ops.Const(g, sizes, len(sizes)), in[0]}, o...).Output(0)}
		}
	}
	add := func(name string, in []int, sizes []int32, out []int, o []tf.Option) {
		addSamples(sample{Op: "AvgPool", Name: name, In: []*core.Tensor{seq(in...)}, F: applied("AvgPool", o...)},
			sample{Op: back, Name: name, In: []*core.Tensor{seq(out...)}, F: grad(sizes, o...)})
	}
	add("", []int{2, 4, 5, 3}, []int32{2, 4, 5, 3}, []int{2, 2, 2, 3}, pooledBy(two, two, "VALID"))
	add("overlapping", []int{1, 4, 5, 2}, []int32{1, 4, 5, 2}, []int{1, 2, 3, 2}, pooledBy(three, two, "SAME"))
	addSamples(
		sample{Op: name, Name: "NCHW", In: []*core.Tensor{seq(1, 3, 4, 5)}, NoGolden: notNCHW, F: applied(name, pooledBy([]int{1, 1, 2, 2}, []int{1, 1, 2, 2}, "SAME", nchw)...)},
		sample{Op: name, Name: "function", In: []*core.Tensor{seq(1, 4, 4, 2)}, F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.AvgPool(in[0], two, two, "SAME")}
		}},
		sample{Op: name, Name: "flat", Fails: true, In: []*core.Tensor{seq(4, 5, 3)}, F: applied(name, pooledBy(two, two, "VALID")...)},
		sample{Op: name, Name: "too small", Fails: true, In: []*core.Tensor{seq(1, 1, 2, 3)}, F: applied(name, pooledBy(three, steps1, "VALID")...)},
		sample{Op: back, Name: "three sizes", Fails: true, NoGolden: unchecked, In: []*core.Tensor{seq(1, 2, 2, 3)}, F: grad([]int32{4, 4, 3}, pooledBy(two, two, "VALID")...)},
		sample{Op: back, Name: "other positions", Fails: true, NoGolden: unchecked, In: []*core.Tensor{seq(1, 2, 3, 3)}, F: grad([]int32{1, 4, 4, 3}, pooledBy(two, two, "VALID")...)})
}

func addPool3D() {
	k, s := []int{1, 2, 2, 2, 1}, []int{1, 1, 2, 2, 1}
	o := pooledBy(k, s, "SAME")
	x, dy := distinct(1, 3, 3, 4, 2), seq(1, 3, 2, 2, 2)
	back := func(op string) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			y := ops.MaxPool3D(in[0], k, s, "SAME")
			return []tf.Output{tf.Apply(g, op, []tf.Output{in[0], y, in[1]}, o...).Output(0)}
		}
	}
	meanBack := func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{tf.Apply(g, "AvgPool3DGrad", []tf.Output{ops.Const(g, []int32{1, 3, 3, 4, 2}, 5), in[0]}, o...).Output(0)}
	}
	addSamples(
		sample{Op: "MaxPool3D", In: []*core.Tensor{x}, F: applied("MaxPool3D", o...)},
		sample{Op: "MaxPool3DGrad", In: []*core.Tensor{x, dy}, F: back("MaxPool3DGrad"), Types: onlyOwn},
		sample{Op: "MaxPool3DGradGrad", In: []*core.Tensor{x, seq(1, 3, 3, 4, 2)}, F: back("MaxPool3DGradGrad"), Types: onlyOwn},
		sample{Op: "AvgPool3D", In: []*core.Tensor{x}, F: func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.AvgPool3D(in[0], k, s, "SAME")} }},
		sample{Op: "AvgPool3DGrad", In: []*core.Tensor{dy}, F: meanBack})
}

// TestDepthAlone: maxima across channels are those of all positions, whatever the steps
// and the padding along these. TensorFlow infers other sizes than it computes.
func TestDepthAlone(t *testing.T) {
	x := ops.Const(eager.New(), []float32{1, 2, 4, 3, 5, 6, 8, 7}, 1, 2, 2, 2)
	padded := ops.WindowOpts{ExplicitPaddings: []int{0, 0, 1, 1, 1, 1, 0, 0}}
	depth := []int{1, 1, 1, 2}
	for name, y := range map[string]tf.Output{
		"steps":   ops.MaxPool(x, depth, []int{1, 2, 2, 2}, "VALID"),
		"padding": ops.MaxPool(x, depth, depth, "EXPLICIT", padded),
	} {
		got, shape := valuesOf[float32](t, y)
		if fmt.Sprint(got, shape) != "[2 4 6 8] [1,2,2,1]" {
			t.Errorf("%s: got %v of shape %v, want [2 4 6 8] of shape [1,2,2,1]", name, got, shape)
		}
	}
}

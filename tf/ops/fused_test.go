package ops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addGeneralConvs()
	addBadGeneralConvs()
	addFusedConvs()
	addBadFusedConvs()
	addFusedNorms()
	addFusedPads()
	addBadFusedPads()
}

func addGeneralConvs() {
	conv := func(strides []int, padding string, o ops.ConvOpts) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.Conv(in[0], in[1], strides, padding, o)}
		}
	}
	ones := []int{1, 1, 1, 1, 1}
	for _, s := range []sample{
		{In: []*core.Tensor{seq(2, 4, 5, 3), seq(3, 2, 3, 4)}, F: conv(steps1, "SAME", ops.ConvOpts{}), Types: []tf.DType{tf.Float64, tf.Int32}},
		{Name: "volumes", In: []*core.Tensor{seq(1, 3, 2, 4, 2), seq(2, 1, 3, 2, 3)}, F: conv(ones, "VALID", ops.ConvOpts{})},
		{Name: "batches", In: []*core.Tensor{seq(2, 3, 4, 5, 2), seq(2, 2, 2, 3)}, F: conv(steps1, "SAME", ops.ConvOpts{BatchDims: 2})},
		{Name: "dilated", In: []*core.Tensor{seq(1, 6, 5, 2), seq(2, 2, 2, 3)}, F: conv([]int{1, 2, 1, 1}, "VALID", ops.ConvOpts{Dilations: []int{1, 2, 3, 1}})},
		{Name: "explicit", In: []*core.Tensor{seq(1, 3, 3, 2), seq(2, 2, 2, 3)}, F: conv(steps1, "EXPLICIT", ops.ConvOpts{ExplicitPaddings: []int{0, 0, 1, 0, 0, 2, 0, 0}})},
		{Name: "channels first", In: []*core.Tensor{seq(2, 3, 4, 5), seq(3, 2, 3, 4)}, F: conv(steps1, "SAME", ops.ConvOpts{ChannelsFirst: true}), NoGolden: notNCHW},
		{Name: "half", In: []*core.Tensor{convert(seq(1, 3, 3, 2), tf.Float16), convert(seq(2, 2, 2, 3), tf.Float16)}, F: conv(steps1, "SAME", ops.ConvOpts{}), Tol: halfConv},
		{Name: "bfloat16", In: []*core.Tensor{convert(seq(1, 3, 3, 2), tf.BFloat16), convert(seq(2, 2, 2, 3), tf.BFloat16)}, F: conv(steps1, "SAME", ops.ConvOpts{}), Tol: halfConv},
	} {
		s.Op, s.Tol = "Conv", max(s.Tol, inexactConv)
		if s.Types == nil {
			s.Types = onlyOwn
		}
		addSamples(s)
	}
}

func addBadGeneralConvs() {
	x, w := seq(2, 4, 5, 3), seq(3, 2, 3, 4)
	for name, bad := range map[string]struct {
		x, w  *core.Tensor
		attrs []tf.Option
	}{
		"steps":       {x, w, moved([]int{1, 1, 1}, "SAME")},
		"batch steps": {x, w, moved([]int{2, 1, 1, 1}, "SAME")},
		"no steps":    {x, w, moved([]int{1, 0, 1, 1}, "SAME")},
		"dilations":   {x, w, moved(steps1, "SAME", ops.ConvOpts{Dilations: []int{1, 1}})},
		"wide batch":  {x, w, moved(steps1, "SAME", ops.ConvOpts{Dilations: []int{1, 1, 1, 2}})},
		"dilation":    {x, w, moved(steps1, "SAME", ops.ConvOpts{Dilations: []int{1, 0, 1, 1}})},
		"depth":       {x, seq(3, 2, 2, 4), moved(steps1, "SAME")},
		"filter":      {x, seq(3, 0, 3, 4), moved(steps1, "SAME")},
		"flat filter": {x, seq(3, 3, 4), moved(steps1, "SAME")},
		"flat":        {seq(4, 5, 3), w, moved(steps1, "SAME")},
		"groups":      {x, w, moved(steps1, "SAME", tf.Attr("groups", 2))},
	} {
		addSamples(optest.Failing("Conv", name, applied("Conv", bad.attrs...), bad.x, bad.w))
	}
}

// fusedWith adds a fused op with the further inputs that its first fused op
// takes. Such ops may not be imported without a name of their own.
func fusedWith(op string, fused []string, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		o := append(opts[:len(opts):len(opts)], tf.Name("fused"), tf.Attr("fused_ops", fused), tf.Attr("num_args", len(in)-2))
		if op == "_FusedConv2D" {
			o = append(o, tf.Attr("TArgs", slices.Repeat([]tf.DType{in[0].DType()}, len(in)-2)))
		}
		return applied(op, o...)(g, in)
	}
}

// fusedArgs are those inputs, for so many channels.
func fusedArgs(first string, channels int) []*core.Tensor {
	if first == "BiasAdd" {
		return []*core.Tensor{seq(channels)}
	}
	return []*core.Tensor{seq(channels), optest.Within(-1, 2, channels), optest.Within(-2, 1, channels), positive(channels)}
}

func addFusedConvs() {
	const rewritten = "TensorFlow has it with an optional library only"
	alpha := tf.Attr("leakyrelu_alpha", float32(0.3))
	for _, first := range []string{"BiasAdd", "FusedBatchNorm"} {
		for _, act := range []string{"", "Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid"} {
			fused := []string{first}
			if act != "" {
				fused = append(fused, act)
			}
			flat := append([]*core.Tensor{seq(2, 4, 5, 3), seq(3, 2, 3, 4)}, fusedArgs(first, 4)...)
			volume := append([]*core.Tensor{seq(1, 3, 2, 4, 2), seq(2, 1, 3, 2, 3)}, fusedArgs(first, 3)...)
			deep := append([]*core.Tensor{seq(2, 4, 5, 3), seq(3, 2, 3, 2)}, fusedArgs(first, 6)...)
			types := onlyOwn
			if first == "BiasAdd" {
				types = []tf.DType{tf.Float64}
			}
			golden := ""
			if act == "Tanh" || act == "Sigmoid" {
				golden = rewritten
			}
			addSamples(
				sample{Op: "_FusedConv2D", Name: first + " " + act, In: flat, F: fusedWith("_FusedConv2D", fused, moved(steps1, "SAME", alpha)...), Types: types, Tol: 2e-5, NoGolden: golden},
				sample{Op: "_FusedConv3D", Name: first + " " + act, In: volume, F: fusedWith("_FusedConv3D", fused, moved([]int{1, 1, 1, 1, 1}, "SAME", alpha)...), Types: onlyOwn, NoGolden: rewritten},
				sample{Op: "_FusedDepthwiseConv2dNative", Name: first + " " + act, In: deep, F: fusedWith("_FusedDepthwiseConv2dNative", fused, moved(steps1, "SAME", alpha)...), Types: onlyOwn, NoGolden: rewritten})
		}
	}
}

func addBadFusedConvs() {
	in := []*core.Tensor{seq(2, 4, 5, 3), seq(3, 2, 3, 4), seq(4)}
	for name, fused := range map[string][]string{"no ops": {}, "another op": {"Add"}, "another activation": {"BiasAdd", "Cos"}} {
		addSamples(optest.Failing("_FusedConv2D", name, fusedWith("_FusedConv2D", fused, moved(steps1, "SAME")...), in...))
	}
	addSamples(
		optest.Failing("_FusedConv2D", "bias", fusedWith("_FusedConv2D", []string{"BiasAdd"}, moved(steps1, "SAME")...), in[0], in[1], seq(4, 1)),
		optest.Failing("_FusedConv2D", "groups", fusedWith("_FusedConv2D", []string{"BiasAdd"}, moved(steps1, "SAME")...), seq(2, 4, 5, 6), in[1], in[2]),
		optest.Failing("_FusedConv2D", "arguments", fusedWith("_FusedConv2D", []string{"FusedBatchNorm"}, moved(steps1, "SAME")...), in...))
}

func addFusedNorms() {
	const op, rewritten = "_FusedBatchNormEx", "TensorFlow has it with an optional library only"
	in := []*core.Tensor{seq(2, 3, 3, 4), seq(4), optest.Within(-1, 1, 4), optest.Within(-2, 2, 4), positive(4)}
	side := append(append([]*core.Tensor{}, in...), optest.Within(-3, 3, 2, 3, 3, 4))
	infer := ops.BatchNormOpts{Inference: true}
	addSamples(
		sample{Op: op, In: in, F: applied(op, tf.Name("fused"), infer), Types: onlyOwn, NoGolden: rewritten},
		sample{Op: op, Name: "Relu", In: in, F: applied(op, tf.Name("fused"), infer, tf.Attr("activation_mode", "Relu")), Types: onlyOwn, NoGolden: rewritten},
		sample{Op: op, Name: "side", In: side, F: applied(op, tf.Name("fused"), infer, tf.Attr("activation_mode", "Relu")), Types: onlyOwn, NoGolden: rewritten},
		sample{Op: op, Name: "training", In: side, F: applied(op, tf.Name("fused"), tf.Attr("activation_mode", "Relu")), Types: onlyOwn, NoGolden: rewritten})
}

func addFusedPads() {
	pads := optest.Mat[int32](2, 0, 0, 2, 1, 1, 2, 0, 0)
	x, w := seq(1, 4, 5, 3), seq(3, 2, 3, 4) // for more images TensorFlow repeats the first
	pad := func(mode string, strides []int, padding string) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.FusedPadConv2D(in[0], in[1], in[2], mode, strides, padding)}
		}
	}
	resize := func(mode, padding string, align bool) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.FusedResizeAndPadConv2D(in[0], in[1], in[2], in[3], mode, steps1, padding, ops.FusedResizeAndPadOpts{AlignCorners: align})}
		}
	}
	two := []int{1, 2, 2, 1}
	addStatic(
		sample{Op: "FusedPadConv2D", In: []*core.Tensor{x, pads, w}, F: pad(ops.Reflect, steps1, "SAME"), Types: []tf.DType{tf.Float64}, Tol: 2e-5},
		sample{Op: "FusedPadConv2D", Name: "symmetric", In: []*core.Tensor{x, pads, w}, F: pad(ops.Symmetric, two, "VALID"), Types: onlyOwn, Tol: 2e-5},
		sample{Op: "FusedPadConv2D", Name: "half", In: []*core.Tensor{convert(x, tf.Float16), pads, convert(w, tf.Float16)}, F: pad(ops.Reflect, steps1, "SAME"), Types: onlyOwn, Tol: halfConv},
		sample{Op: "FusedResizeAndPadConv2D", In: []*core.Tensor{x, i32(7, 3), pads, w}, F: resize(ops.Reflect, "SAME", false), Types: []tf.DType{tf.Float64}, Tol: 3e-5},
		sample{Op: "FusedResizeAndPadConv2D", Name: "aligned", In: []*core.Tensor{x, i32(3, 9), pads, w}, F: resize(ops.Symmetric, "VALID", true), Types: onlyOwn, Tol: 3e-5})
}

const refusedShape = "TensorFlow refuses it while the graph is built"

func addBadFusedPads() {
	const op = "FusedPadConv2D"
	x, w := seq(2, 4, 5, 3), seq(3, 2, 3, 4)
	at := func(v ...int32) *core.Tensor { return optest.Mat(2, v...) }
	f := applied(op, moved(steps1, "SAME", tf.Attr("mode", ops.Reflect))...)
	for name, p := range map[string]*core.Tensor{
		"rows": at(0, 0, 1, 1), "columns": optest.Mat[int32](1, 0, 0, 1, 1), "negative": at(0, 0, -1, 1, 0, 0, 0, 0), "too much": at(0, 0, 4, 1, 0, 0, 0, 0),
	} {
		bad := optest.Failing(op, name, f, x, p, w)
		if name != "too much" {
			bad.NoGolden = refusedShape
		}
		addStatic(bad)
	}
	none := at(0, 0, 0, 0, 0, 0, 0, 0)
	depth := optest.Failing(op, "depth", f, x, none, seq(3, 2, 2, 4))
	size := optest.Failing("FusedResizeAndPadConv2D", "size", applied("FusedResizeAndPadConv2D", moved(steps1, "SAME", tf.Attr("mode", ops.Reflect))...), x, i32(3), none, w)
	depth.NoGolden, size.NoGolden = refusedShape, refusedShape
	addStatic(optest.Failing(op, "empty", f, seq(0, 4, 5, 3), none, w), depth, size)
}

// addStatic adds samples of ops that TensorFlow cannot have in graphs that do
// not know shapes.
func addStatic(list ...sample) {
	for _, s := range list {
		s.Static = "TensorFlow has to know the rank"
		addSamples(s)
	}
}

// activation adds an activation by its name, none for "".
func activation(x tf.Output, name string) tf.Output {
	switch name {
	case "":
		return x
	case "LeakyRelu":
		return ops.LeakyRelu(x, ops.LeakyReluOpts{Alpha: 0.3})
	}
	return tf.Apply(nil, name, []tf.Output{x}).Output(0)
}

// parts adds what a fused op stands for: f, what follows it, an activation.
func parts(f func(x, w tf.Output) tf.Output, fused []string, in []tf.Output) tf.Output {
	y := f(in[0], in[1])
	if fused[0] == "BiasAdd" {
		y = ops.BiasAdd(y, in[2])
	} else {
		eps := ops.ConstValue(y.Graph(), optest.Scalar(float32(0.0001)))
		y = ops.Add(ops.Mul(ops.Mul(ops.Sub(y, in[4]), ops.Rsqrt(ops.Add(in[5], eps))), in[2]), in[3])
	}
	return activation(y, append(fused, "")[1])
}

// TestFusedIsItsParts compares fused ops with the ops that they are made of.
func TestFusedIsItsParts(t *testing.T) {
	ones := []int{1, 1, 1, 1, 1}
	for _, op := range []struct {
		name     string
		x, w     *core.Tensor
		channels int
		strides  []int
		f        func(x, w tf.Output) tf.Output
	}{
		{"_FusedConv2D", seq(2, 4, 5, 3), seq(3, 2, 3, 4), 4, steps1, func(x, w tf.Output) tf.Output { return ops.Conv2D(x, w, steps1, "SAME") }},
		{"_FusedConv3D", seq(1, 3, 2, 4, 2), seq(2, 1, 3, 2, 3), 3, ones, func(x, w tf.Output) tf.Output { return ops.Conv3D(x, w, ones, "SAME") }},
		{"_FusedDepthwiseConv2dNative", seq(2, 4, 5, 3), seq(3, 2, 3, 2), 6, steps1, func(x, w tf.Output) tf.Output { return ops.DepthwiseConv2dNative(x, w, steps1, "SAME") }},
	} {
		for _, fused := range [][]string{{"BiasAdd"}, {"BiasAdd", "Relu6"}, {"BiasAdd", "LeakyRelu"}, {"BiasAdd", "Tanh"}, {"FusedBatchNorm"}, {"FusedBatchNorm", "Sigmoid"}, {"FusedBatchNorm", "Elu"}} {
			g := eager.New()
			var in []tf.Output
			for _, x := range append([]*core.Tensor{op.x, op.w}, fusedArgs(fused[0], op.channels)...) {
				in = append(in, ops.ConstValue(g, x))
			}
			got := fusedWith(op.name, fused, moved(op.strides, "SAME", tf.Attr("leakyrelu_alpha", float32(0.3)))...)(g, in)[0]
			same(t, op.name+" "+fmt.Sprint(fused), got, parts(op.f, fused, in))
		}
	}
}

func same(t *testing.T, what string, got, want tf.Output) {
	t.Helper()
	y, err := got.Value()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	z, err := want.Value()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if diff := optest.Differ((*core.Tensor)(y), (*core.Tensor)(z), 1e-5); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// TestFusedNormIsItsParts does the same for batch normalization.
func TestFusedNormIsItsParts(t *testing.T) {
	g := eager.New()
	var in []tf.Output
	for _, x := range []*core.Tensor{seq(2, 3, 3, 4), seq(4), optest.Within(-1, 1, 4), optest.Within(-2, 2, 4), positive(4), optest.Within(-3, 3, 2, 3, 3, 4)} {
		in = append(in, ops.ConstValue(g, x))
	}
	for _, o := range []ops.BatchNormOpts{{}, {Inference: true}} {
		norm := ops.FusedBatchNormV3(in[0], in[1], in[2], in[3], in[4], o)
		plain := tf.Apply(g, "_FusedBatchNormEx", in[:5], o).Outputs()
		relu := tf.Apply(g, "_FusedBatchNormEx", in[:5], o, tf.Attr("activation_mode", "Relu")).Outputs()
		side := tf.Apply(g, "_FusedBatchNormEx", in, o, tf.Attr("activation_mode", "Relu")).Outputs()
		for i := range 5 {
			same(t, "norm", plain[i], norm[i])
		}
		same(t, "relu", relu[0], ops.Relu(norm[0]))
		same(t, "side", side[0], ops.Relu(ops.Add(norm[0], in[5])))
	}
}

// TestAcrossImages: which code tells of windows that move across images depends
// on the op, as in TensorFlow.
func TestAcrossImages(t *testing.T) {
	for op, want := range map[string]tf.Code{"Conv2D": tf.Unimplemented, "Conv": tf.InvalidArgument, "DepthwiseConv2dNative": tf.InvalidArgument} {
		g := tf.NewGraph()
		y := applied(op, moved([]int{2, 1, 1, 1}, "SAME")...)(g, []tf.Output{ops.ConstValue(g, seq(2, 4, 5, 3)), ops.ConstValue(g, seq(3, 2, 3, 4))})[0]
		if got := tf.CodeOf(y.Err()); got != want {
			t.Errorf("%s: %v, want %v", op, y.Err(), want)
		}
	}
}

// TestResizeOverflows: images that nothing can hold are told of as such.
func TestResizeOverflows(t *testing.T) {
	g := eager.New()
	in := []tf.Output{ops.ConstValue(g, seq(3, 3, 1, 4)), ops.Const(g, []int32{1879048192, 1879048192}, 2), ops.Const(g, make([]int32, 8), 4, 2), ops.ConstValue(g, seq(1, 3, 4, 1))}
	y := ops.FusedResizeAndPadConv2D(in[0], in[1], in[2], in[3], ops.Reflect, steps1, "SAME")
	if err := y.Err(); err == nil || !strings.Contains(err.Error(), "Encountered overflow") {
		t.Errorf("got %v", err)
	}
}

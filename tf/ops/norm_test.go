package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	addLRN()
	addGlobalNorm()
	addArgmaxPool()
	addNthElement()
}

func addLRN() {
	x := within(-2, 2, 2, 2, 3, 7)
	o := []tf.Option{tf.Attr("depth_radius", 2), tf.Attr("bias", float32(1.5)), tf.Attr("alpha", float32(0.25)), tf.Attr("beta", float32(0.75))}
	f16 := []tf.DType{tf.Float16}
	radius, one := 1, float32(1)
	addSamples(
		sample{Op: "LRN", In: []*core.Tensor{x}, F: applied("LRN", o...)},
		sample{Op: "LRN", Name: "in 16 bits", In: []*core.Tensor{x}, F: applied("LRN"), Types: f16, Tol: 0.02},
		sample{Op: "LRN", Name: "defaults", In: []*core.Tensor{x}, F: unary(ops.LRN)},
		sample{Op: "LRN", Name: "options", In: []*core.Tensor{x}, F: unary(ops.LRN, ops.LRNOpts{DepthRadius: &radius, Beta: &one, Alpha: &one, Bias: &one})},
		sample{Op: "LRN", Name: "nothing", In: []*core.Tensor{seq(0, 2, 3, 7)}, F: unary(ops.LRN)},
		failing("LRN", "flat", applied("LRN"), seq(2, 3)),
		sample{Op: "LRNGrad", In: []*core.Tensor{seq(2, 2, 3, 7), x, within(-1, 1, 2, 2, 3, 7)}, F: applied("LRNGrad", o...)},
		failing("LRNGrad", "shape", applied("LRNGrad"), seq(2, 2, 3, 6), x, x),
		failing("LRNGrad", "flat", applied("LRNGrad"), seq(2, 7), x, x),
	)
}

func addGlobalNorm() {
	const forward, back = "BatchNormWithGlobalNormalization", "BatchNormWithGlobalNormalizationGrad"
	x, mean, variance, beta, gamma := seq(2, 3, 2, 4), seq(4), positive(4), within(-1, 1, 4), within(1, 2, 4)
	scaled := []tf.Option{tf.Attr("variance_epsilon", float32(0.01)), tf.Attr("scale_after_normalization", true)}
	plain := []tf.Option{tf.Attr("variance_epsilon", float32(0.01)), tf.Attr("scale_after_normalization", false)}
	f64 := []tf.DType{tf.Float64}
	const gone = "TensorFlow removed the op in version 9 of its graphs"
	global := []sample{
		{Op: forward, In: []*core.Tensor{x, mean, variance, beta, gamma}, F: applied(forward, scaled...), Types: f64},
		{Op: forward, Name: "plain", In: []*core.Tensor{x, mean, variance, beta, gamma}, F: applied(forward, plain...)},
		{Op: forward, Name: "function", In: []*core.Tensor{x, mean, variance, beta, gamma}, F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.BatchNormWithGlobalNormalization(in[0], in[1], in[2], in[3], in[4], 0.5, true)}
		}},
		{Op: back, In: []*core.Tensor{x, mean, variance, gamma, seq(2, 3, 2, 4)}, F: applied(back, scaled...), Types: f64},
		{Op: back, Name: "plain", In: []*core.Tensor{x, mean, variance, gamma, seq(2, 3, 2, 4)}, F: applied(back, plain...)},
		failing(forward, "flat", applied(forward, scaled...), seq(3, 4), mean, variance, beta, gamma),
		failing(forward, "mean", applied(forward, scaled...), x, seq(1, 4), variance, beta, gamma),
		failing(forward, "variance", applied(forward, scaled...), x, mean, seq(1, 4), beta, gamma),
		failing(back, "gamma", applied(back, scaled...), x, mean, variance, seq(1, 4), x),
	}
	for i := range global {
		global[i].NoGolden = gone
	}
	addSamples(global...)
}

func addArgmaxPool() {
	const forward, back = "MaxPoolWithArgmax", "MaxPoolGradWithArgmax"
	x := distinct(2, 4, 5, 3)
	types := []tf.DType{tf.Float64, tf.Float16, tf.BFloat16, tf.Int32, tf.Int64, tf.Uint32}
	in := func(o ops.ArgmaxOpts) []tf.Option { return pooledBy(three, two, "SAME", o) }
	// The positions are computed, not fed: they have to belong to the images.
	grad := func(o ops.ArgmaxOpts) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, v []tf.Output) []tf.Output {
			_, at := ops.MaxPoolWithArgmax(v[0], three, two, "SAME", o)
			return []tf.Output{tf.Apply(g, back, []tf.Output{v[0], v[1], at}, pooledBy(three, two, "SAME", tf.Attr("include_batch_in_index", o.IncludeBatchInIndex))...).Output(0)}
		}
	}
	batch := ops.ArgmaxOpts{IncludeBatchInIndex: true}
	addSamples(
		sample{Op: forward, In: []*core.Tensor{x}, F: applied(forward, in(ops.ArgmaxOpts{})...), Types: types},
		sample{Op: forward, Name: "in batch", In: []*core.Tensor{x}, F: applied(forward, in(ops.ArgmaxOpts{Targmax: tf.Int32, IncludeBatchInIndex: true})...), Rough: "TensorFlow's gradient takes int64 only"},
		sample{Op: back, In: []*core.Tensor{x, seq(2, 2, 3, 3)}, F: grad(ops.ArgmaxOpts{}), Types: []tf.DType{tf.Float64, tf.Int32, tf.Int64, tf.Uint16}},
		sample{Op: back, Name: "in batch", In: []*core.Tensor{x, seq(2, 2, 3, 3)}, F: grad(batch)},
		failing(forward, "flat", applied(forward, in(ops.ArgmaxOpts{})...), seq(4, 5, 3)),
		failing(back, "shape", grad(batch), x, seq(2, 2, 3, 2)),
	)
	stray := failing(back, "position", applied(back, pooledBy(two, two, "VALID")...), seq(1, 2, 2, 1), seq(1, 1, 1, 1), arr(tf.Shape{1, 1, 1, 1}, int64(9)))
	stray.NoGolden = "TensorFlow ends the process"
	addSamples(stray)
}

func addNthElement() {
	x := distinct(2, 3, 7)
	addSamples(
		sample{Op: "NthElement", In: []*core.Tensor{x, scalar(int32(2))}, F: binary(ops.NthElement)},
		sample{Op: "NthElement", Name: "reverse", In: []*core.Tensor{x, scalar(int32(2))}, F: binary(ops.NthElement, ops.NthElementOpts{Reverse: true})},
		failing("NthElement", "beyond", binary(ops.NthElement), x, scalar(int32(7))),
		failing("NthElement", "negative", binary(ops.NthElement), x, scalar(int32(-1))),
		failing("NthElement", "scalar", binary(ops.NthElement), scalar[float32](1), scalar(int32(0))),
		failing("NthElement", "vector", binary(ops.NthElement), x, i32(1)),
	)
	as := map[tf.DType]tf.DType{tf.Int8: tf.Float32, tf.Int16: tf.Float32, tf.Int32: tf.Float64, tf.Int64: tf.Float64}
	regression := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		d := in[0].DType()
		if !d.IsFloat() {
			d = as[d]
		}
		y, segments := ops.IsotonicRegression(in[0], d)
		return []tf.Output{y, segments}
	}
	to := func(d tf.DType) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			y, _ := ops.IsotonicRegression(in[0], d)
			return []tf.Output{y}
		}
	}
	m := seq(3, 6)
	const static = "its gradient goes row by row"
	other := failing("IsotonicRegression", "to another type", to(tf.Float64), m)
	other.NoGolden = "the message lists the kernels"
	addSamples(
		sample{Op: "IsotonicRegression", In: []*core.Tensor{m}, F: regression, Static: static},
		sample{Op: "IsotonicRegression", Name: "ties", In: []*core.Tensor{mat[float32](5, 3, 1, 2, 2, 5, 1, 1, 1, 1, 1)}, F: regression, Static: static, Rough: "ties"},
		other)
}

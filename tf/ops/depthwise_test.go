package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// halves are the types that TensorFlow rounds in after every operation.
var halves = []tf.DType{tf.Float16, tf.BFloat16}

func init() {
	addDepthwise()
	addDilation()
	addConv3DV1()
}

func addDepthwise() {
	const forward, backInput, backFilter = "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"
	x, w := within(-1, 1, 2, 5, 6, 3), within(-1, 1, 3, 2, 3, 2)
	same, valid := moved(steps1, "SAME"), moved(two, "VALID")
	explicit := moved(steps1, "EXPLICIT", ops.WindowOpts{ExplicitPaddings: []int{0, 0, 1, 2, 0, 1, 0, 0}})
	f64 := []tf.DType{tf.Float64}
	addSamples(
		sample{Op: forward, In: []*core.Tensor{x, w}, F: applied(forward, same...), Types: f64},
		sample{Op: forward, Name: "in 16 bits", In: []*core.Tensor{x, w}, F: applied(forward, same...), Types: halves, Tol: 0.1},
		sample{Op: forward, Name: "strides", In: []*core.Tensor{x, w}, F: applied(forward, valid...)},
		sample{Op: forward, Name: "explicit", In: []*core.Tensor{x, w}, F: applied(forward, explicit...)},
		sample{Op: forward, Name: "single results", In: []*core.Tensor{x, within(-1, 1, 2, 2, 3, 1)}, F: applied(forward, same...)},
		sample{Op: forward, Name: "one channel", In: []*core.Tensor{within(-1, 1, 1, 4, 4, 1), within(-1, 1, 3, 3, 1, 2)}, F: applied(forward, same...)},
		sample{Op: forward, Name: "dilated", In: []*core.Tensor{x, w}, NoGolden: "TensorFlow's CPU kernels take no heed of dilations",
			F: applied(forward, moved(steps1, "VALID", ops.WindowOpts{Dilations: []int{1, 2, 2, 1}})...)},
		sample{Op: forward, Name: "function", In: []*core.Tensor{x, w}, F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.DepthwiseConv2dNative(in[0], in[1], two, "SAME")}
		}},
		failing(forward, "depth", applied(forward, same...), x, within(-1, 1, 3, 2, 2, 2)),
		failing(forward, "flat images", applied(forward, same...), within(-1, 1, 5, 6, 3), w),
		failing(forward, "flat filter", applied(forward, same...), x, within(-1, 1, 3, 2, 3)),
		sample{Op: backInput, In: []*core.Tensor{w, within(-1, 1, 2, 5, 6, 6)}, Types: f64, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.DepthwiseConv2dNativeBackpropInput(ops.Const(g, []int32{2, 5, 6, 3}, 4), in[0], in[1], steps1, "SAME")}
		}},
		sample{Op: backFilter, In: []*core.Tensor{x, within(-1, 1, 2, 5, 6, 6)}, Types: f64, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.DepthwiseConv2dNativeBackpropFilter(in[0], ops.Const(g, []int32{3, 2, 3, 2}, 4), in[1], steps1, "SAME")}
		}},
	)
	sizes := i32(2, 5, 6, 3)
	for name, bad := range map[string][]*core.Tensor{
		"batch": {sizes, w, seq(1, 5, 6, 6)}, "rows": {sizes, w, seq(2, 4, 6, 6)}, "columns": {sizes, w, seq(2, 5, 5, 6)}, "channels": {sizes, w, seq(2, 5, 6, 5)},
		"depth": {i32(2, 5, 6, 2), w, seq(2, 5, 6, 6)}, "sizes": {i32(5, 6, 3), w, seq(2, 5, 6, 6)}, "gradient": {sizes, w, seq(5, 6, 6)}, "filter": {sizes, seq(3, 2, 6), seq(2, 5, 6, 6)},
	} {
		addSamples(failing(backInput, name, applied(backInput, same...), bad...))
	}
	filter := i32(3, 2, 3, 2)
	addSamples(
		failing(backFilter, "batch", applied(backFilter, same...), x, filter, seq(1, 5, 6, 6)),
		failing(backFilter, "filter", applied(backFilter, same...), x, i32(3, 2, 6), seq(2, 5, 6, 6)))
}

func addDilation() {
	const forward, backInput, backFilter = "Dilation2D", "Dilation2DBackpropInput", "Dilation2DBackpropFilter"
	x, w, dy := distinct(2, 5, 6, 3), within(-3, 3, 2, 3, 3), seq(2, 5, 6, 3)
	same := moved(steps1, "SAME", tf.Attr("rates", steps1))
	apart := moved(two, "VALID", tf.Attr("rates", []int{1, 2, 1, 1}))
	types := []tf.DType{tf.Float64, tf.Float16, tf.BFloat16, tf.Int32, tf.Int64, tf.Uint16}
	addSamples(
		sample{Op: forward, In: []*core.Tensor{x, w}, F: applied(forward, same...), Types: types},
		sample{Op: forward, Name: "apart", In: []*core.Tensor{x, w}, F: applied(forward, apart...)},
		sample{Op: forward, Name: "function", In: []*core.Tensor{x, w}, F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.Dilation2D(in[0], in[1], two, two, "SAME")}
		}},
		sample{Op: backInput, In: []*core.Tensor{x, w, dy}, F: applied(backInput, same...), Types: types},
		sample{Op: backFilter, In: []*core.Tensor{x, w, dy}, F: applied(backFilter, same...), Types: []tf.DType{tf.Float64, tf.Int32, tf.Int64, tf.Uint16}},
		failing(forward, "depth", applied(forward, same...), x, within(-3, 3, 2, 3, 2)),
		failing(forward, "flat images", applied(forward, same...), seq(5, 6, 3), w),
		failing(forward, "flat filter", applied(forward, same...), x, seq(2, 3)),
		failing(backInput, "gradient", applied(backInput, same...), x, w, seq(2, 5, 5, 3)),
		failing(backFilter, "gradient", applied(backFilter, same...), x, w, seq(2, 5, 5, 3)),
	)
}

func addConv3DV1() {
	x, w, dy := within(-1, 1, 1, 3, 4, 3, 2), within(-1, 1, 2, 2, 2, 2, 3), within(-1, 1, 1, 3, 4, 3, 3)
	o := moved([]int{1, 1, 1, 1, 1}, "SAME")
	const gone = "TensorFlow removed the op in version 10 of its graphs"
	f64 := []tf.DType{tf.Float64}
	addSamples(
		sample{Op: "Conv3DBackpropInput", In: []*core.Tensor{x, w, dy}, F: applied("Conv3DBackpropInput", o...), Types: f64, NoGolden: gone},
		sample{Op: "Conv3DBackpropFilter", In: []*core.Tensor{x, w, dy}, F: applied("Conv3DBackpropFilter", o...), Types: f64, NoGolden: gone},
	)
}

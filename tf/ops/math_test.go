package ops_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// within returns n numbers spread over (low, high).
func within(low, high float32, s ...int) *tf.Tensor {
	t := seq(s...)
	for i := range tf.Data[float32](t) {
		tf.Data[float32](t)[i] = low + (high-low)*(float32(i*37%101)+0.7)/102
	}
	return t
}

func init() {
	type function = func(x tf.Output, opts ...tf.Option) tf.Output
	for name, f := range map[string]struct {
		f         function
		low, high float32
	}{
		"Elu": {ops.Elu, -3, 3}, "Selu": {ops.Selu, -3, 3}, "Softplus": {ops.Softplus, -9, 9}, "Softsign": {ops.Softsign, -3, 3},
		"LeakyRelu": {ops.LeakyRelu, -3, 3}, "Asin": {ops.Asin, -1, 1}, "Acos": {ops.Acos, -1, 1}, "Atan": {ops.Atan, -9, 9},
		"Sinh": {ops.Sinh, -3, 3}, "Cosh": {ops.Cosh, -3, 3}, "Asinh": {ops.Asinh, -9, 9}, "Acosh": {ops.Acosh, 1, 9}, "Atanh": {ops.Atanh, -1, 1},
		"Erfc": {ops.Erfc, -3, 3}, "Erfinv": {ops.Erfinv, -0.9, 0.9}, "Ndtri": {ops.Ndtri, 0.1, 0.9},
	} {
		addSamples(
			sample{op: name, in: []*tf.Tensor{within(f.low, f.high, 2, 7)}, f: unary(f.f), tol: 1e-5},
			sample{op: name, name: "specials", in: []*tf.Tensor{vec[float32](0, 1, -1, inf, -inf, nan, 100, -100)}, f: unary(f.f), rough: "infinite and undefined values"})
	}
	addSamples(sample{op: "LeakyRelu", name: "alpha", in: []*tf.Tensor{seq(5)}, f: unary(ops.LeakyRelu, ops.LeakyReluOpts{Alpha: 0.5})})
	for _, name := range []string{"EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad", "LeakyReluGrad"} {
		addSamples(
			sample{op: name, in: []*tf.Tensor{seq(2, 4), within(-1, 2, 2, 4)}, f: applied(name), tol: 1e-5},
			sample{op: name, name: "shapes differ", fails: true, in: []*tf.Tensor{seq(2), seq(3)}, f: applied(name)})
	}
	for name, f := range map[string]function2{"Xlogy": ops.Xlogy, "Xlog1py": ops.Xlog1py, "Xdivy": ops.Xdivy} {
		addBroadcasts(name, f, positive)
		addSamples(sample{op: name, name: "zeros", in: []*tf.Tensor{vec[float32](0, 0, 0, 0, 1), vec[float32](0, nan, inf, -2, 0)}, f: binary(f), rough: "infinite and undefined values"})
	}
	addBroadcasts("Atan2", ops.Atan2, seq)
	addSamples(sample{op: "Atan2", name: "axes", in: []*tf.Tensor{vec[float32](0, 0, 1, -1, 0), vec[float32](1, -1, 0, 0, 0)}, f: binary(ops.Atan2), rough: "on the axes"})
	addBitwise()
	addClips()
	addSamples(
		sample{op: "ApproximateEqual", in: []*tf.Tensor{vec[float32](1, 1, 1, nan), vec[float32](1.000001, 1.1, 1, nan)}, f: binary(ops.ApproximateEqual)},
		sample{op: "ApproximateEqual", name: "tolerant", in: []*tf.Tensor{vec[float32](1, 1, inf), vec[float32](1.5, 2.5, inf)}, f: binary(ops.ApproximateEqual, ops.ApproximateEqualOpts{Tolerance: 1})},
		sample{op: "ApproximateEqual", name: "shapes differ", fails: true, in: []*tf.Tensor{seq(2), seq(3)}, f: binary(ops.ApproximateEqual)})
}

func addBitwise() {
	x := vec[int32](0, 1, -1, 12, -12, math.MaxInt32, math.MinInt32)
	y := vec[int32](3, 5, 7, 10, 1, 6, 2)
	for name, f := range map[string]function2{
		"BitwiseAnd": ops.BitwiseAnd, "BitwiseOr": ops.BitwiseOr, "BitwiseXor": ops.BitwiseXor, "LeftShift": ops.LeftShift, "RightShift": ops.RightShift,
	} {
		addSamples(
			sample{op: name, in: []*tf.Tensor{x, y}, f: binary(f)},
			sample{op: name, name: "negative", in: []*tf.Tensor{vec[int64](1, -7, 9), vec[int64](-1, 99, -3)}, f: binary(f)},
			sample{op: name, name: "broadcast", in: []*tf.Tensor{mat[uint8](2, 200, 7, 3, 9), vec[uint8](1, 2)}, f: binary(f)},
			sample{op: name, name: "unfit", fails: true, in: []*tf.Tensor{vec[int32](1, 2), vec[int32](1, 2, 3)}, f: binary(f)})
	}
	addSamples(
		sample{op: "Invert", in: []*tf.Tensor{x}, f: unary(ops.Invert)},
		sample{op: "PopulationCount", in: []*tf.Tensor{x}, f: unary(ops.PopulationCount)})
}

func addClips() {
	add := func(name string, fails bool, in ...*tf.Tensor) {
		addSamples(sample{op: "ClipByValue", name: name, fails: fails, in: in, f: ternary(ops.ClipByValue)})
	}
	scalar := func(v float32) *tf.Tensor { return arr(tf.Shape{}, v) }
	add("", false, seq(2, 5), scalar(-1), scalar(1.5))
	add("by tensors", false, seq(2, 3), within(-2, 0, 2, 3), within(0, 2, 2, 3))
	add("mixed bounds", false, seq(2, 3), scalar(-1), within(0, 2, 2, 3))
	add("nothing", false, seq(0, 3), scalar(-1), scalar(1))
	addSamples(sample{op: "ClipByValue", name: "bounds crossed", in: []*tf.Tensor{seq(2, 3), scalar(1), scalar(-1)}, f: ternary(ops.ClipByValue), rough: "both bounds get gradients"})
	add("unfit", true, seq(2, 3), seq(2), scalar(1))
}

package ops_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

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
			sample{Op: name, In: []*core.Tensor{within(f.low, f.high, 2, 7)}, F: unary(f.f), Tol: 1e-5},
			sample{Op: name, Name: "specials", In: []*core.Tensor{vec[float32](0, 1, -1, inf, -inf, nan, 100, -100)}, F: unary(f.f), Rough: "infinite and undefined values"})
	}
	addSamples(sample{Op: "LeakyRelu", Name: "alpha", In: []*core.Tensor{seq(5)}, F: unary(ops.LeakyRelu, ops.LeakyReluOpts{Alpha: 0.5})})
	for _, name := range []string{"EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad", "LeakyReluGrad"} {
		addSamples(
			sample{Op: name, In: []*core.Tensor{seq(2, 4), within(-1, 2, 2, 4)}, F: applied(name), Tol: 1e-5},
			sample{Op: name, Name: "shapes differ", Fails: true, In: []*core.Tensor{seq(2), seq(3)}, F: applied(name)})
	}
	for name, f := range map[string]function2{"Xlogy": ops.Xlogy, "Xlog1py": ops.Xlog1py, "Xdivy": ops.Xdivy} {
		addBroadcasts(name, f, positive)
		addSamples(sample{Op: name, Name: "zeros", In: []*core.Tensor{vec[float32](0, 0, 0, 0, 1), vec[float32](0, nan, inf, -2, 0)}, F: binary(f), Rough: "infinite and undefined values"})
	}
	for name, f := range map[string]function2{"Xlogy": ops.Xlogy, "Xlog1py": ops.Xlog1py} {
		for _, d := range []tf.DType{tf.Float16, tf.BFloat16} {
			addSamples(sample{Op: name, Name: "rounded " + d.String(), In: []*core.Tensor{convert(within(-30, 30, 40), d), convert(within(0.1, 9, 40), d)}, F: binary(f), Tol: 1e-9, Types: onlyOwn})
		}
	}
	addBroadcasts("Atan2", ops.Atan2, seq)
	addSamples(sample{Op: "Atan2", Name: "axes", In: []*core.Tensor{vec[float32](0, 0, 1, -1, 0), vec[float32](1, -1, 0, 0, 0)}, F: binary(ops.Atan2), Rough: "on the axes"})
	addBitwise()
	addClips()
	addSamples(
		sample{Op: "ApproximateEqual", In: []*core.Tensor{vec[float32](1, 1, 1, nan), vec[float32](1.000001, 1.1, 1, nan)}, F: binary(ops.ApproximateEqual)},
		sample{Op: "ApproximateEqual", Name: "tolerant", In: []*core.Tensor{vec[float32](1, 1, inf), vec[float32](1.5, 2.5, inf)}, F: binary(ops.ApproximateEqual, ops.ApproximateEqualOpts{Tolerance: 1})},
		sample{Op: "ApproximateEqual", Name: "shapes differ", Fails: true, In: []*core.Tensor{seq(2), seq(3)}, F: binary(ops.ApproximateEqual)})
}

func addBitwise() {
	x := vec[int32](0, 1, -1, 12, -12, math.MaxInt32, math.MinInt32)
	y := vec[int32](3, 5, 7, 10, 1, 6, 2)
	for name, f := range map[string]function2{
		"BitwiseAnd": ops.BitwiseAnd, "BitwiseOr": ops.BitwiseOr, "BitwiseXor": ops.BitwiseXor, "LeftShift": ops.LeftShift, "RightShift": ops.RightShift,
	} {
		addSamples(
			sample{Op: name, In: []*core.Tensor{x, y}, F: binary(f)},
			sample{Op: name, Name: "negative", In: []*core.Tensor{vec[int64](1, -7, 9), vec[int64](-1, 99, -3)}, F: binary(f)},
			sample{Op: name, Name: "broadcast", In: []*core.Tensor{mat[uint8](2, 200, 7, 3, 9), vec[uint8](1, 2)}, F: binary(f)},
			sample{Op: name, Name: "unfit", Fails: true, In: []*core.Tensor{vec[int32](1, 2), vec[int32](1, 2, 3)}, F: binary(f)})
	}
	addSamples(
		sample{Op: "Invert", In: []*core.Tensor{x}, F: unary(ops.Invert)},
		sample{Op: "PopulationCount", In: []*core.Tensor{x}, F: unary(ops.PopulationCount)})
}

func addClips() {
	add := func(name string, fails bool, in ...*core.Tensor) {
		addSamples(sample{Op: "ClipByValue", Name: name, Fails: fails, In: in, F: ternary(ops.ClipByValue)})
	}
	scalar := func(v float32) *core.Tensor { return arr(tf.Shape{}, v) }
	add("", false, seq(2, 5), scalar(-1), scalar(1.5))
	add("by tensors", false, seq(2, 3), within(-2, 0, 2, 3), within(0, 2, 2, 3))
	add("mixed bounds", false, seq(2, 3), scalar(-1), within(0, 2, 2, 3))
	add("nothing", false, seq(0, 3), scalar(-1), scalar(1))
	addSamples(sample{Op: "ClipByValue", Name: "bounds crossed", In: []*core.Tensor{seq(2, 3), scalar(1), scalar(-1)}, F: ternary(ops.ClipByValue), Rough: "both bounds get gradients"})
	add("unfit", true, seq(2, 3), seq(2), scalar(1))
	box := func(re, im float64) *core.Tensor { return arr(tf.Shape{}, complex(re, im)) }
	z := vec(1+2i, -3+0.5i, 0.25-9i)
	for name, in := range map[string][]*core.Tensor{
		"complex": {z, box(-1, -2), box(0.5, 1)}, "complex, by tensors": {z, vec(-2i, -1i, 0), vec(1+1i, 1+1i, 1+1i)}, "complex, mixed bounds": {z, vec(-2i, -1i, 0), box(1, 1)},
	} {
		addSamples(sample{Op: "ClipByValue", Name: name, In: in, F: ternary(ops.ClipByValue), Types: []tf.DType{tf.Complex64}, Rough: "complex numbers have no order"})
	}
}

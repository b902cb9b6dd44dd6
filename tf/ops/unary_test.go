package ops_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

var (
	inf = float32(math.Inf(1))
	nan = float32(math.NaN())
)

// specials are the numbers that loops get wrong.
func specials() *tf.Tensor {
	return vec(0, float32(math.Copysign(0, -1)), 1, -1, inf, -inf, nan, math.MaxFloat32, 2e-38, 0.5, -0.5, 1.5, 2.5, 88, -104)
}

func init() {
	type function = func(x tf.Output, opts ...tf.Option) tf.Output
	for name, f := range map[string]function{
		"Neg": ops.Neg, "Abs": ops.Abs, "Sign": ops.Sign, "Square": ops.Square, "Floor": ops.Floor, "Ceil": ops.Ceil,
		"Rint": ops.Rint, "Exp": ops.Exp, "Expm1": ops.Expm1, "Sin": ops.Sin, "Cos": ops.Cos,
		"Tanh": ops.Tanh, "Sigmoid": ops.Sigmoid, "Erf": ops.Erf, "IsNan": ops.IsNan, "IsInf": ops.IsInf, "IsFinite": ops.IsFinite,
		"Relu": ops.Relu, "Relu6": ops.Relu6,
	} {
		addSamples(
			sample{op: name, in: []*tf.Tensor{seq(2, 7)}, f: unary(f)},
			sample{op: name, name: "scalar", in: []*tf.Tensor{arr(tf.Shape{}, float32(-1.25))}, f: unary(f)},
			sample{op: name, name: "empty", in: []*tf.Tensor{seq(0, 3)}, f: unary(f)})
		if name != "Sin" && name != "Cos" {
			addSamples(sample{op: name, name: "specials", in: []*tf.Tensor{specials()}, f: unary(f), rough: "infinite and undefined values"})
		}
	}
	addSamples( // TensorFlow's kernel for integers gives zeros; its Python function never calls it
		sample{op: "Round", in: []*tf.Tensor{seq(2, 7)}, f: unary(ops.Round), types: []tf.DType{tf.Float64, tf.Float16, tf.BFloat16}},
		sample{op: "Round", name: "specials", in: []*tf.Tensor{specials()}, f: unary(ops.Round), rough: "infinite and undefined values"},
		sample{op: "Round", name: "integers", in: []*tf.Tensor{vec[int32](-2, 0, 7)}, f: unary(ops.Round), noGolden: "TensorFlow gives zeros"})
	for name, f := range map[string]function{
		"Sqrt": ops.Sqrt, "Rsqrt": ops.Rsqrt, "Reciprocal": ops.Reciprocal, "Inv": ops.Inv, "Log": ops.Log, "Log1p": ops.Log1p, "Tan": ops.Tan,
	} {
		addSamples(
			sample{op: name, in: []*tf.Tensor{positive(2, 5)}, f: unary(f), tol: 1e-5},
			sample{op: name, name: "empty", in: []*tf.Tensor{seq(2, 0)}, f: unary(f)})
		if name != "Tan" {
			addSamples(sample{op: name, name: "specials", in: []*tf.Tensor{vec(0, 1, inf, nan, -1, 4, 1e-20, 1e20)}, f: unary(f), rough: "infinite and undefined values"})
		}
	}
	for _, name := range []string{"TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"} {
		addSamples(
			sample{op: name, in: []*tf.Tensor{positive(2, 3), seq(2, 3)}, f: applied(name)},
			sample{op: name, name: "sizes differ", in: []*tf.Tensor{positive(2, 3), seq(2)}, f: applied(name), fails: true})
	}
	for name, f := range map[string]func(x, y tf.Output, opts ...tf.Option) tf.Output{"ReluGrad": ops.ReluGrad, "Relu6Grad": ops.Relu6Grad} {
		addSamples(
			sample{op: name, in: []*tf.Tensor{seq(2, 3), positive(2, 3)}, f: binary(f)},
			sample{op: name, name: "edges", in: []*tf.Tensor{seq(7), vec[float32](-1, 0, 1, 6, 7, inf, nan)}, f: binary(f), rough: "at the kinks"},
			sample{op: name, name: "shapes differ", in: []*tf.Tensor{seq(2), seq(3)}, f: binary(f), fails: true})
	}
}

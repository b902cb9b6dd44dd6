package ops_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

var (
	inf = float32(math.Inf(1))
	nan = float32(math.NaN())
)

// specials are the numbers that loops get wrong.
func specials() *core.Tensor {
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
			sample{Op: name, In: []*core.Tensor{seq(2, 7)}, F: unary(f)},
			sample{Op: name, Name: "scalar", In: []*core.Tensor{arr(tf.Shape{}, float32(-1.25))}, F: unary(f)},
			sample{Op: name, Name: "empty", In: []*core.Tensor{seq(0, 3)}, F: unary(f)})
		if name != "Sin" && name != "Cos" {
			addSamples(sample{Op: name, Name: "specials", In: []*core.Tensor{specials()}, F: unary(f), Rough: "infinite and undefined values"})
		}
	}
	addSamples( // TensorFlow's kernel for integers gives zeros; its Python function never calls it
		sample{Op: "Round", In: []*core.Tensor{seq(2, 7)}, F: unary(ops.Round), Types: []tf.DType{tf.Float64, tf.Float16, tf.BFloat16}},
		sample{Op: "Round", Name: "specials", In: []*core.Tensor{specials()}, F: unary(ops.Round), Rough: "infinite and undefined values"},
		sample{Op: "Round", Name: "integers", In: []*core.Tensor{vec[int32](-2, 0, 7)}, F: unary(ops.Round), NoGolden: "TensorFlow gives zeros"})
	for name, f := range map[string]function{
		"Sqrt": ops.Sqrt, "Rsqrt": ops.Rsqrt, "Reciprocal": ops.Reciprocal, "Inv": ops.Inv, "Log": ops.Log, "Log1p": ops.Log1p, "Tan": ops.Tan,
	} {
		addSamples(
			sample{Op: name, In: []*core.Tensor{positive(2, 5)}, F: unary(f), Tol: 1e-5},
			sample{Op: name, Name: "empty", In: []*core.Tensor{seq(2, 0)}, F: unary(f)})
		if name != "Tan" {
			addSamples(sample{Op: name, Name: "specials", In: []*core.Tensor{vec(0, 1, inf, nan, -1, 4, 1e-20, 1e20)}, F: unary(f), Rough: "infinite and undefined values"})
		}
	}
	for _, name := range []string{"TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"} {
		addSamples(
			sample{Op: name, In: []*core.Tensor{positive(2, 3), seq(2, 3)}, F: applied(name)},
			sample{Op: name, Name: "where dy is 0", In: []*core.Tensor{vec(0, inf, nan, 1, 0, inf), vec[float32](0, 0, 0, 0, 1, -2)}, F: applied(name), Rough: "at the poles"},
			sample{Op: name, Name: "sizes differ", In: []*core.Tensor{positive(2, 3), seq(2)}, F: applied(name), Fails: true})
	}
	for name, f := range map[string]func(x, y tf.Output, opts ...tf.Option) tf.Output{"ReluGrad": ops.ReluGrad, "Relu6Grad": ops.Relu6Grad} {
		addSamples(
			sample{Op: name, In: []*core.Tensor{seq(2, 3), positive(2, 3)}, F: binary(f)},
			sample{Op: name, Name: "edges", In: []*core.Tensor{seq(7), vec[float32](-1, 0, 1, 6, 7, inf, nan)}, F: binary(f), Rough: "at the kinks"},
			sample{Op: name, Name: "shapes differ", In: []*core.Tensor{seq(2), seq(3)}, F: binary(f), Fails: true})
	}
}

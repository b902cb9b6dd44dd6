package training

import (
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	for _, o := range []optimizer{
		{name: "ProximalGradientDescent", vars: "var", in: "alpha l1 l2 delta", sparse: true, steps: exactSteps(proximalDescent[float32], proximalDescent[float64])},
		{name: "ProximalAdagrad", vars: "var accum", in: "lr l1 l2 grad", sparse: true, steps: exactSteps(proximalAdagrad[float32], proximalAdagrad[float64])},
		{
			name: "AdagradDA", vars: "var gradient_accumulator gradient_squared_accumulator", in: "grad lr l1 l2 global_step", sparse: true,
			steps: exactSteps(adagradDA[float32], adagradDA[float64]),
		},
		{
			name: "FtrlV2", vars: "var accum linear", in: "grad lr l1 l2 l2_shrinkage lr_power", attrs: "multiply_linear_by_lr: bool = false", sparse: true,
			steps: floatSteps(ftrlV2[float32], ftrlV2[float64]),
		},
	} {
		o.register()
	}
}

// exactSteps returns the steps of an optimizer that TensorFlow has in these
// types only.
func exactSteps(f32 rule[float32], f64 rule[float64]) steps {
	return steps{tf.Float32: exactStep(f32), tf.Float64: exactStep(f64)}
}

// shrunk returns x after a step of proximal descent: nearer to 0 by l1, 0 if
// that would cross it, and divided by what l2 asks for.
func shrunk[T numeric.Float](x, l1, l2 T) T {
	if l1 > 0 {
		x = signOf(x) * max(absOf(x)-l1, 0)
	}
	return x / (1 + l2)
}

func proximalDescent[T numeric.Float](_ *core.Node, s []T) func(v [][]T, g []T) {
	rate, l1, l2 := s[0], s[1], s[2]
	return func(v [][]T, g []T) {
		x := v[0]
		for i := range x {
			x[i] = shrunk(x[i]-g[i]*rate, rate*l1, rate*l2)
		}
	}
}

func proximalAdagrad[T numeric.Float](_ *core.Node, s []T) func(v [][]T, g []T) {
	lr, l1, l2 := s[0], s[1], s[2]
	return func(v [][]T, g []T) {
		x, acc := v[0], v[1]
		for i := range x {
			acc[i] += g[i] * g[i]
			rate := lr * (1 / sqrtOf(acc[i]))
			x[i] = shrunk(x[i]-g[i]*rate, rate*l1, rate*l2)
		}
	}
}

// adagradDA averages the gradients of all steps (dual averaging): variables
// are what those say, not where they were.
func adagradDA[T numeric.Float](_ *core.Node, s []T) func(v [][]T, g []T) {
	lr, l1, l2, step := s[0], s[1], s[2], s[3]
	return func(v [][]T, g []T) {
		x, sum, squares := v[0], v[1], v[2]
		for i := range x {
			sum[i] += g[i]
			squares[i] += g[i] * g[i]
			away := sum[i]
			if l1 > 0 {
				away = signOf(away) * max(absOf(away)-l1*step, 0)
			}
			x[i] = -lr * away / (l2*step*lr + sqrtOf(squares[i]))
		}
	}
}

// ftrlV2 is ftrl that also pulls variables to 0 by their gradients.
func ftrlV2[T numeric.Float](n *core.Node, s []T) func(v [][]T, g []T) {
	p := ftrlStep[T]{lr: s[0], l1: s[1], l2: s[2], power: s[4], shrinkage: s[3], scaled: n.Bool("multiply_linear_by_lr")}
	return func(v [][]T, g []T) {
		x, acc, linear := v[0], v[1], v[2]
		for i := range x {
			p.update(&x[i], &acc[i], &linear[i], g[i])
		}
	}
}

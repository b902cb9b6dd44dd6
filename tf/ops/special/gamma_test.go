package special_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/special"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addGammas()
	addBetas()
}

func addGammas() {
	a := optest.Arr(tf.Shape{6, 1}, 0.05, 0.5, 1, 3.5, 9.5, 40)
	x := vec64(1e-5, 0.3, 0.99, 1.2, 3, 3.6, 9, 12, 35, 44, 90)
	edges := optest.Arr(tf.Shape{6, 1}, -1, 0, 0.5, 3, math.Inf(1), math.NaN())
	for op, f := range map[string]func(a, x tf.Output, opts ...tf.Option) tf.Output{
		"Igamma": special.Igamma, "Igammac": special.Igammac, "IgammaGradA": special.IgammaGradA, "RandomGammaGrad": special.RandomGammaGrad,
	} {
		tol := 1e-10
		if op == "RandomGammaGrad" {
			tol = 1e-8 // TensorFlow's has lost more in the tails
		}
		addSamples(
			sample{Op: op, In: tensors{vec(0.5, 1, 2, 5), vec(1.2, 0.3, 2.5, 4)}, F: binary(f), Tol: 5e-5},
			sample{Op: op, Name: "grid", In: tensors{a, x}, F: binary(f), Tol: tol},
			sample{Op: op, Name: "ends", In: tensors{edges, vec64(-1, 0, 0.5, 4, 50, math.Inf(1), math.NaN())}, F: binary(f), Rough: notThere},
			failing(op, "shapes", applied(op), vec(1, 2), vec(1, 2, 3)))
	}
}

func addBetas() {
	const op = "Betainc"
	x := vec64(0.01, 0.2, 0.45, 0.5, 0.55, 0.8, 0.99)
	f := ternary(special.Betainc)
	one := vec(1)
	addSamples(
		sample{Op: op, In: tensors{vec(0.5, 2, 3), vec(1.5, 1, 4), vec(0.2, 0.7, 0.4)}, F: f, Tol: 1e-5, Rough: "there is one for x only"},
		sample{Op: op, Name: "one x", In: tensors{vec(0.5, 2, 3), vec(1.5, 1, 4), core.Scalar(float32(0.3))}, F: f, Tol: 1e-5, Rough: "there is one for x only"},
		failing(op, "b", applied(op), vec(1, 2), vec(1, 2, 3), core.Scalar(float32(0.5))),
		failing(op, "x", applied(op), one, core.Scalar(float32(1)), vec(1, 2)),
		failing(op, "ranks", applied(op), optest.Mat[float32](1, 1, 2), vec(1, 2), core.Scalar(float32(1))))
	for name, ab := range map[string][2]float64{"small": {0.3, 0.4}, "one": {1, 1}, "mixed": {0.7, 9}, "great": {50, 30}} {
		addSamples(sample{Op: op, Name: name, In: tensors{core.Scalar(ab[0]), core.Scalar(ab[1]), x}, F: f, Tol: 1e-10})
	}
	for name, ab := range map[string][2]float64{"negative": {-1, 1}, "zero": {0, 1}, "no b": {3, 0}, "infinite": {math.Inf(1), 1}, "good": {0.5, 2}} {
		addSamples(sample{Op: op, Name: "ends " + name, In: tensors{core.Scalar(ab[0]), core.Scalar(ab[1]), vec64(-1, 0, 0.3, 1, 2, math.NaN())}, F: f, Rough: notThere})
	}
}

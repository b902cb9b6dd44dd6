package linalg_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// factors makes the function of a sample of Qr. The gradient has to know the
// shape of the matrices.
func factors(s tf.Shape, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		in[0].SetShape(s)
		q, r := linalg.Qr(in[0], opts...)
		return []tf.Output{q, r}
	}
}

func init() {
	full := linalg.QrOpts{FullMatrices: true}
	for _, s := range []struct {
		name string
		x    *core.Tensor
	}{
		{"deep", noise(5, 3)}, {"batch", noise(2, 2, 3, 3)}, {"wide", noise(2, 2, 4)}, {"one", seq(1, 1)}, {"row", seq(1, 3)}, {"column", seq(3, 1)},
		{"nothing", seq(0, 3)}, {"no columns", seq(3, 0)}, {"no batch", seq(0, 2, 3)},
	} {
		addSamples(sample{Op: "Qr", Name: s.name, In: tensors{s.x}, F: factors(s.x.Shape()), Types: exact, Tol: 2e-5, Static: "the gradient asks for it"})
		addSamples(sample{Op: "Qr", Name: s.name + " full", In: tensors{s.x}, F: factors(s.x.Shape(), full), Types: exact, Tol: 2e-5, Rough: "not defined for deep matrices", Static: "the gradient asks for it"})
	}
	addSamples(sample{Op: "Qr", Name: "half", In: tensors{as(noise(3, 2), tf.Float16)}, F: factors(tf.Shape{3, 2}), Tol: 1e-2, Static: "the gradient asks for it"})
	addSamples(failing("Qr", "vector", applied("Qr"), seq(3)))
}

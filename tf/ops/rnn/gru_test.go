package rnn_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/rnn"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addGRUs()
	addBadGRUs()
}

// gruIn are the inputs of a gated recurrent unit of the given sizes.
func gruIn(batch, input, cell int) tensors {
	return tensors{
		within(-2, 2, batch, input), within(-1, 0.9, batch, cell), within(-1, 1.2, input+cell, 2*cell), within(-1.1, 0.8, input+cell, cell),
		within(-1, 0.5, 2*cell), within(-0.5, 0.6, cell),
	}
}

// gruGradIn are those of its gradient.
func gruGradIn(batch, input, cell int) tensors {
	return append(gruIn(batch, input, cell),
		within(0.1, 0.9, batch, cell), within(0.2, 0.8, batch, cell), within(-0.9, 0.8, batch, cell), within(-1, 1.5, batch, cell))
}

func gruWeights(in []tf.Output) rnn.GRUWeights {
	return rnn.GRUWeights{RU: in[0], C: in[1], BRU: in[2], BC: in[3]}
}

func addGRUs() {
	cell := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		s := rnn.GRUBlockCell(in[0], in[1], gruWeights(in[2:]))
		return []tf.Output{s.R, s.U, s.C, s.H}
	}
	grad := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		d := rnn.GRUBlockCellGrad(in[0], in[1], gruWeights(in[2:]), rnn.GRUStates{R: in[6], U: in[7], C: in[8]}, in[9])
		return []tf.Output{d.X, d.HPrev, d.C, d.RU}
	}
	addSamples(
		sample{Op: "GRUBlockCell", In: gruIn(3, 5, 4), F: cell, Tol: 5e-6},
		sample{Op: "GRUBlockCell", Name: "one", In: gruIn(1, 1, 1), F: cell},
		sample{Op: "GRUBlockCellGrad", In: gruGradIn(3, 5, 4), F: grad, Tol: 1e-5},
		sample{Op: "GRUBlockCellGrad", Name: "one", In: gruGradIn(1, 1, 1), F: grad})
}

func addBadGRUs() {
	m := func(s ...int) *core.Tensor { return within(-1, 1, s...) }
	bad("GRUBlockCell", applied("GRUBlockCell"), gruIn(3, 5, 4), map[string]swap{
		"x": {0, m(3)}, "h": {1, m(3)}, "h rows": {1, m(2, 4)}, "gates": {2, m(9)}, "gate rows": {2, m(8, 8)}, "gate columns": {2, m(9, 4)},
		"candidate": {3, m(9)}, "candidate rows": {3, m(8, 4)}, "candidate columns": {3, m(9, 8)},
		"gate bias": {4, m(8, 1)}, "gate bias size": {4, m(4)}, "bias": {5, m(4, 1)}, "bias size": {5, m(8)},
	})
	grads := map[string]swap{}
	for i := 6; i < 10; i++ {
		name := string(rune('a' + i - 6))
		grads[name], grads[name+" rows"], grads[name+" columns"] = swap{i, m(4)}, swap{i, m(2, 4)}, swap{i, m(3, 5)}
	}
	bad("GRUBlockCellGrad", applied("GRUBlockCellGrad"), gruGradIn(3, 5, 4), grads)
	addSamples(optest.Failing("GRUBlockCellGrad", "x", applied("GRUBlockCellGrad"), append(tensors{m(3)}, gruGradIn(3, 5, 4)[1:]...)...))
}

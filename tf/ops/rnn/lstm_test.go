package rnn_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/rnn"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addCells()
	addCellGrads()
	addBlocks()
	addBlockGrads()
	addBadCells()
	addBadBlocks()
}

// cellIn are the inputs of a step of an LSTM of the given sizes.
func cellIn(batch, input, cell int) tensors {
	return append(tensors{within(-2, 2, batch, input)}, stateIn(batch, input, cell)...)
}

// stateIn are the inputs beside x.
func stateIn(batch, input, cell int) tensors {
	return tensors{
		within(-3, 1, batch, cell), within(-1, 0.9, batch, cell), within(-1, 1.2, input+cell, 4*cell),
		within(-0.3, 0.7, cell), within(-0.6, 0.4, cell), within(-0.2, 0.9, cell), within(-1, 0.5, 4*cell),
	}
}

// blockIn are the inputs of an LSTM over time steps, of which most are run.
func blockIn(time, most, batch, input, cell int) tensors {
	in := tensors{optest.Scalar(int64(most)), within(-2, 2, time, batch, input)}
	return append(in, stateIn(batch, input, cell)...)
}

// in converts the float32 tensors among ts to type d.
func in(d tf.DType, ts tensors) tensors {
	out := append(tensors{}, ts...)
	for i, t := range out {
		if t.DType() == tf.Float32 {
			out[i] = optest.Convert(t, d)
		}
	}
	return out
}

// opts returns the attributes of a cell.
func opts(bias, clip float32, peepholes bool) rnn.LSTMOpts {
	return rnn.LSTMOpts{ForgetBias: &bias, CellClip: &clip, UsePeephole: peepholes}
}

func weights(in []tf.Output) rnn.LSTMWeights {
	return rnn.LSTMWeights{W: in[0], WCI: in[1], WCF: in[2], WCO: in[3], B: in[4]}
}

func list(s rnn.LSTMStates) []tf.Output { return []tf.Output{s.I, s.CS, s.F, s.O, s.CI, s.CO, s.H} }

type function = func(*tf.Graph, []tf.Output) []tf.Output

func addCells() {
	const op = "LSTMBlockCell"
	cell := func(o ...tf.Option) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return list(rnn.LSTMBlockCell(in[0], in[1], in[2], weights(in[3:]), o...))
		}
	}
	addSamples(
		sample{Op: op, In: cellIn(3, 5, 4), F: cell(), Types: optest.OnlyOwn},
		sample{Op: op, Name: "half", In: in(tf.Float16, cellIn(3, 5, 4)), F: cell(), Types: optest.OnlyOwn, Tol: 0.02},
		sample{Op: op, Name: "peepholes", In: cellIn(2, 1, 7), F: cell(opts(0.3, 0.5, true)), Types: optest.OnlyOwn},
		sample{Op: op, Name: "unclipped", In: cellIn(4, 3, 2), F: cell(opts(0, -1, true)), Types: optest.OnlyOwn})
}

// cellGradIn are the inputs of the gradient of a step.
func cellGradIn(batch, input, cell int) tensors {
	in := cellIn(batch, input, cell)
	for k := range 8 {
		in = append(in, within(-0.9+float32(k)/7, 0.8+float32(k)/9, batch, cell))
	}
	return in
}

func addCellGrads() {
	const op = "LSTMBlockCellGrad"
	grad := func(peepholes bool) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			s := rnn.LSTMStates{I: in[8], CS: in[9], F: in[10], O: in[11], CI: in[12], CO: in[13]}
			d := rnn.LSTMBlockCellGrad(in[0], in[1], in[2], weights(in[3:]), s, in[14], in[15], peepholes)
			return []tf.Output{d.CSPrev, d.Gates, d.WCI, d.WCF, d.WCO}
		}
	}
	addSamples(
		sample{Op: op, In: cellGradIn(3, 5, 4), F: grad(false), Types: optest.OnlyOwn},
		sample{Op: op, Name: "peepholes", In: cellGradIn(4, 2, 5), F: grad(true), Types: optest.OnlyOwn, Tol: 1e-5},
		sample{Op: op, Name: "half", In: in(tf.Float16, cellGradIn(2, 3, 4)), F: grad(true), Types: optest.OnlyOwn, Tol: 0.02})
}

// block returns the function of a sample of BlockLSTM or BlockLSTMV2.
func block(f func(n, x, cs, h tf.Output, w rnn.LSTMWeights, opts ...tf.Option) rnn.LSTMStates, o ...tf.Option) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return list(f(in[0], in[1], in[2], in[3], weights(in[4:]), o...))
	}
}

// stateAndOutput keeps of the states those that are told after the last step.
func stateAndOutput(f function) function {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		s := f(g, in)
		return []tf.Output{s[1], s[6]}
	}
}

func addBlocks() {
	clipped := float32(0.4)
	v2 := rnn.LSTMOpts{CellClip: &clipped, UsePeephole: true}
	for _, s := range []sample{
		{Op: "BlockLSTM", In: blockIn(4, 4, 3, 2, 5), F: block(rnn.BlockLSTM)},
		{Op: "BlockLSTM", Name: "peepholes", In: blockIn(3, 3, 2, 3, 4), F: block(rnn.BlockLSTM, opts(0.2, 0, true))},
		{Op: "BlockLSTM", Name: "shorter", In: blockIn(5, 3, 2, 3, 2), F: stateAndOutput(block(rnn.BlockLSTM))},
		{Op: "BlockLSTM", Name: "no steps", In: blockIn(2, 0, 2, 3, 2), F: stateAndOutput(block(rnn.BlockLSTM))},
		{Op: "BlockLSTM", Name: "half", In: in(tf.Float16, blockIn(3, 3, 2, 3, 4)), F: block(rnn.BlockLSTM), Tol: 0.02},
		{Op: "BlockLSTMV2", In: blockIn(4, 4, 3, 2, 5), F: block(rnn.BlockLSTMV2)},
		{Op: "BlockLSTMV2", Name: "clipped", In: blockIn(3, 3, 2, 3, 4), F: block(rnn.BlockLSTMV2, v2)},
		{Op: "BlockLSTMV2", Name: "half", In: in(tf.Float16, blockIn(3, 3, 2, 3, 4)), F: block(rnn.BlockLSTMV2), Tol: 0.02},
	} {
		s.Types = optest.OnlyOwn
		s.Tol = max(s.Tol, 5e-6)
		addSamples(s)
	}
}

// blockGradIn are the inputs of the gradient of an LSTM over time.
func blockGradIn(time, most, batch, input, cell int) tensors {
	in := blockIn(time, most, batch, input, cell)
	for k := range 9 {
		in = append(in, within(-0.9+float32(k)/7, 0.8+float32(k)/9, time, batch, cell))
	}
	return in
}

func blockGrad(f func(n, x, cs, h tf.Output, w rnn.LSTMWeights, s rnn.LSTMStates, dcs, dh tf.Output, peepholes bool, opts ...tf.Option) rnn.BlockLSTMGrads, peepholes bool) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		s := rnn.LSTMStates{I: in[9], CS: in[10], F: in[11], O: in[12], CI: in[13], CO: in[14], H: in[15]}
		d := f(in[0], in[1], in[2], in[3], weights(in[4:]), s, in[16], in[17], peepholes)
		return []tf.Output{d.X, d.CSPrev, d.HPrev, d.W, d.WCI, d.WCF, d.WCO, d.B}
	}
}

func addBlockGrads() {
	for _, s := range []sample{
		{Op: "BlockLSTMGrad", In: blockGradIn(3, 3, 2, 3, 4), F: blockGrad(rnn.BlockLSTMGrad, false)},
		{Op: "BlockLSTMGrad", Name: "peepholes", In: blockGradIn(4, 2, 3, 1, 2), F: blockGrad(rnn.BlockLSTMGrad, true)},
		{Op: "BlockLSTMGrad", Name: "no steps", In: blockGradIn(2, 0, 3, 1, 2), F: blockGrad(rnn.BlockLSTMGrad, true)},
		{Op: "BlockLSTMGradV2", In: blockGradIn(3, 3, 2, 3, 4), F: blockGrad(rnn.BlockLSTMGradV2, true)},
	} {
		s.Types, s.Tol = optest.OnlyOwn, 2e-5
		addSamples(s)
	}
	half := in(tf.Float16, blockGradIn(2, 2, 2, 3, 2))
	for op, f := range map[string]function{"BlockLSTMGrad": blockGrad(rnn.BlockLSTMGrad, true), "BlockLSTMGradV2": blockGrad(rnn.BlockLSTMGradV2, false)} {
		addSamples(sample{Op: op, Name: "half", In: half, F: f, Types: optest.OnlyOwn, Tol: 0.05})
	}
}

// bad adds samples of an op that refuses its inputs, one of which is another.
func bad(op string, f function, in tensors, swaps map[string]swap) {
	for name, w := range swaps {
		changed := append(tensors{}, in...)
		changed[w.i] = w.t
		addSamples(optest.Failing(op, name, f, changed...))
	}
}

// swap is an input and its number.
type swap struct {
	i int
	t *core.Tensor
}

func addBadCells() {
	m := func(s ...int) *core.Tensor { return within(-1, 1, s...) }
	shared := map[string]swap{
		"state rows": {1, m(2, 4)}, "output rows": {2, m(2, 4)}, "output columns": {2, m(3, 3)},
		"weight rows": {3, m(8, 16)}, "weight columns": {3, m(9, 15)}, "bias": {7, m(15)}, "peephole": {4, m(4, 1)},
	}
	bad("LSTMBlockCell", applied("LSTMBlockCell"), cellIn(3, 5, 4), shared)
	grads := map[string]swap{}
	for i := 8; i < 16; i++ {
		name := string(rune('a' + i - 8))
		grads[name+" rows"], grads[name+" columns"] = swap{i, m(2, 4)}, swap{i, m(3, 5)}
	}
	bad("LSTMBlockCellGrad", applied("LSTMBlockCellGrad", tf.Attr("use_peephole", false)), cellGradIn(3, 5, 4), grads)
	addSamples(optest.Failing("LSTMBlockCell", "empty", applied("LSTMBlockCell"), cellIn(0, 5, 4)...))
}

func addBadBlocks() {
	m := func(s ...int) *core.Tensor { return within(-1, 1, s...) }
	bad("BlockLSTM", applied("BlockLSTM"), blockIn(4, 4, 3, 2, 5), map[string]swap{
		"step vector": {0, optest.Vec[int64](1)},
		"x":           {1, m(3, 2)}, "state": {2, m(3)}, "state rows": {2, m(2, 5)}, "output": {3, m(3)}, "output rows": {3, m(2, 5)}, "output columns": {3, m(3, 4)},
		"weights": {4, m(7)}, "weight rows": {4, m(8, 20)}, "weight columns": {4, m(7, 16)}, "peephole": {5, m(4)}, "flat peephole": {6, m(5, 1)}, "peephole size": {7, m(1)},
		"bias": {8, m(16)}, "bias rank": {8, m(20, 1)},
	})
	bad("BlockLSTMGrad", applied("BlockLSTMGrad", tf.Attr("use_peephole", false)), blockGradIn(3, 3, 2, 3, 4), map[string]swap{
		"step vector": {0, optest.Vec[int64](1)}, "x": {1, m(3, 2)}, "state": {2, m(3)}, "output": {3, m(3)},
		"weights": {4, m(7)}, "weight columns": {4, m(7, 15)}, "weight rows": {4, m(8, 16)}, "peephole": {5, m(4, 1)}, "bias": {8, m(20)}, "bias rank": {8, m(16, 1)},
		"gate": {9, m(3, 4)}, "all outputs": {15, m(3, 4)},
	})
	for name, n := range map[string]int64{"steps": 5, "negative steps": -1} {
		in := append(tensors{optest.Scalar(n)}, blockIn(4, 4, 3, 2, 5)[1:]...)
		s := optest.Failing("BlockLSTM", name, applied("BlockLSTM"), in...)
		s.NoGolden = "TensorFlow ends the process"
		addSamples(s)
	}
}

// TestLSTMThreads wants equal bits whatever the threads.
func TestLSTMThreads(t *testing.T) {
	o := opts(0.2, 0.8, true)
	optest.Threads(t,
		sample{Op: "LSTMBlockCell", In: cellIn(40, 33, 130), F: applied("LSTMBlockCell", o)},
		sample{Op: "BlockLSTM", In: blockIn(3, 3, 40, 33, 130), F: applied("BlockLSTM", o)},
		sample{Op: "BlockLSTMGrad", In: blockGradIn(3, 2, 40, 33, 130), F: applied("BlockLSTMGrad", tf.Attr("use_peephole", true))},
		sample{Op: "GRUBlockCell", In: gruIn(40, 33, 130), F: applied("GRUBlockCell")},
		sample{Op: "GRUBlockCellGrad", In: gruGradIn(40, 33, 130), F: applied("GRUBlockCellGrad")})
}

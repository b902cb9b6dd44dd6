package rnn

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A BasicRNNCell is the simplest cell: its output, which is its state as well,
// is activation([x h]·kernel + bias).
type BasicRNNCell struct {
	home
	a affine
}

// NewBasicRNN returns a cell. Variables are basic_rnn_cell/kernel [in+units
// units] and basic_rnn_cell/bias.
func NewBasicRNN(units int, o ...CellOpts) *BasicRNNCell {
	return &BasicRNNCell{home: home{kind: "basic_rnn_cell", units: units, o: first(o)}}
}

// StateSize returns the number of units.
func (c *BasicRNNCell) StateSize() []int { return []int{c.units} }

// OutputSize returns the number of units.
func (c *BasicRNNCell) OutputSize() int { return c.units }

// Step adds a step.
func (c *BasicRNNCell) Step(x tf.Output, s State) (tf.Output, State) {
	return c.step(c, x, s, c.build, func() (tf.Output, State) { return c.end(c.a.of(x, s[0])) })
}

func (c *BasicRNNCell) build(in spec) {
	c.a = c.affine(in, in.size+c.units, c.units, or(c.o.BiasInitializer, initializers.Zeros))
}

func (c *BasicRNNCell) end(z tf.Output) (tf.Output, State) {
	y := c.o.act(z)
	return y, State{y}
}

func (c *BasicRNNCell) hoist(x tf.Output, s State) (p []tf.Output, step stepper) {
	var w tf.Output
	var of func(tf.Output) tf.Output
	y, _ := c.step(c, x, s, c.build, func() (y tf.Output, _ State) {
		w = c.a.stateKernel(c.in)
		y, of = c.a.ofInputs(x, c.a.bias())
		return y, nil
	})
	return []tf.Output{y}, c.inside(func(p []tf.Output, s State) (tf.Output, State) {
		return c.end(ops.AddV2(of(p[0]), ops.MatMul(s[0], w)))
	})
}

// A GRUCell is a gated recurrent unit (Cho et al., EMNLP 2014).
type GRUCell struct {
	home
	gates, candidate affine
}

// NewGRU returns a cell. Variables are gru_cell/gates/kernel [in+units 2·units],
// gru_cell/gates/bias, which begins with ones, gru_cell/candidate/kernel and
// gru_cell/candidate/bias.
func NewGRU(units int, o ...CellOpts) *GRUCell {
	return &GRUCell{home: home{kind: "gru_cell", units: units, o: first(o)}}
}

// StateSize returns the number of units.
func (c *GRUCell) StateSize() []int { return []int{c.units} }

// OutputSize returns the number of units.
func (c *GRUCell) OutputSize() int { return c.units }

// Step adds a step.
func (c *GRUCell) Step(x tf.Output, s State) (tf.Output, State) {
	return c.step(c, x, s, c.build, func() (tf.Output, State) {
		return c.end(c.gates.of(x, s[0]), s[0], func(reset tf.Output) tf.Output { return c.candidate.of(x, reset) })
	})
}

func (c *GRUCell) build(in spec) {
	gru(&c.home, in, &c.gates, &c.candidate)
}

// gru makes the variables of a gated recurrent unit.
func gru(h *home, in spec, gates, candidate *affine) {
	vars.Scope(in.g, "gates", vars.ScopeOptions{}, func() {
		*gates = h.affine(in, in.size+h.units, 2*h.units, or(h.o.BiasInitializer, initializers.Ones))
	})
	vars.Scope(in.g, "candidate", vars.ScopeOptions{}, func() {
		*candidate = h.affine(in, in.size+h.units, h.units, or(h.o.BiasInitializer, initializers.Zeros))
	})
}

// end finishes a step: z are the gates before their activation, and candidate
// gives the candidate before its activation.
func (c *GRUCell) end(z, h tf.Output, candidate func(reset tf.Output) tf.Output) (tf.Output, State) {
	ru := ops.Split(z, 2, 1) // first, so that what is read of each half is computed where it is cut
	r, u := ops.Sigmoid(ru[0]), ops.Sigmoid(ru[1])
	n := c.o.act(candidate(ops.Mul(r, h)))
	y := ops.AddV2(ops.Mul(u, h), ops.Mul(ops.Sub(author.AsOperand(u, 1), u), n))
	return y, State{y}
}

// hoist returns the inputs' parts of the gates and of the candidate as two values: to join
// them and to cut them again in each step would move as much memory as the steps do.
func (c *GRUCell) hoist(x tf.Output, s State) (p []tf.Output, step stepper) {
	var gates, candidate, ofCandidate tf.Output
	var addGates, addCandidate func(tf.Output) tf.Output
	ofGates, _ := c.step(c, x, s, c.build, func() (y tf.Output, _ State) {
		gates, candidate = c.gates.stateKernel(c.in), c.candidate.stateKernel(c.in)
		ofCandidate, addCandidate = c.candidate.ofInputs(x, c.candidate.bias())
		y, addGates = c.gates.ofInputs(x, c.gates.bias())
		return y, nil
	})
	return []tf.Output{ofGates, ofCandidate}, c.inside(func(p []tf.Output, s State) (tf.Output, State) {
		z := ops.AddV2(addGates(p[0]), ops.MatMul(s[0], gates))
		return c.end(z, s[0], func(reset tf.Output) tf.Output { return ops.AddV2(addCandidate(p[1]), ops.MatMul(reset, candidate)) })
	})
}

package rnn

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// LSTMOpts are what may be chosen for an LSTMCell.
type LSTMOpts struct {
	CellOpts            // the kernel's initializer is that of peepholes and projection too
	ForgetBias *float64 // added to the forget gate; nil stands for 1
	Peepholes  bool     // the gates see the memory
	CellClip   float64  // bounds the memory, if not 0
	Projection int      // the size of the output, if not 0
	ProjClip   float64  // bounds the output of a projection, if not 0
}

func (o *LSTMOpts) forgetBias() float64 {
	if o.ForgetBias == nil {
		return 1
	}
	return *o.ForgetBias
}

// An LSTMCell is a long short-term memory (Hochreiter and Schmidhuber 1997), with
// peepholes and a projection where they are asked for (Sak et al., 2014). Its
// state is its memory c and its output h.
type LSTMCell struct {
	home
	lo              LSTMOpts
	a               affine
	wf, wi, wo, out parameter // peepholes and projection
}

// NewLSTM returns a cell. Variables are lstm_cell/kernel [in+out 4·units] of the
// gates input, candidate, forget and output, lstm_cell/bias,
// lstm_cell/w_f_diag, w_i_diag and w_o_diag [units] of peepholes, and
// lstm_cell/projection/kernel [units projection].
func NewLSTM(units int, o ...LSTMOpts) *LSTMCell { return newLSTM("lstm_cell", units, first(o)) }

// NewBasicLSTM returns a cell without peepholes and projection, whose variables
// are basic_lstm_cell/kernel and basic_lstm_cell/bias.
func NewBasicLSTM(units int, o ...LSTMOpts) *LSTMCell {
	opt := first(o)
	opt.Peepholes, opt.CellClip, opt.Projection, opt.ProjClip = false, 0, 0, 0
	return newLSTM("basic_lstm_cell", units, opt)
}

func newLSTM(kind string, units int, o LSTMOpts) *LSTMCell {
	return &LSTMCell{home: home{kind: kind, units: units, o: o.CellOpts}, lo: o}
}

// StateSize returns the sizes of c and h.
func (c *LSTMCell) StateSize() []int { return []int{c.units, c.OutputSize()} }

// OutputSize returns the number of units, or the size of the projection.
func (c *LSTMCell) OutputSize() int {
	if c.lo.Projection > 0 {
		return c.lo.Projection
	}
	return c.units
}

// Step adds a step.
func (c *LSTMCell) Step(x tf.Output, s State) (tf.Output, State) {
	return c.step(c, x, s, c.build, func() (tf.Output, State) {
		z := ops.Split(c.a.of(x, s[1]), 4, 1)
		z[2] = z[2].Add(c.lo.forgetBias())
		return c.combine(z, s[0])
	})
}

func (c *LSTMCell) build(in spec) {
	c.a = c.affine(in, in.size+c.OutputSize(), 4*c.units, or(c.o.BiasInitializer, initializers.Zeros))
	c.wf, c.wi, c.wo = c.peepholes(in)
	if c.lo.Projection > 0 {
		vars.Scope(in.g, "projection", vars.ScopeOptions{}, func() { c.out = c.get(in, "kernel", c.o.KernelInitializer, c.units, c.lo.Projection) })
	}
}

// peepholes makes the variables of peepholes, if there are any.
func (c *LSTMCell) peepholes(in spec) (wf, wi, wo parameter) {
	if c.lo.Peepholes {
		diag := func(name string) parameter { return c.get(in, name, c.o.KernelInitializer, c.units) }
		wf, wi, wo = diag("w_f_diag"), diag("w_i_diag"), diag("w_o_diag")
	}
	return wf, wi, wo
}

// end finishes a step, of which z are the gates before their activation, with the
// forget bias.
func (c *LSTMCell) end(z, memory tf.Output) (tf.Output, State) {
	return c.combine(ops.Split(z, 4, 1), memory)
}

func (c *LSTMCell) combine(gates []tf.Output, memory tf.Output) (tf.Output, State) {
	i, j, f, o := gates[0], gates[1], gates[2], gates[3]
	if c.lo.Peepholes {
		f, i = ops.AddV2(f, ops.Mul(c.wf(), memory)), ops.AddV2(i, ops.Mul(c.wi(), memory))
	}
	next := ops.AddV2(ops.Mul(ops.Sigmoid(f), memory), ops.Mul(ops.Sigmoid(i), c.o.act(j)))
	next = clipped(next, c.lo.CellClip)
	if c.lo.Peepholes {
		o = ops.AddV2(o, ops.Mul(c.wo(), next))
	}
	y := ops.Mul(ops.Sigmoid(o), c.o.act(next))
	if c.lo.Projection > 0 {
		y = clipped(ops.MatMul(y, c.out()), c.lo.ProjClip)
	}
	return y, State{next, y}
}

// clipped bounds x on both sides, unless limit is 0.
func clipped(x tf.Output, limit float64) tf.Output {
	if limit == 0 {
		return x
	}
	return x.Clip(-limit, limit)
}

// hoist adds the forget bias to the inputs' part as well.
func (c *LSTMCell) hoist(x tf.Output, s State) (p []tf.Output, step stepper) {
	var w tf.Output
	var of func(tf.Output) tf.Output
	y, _ := c.step(c, x, s, c.build, func() (y tf.Output, _ State) {
		w = c.a.stateKernel(c.in)
		forget := ops.Concat(0, []tf.Output{
			ops.Fill([]int{2 * c.units}, author.AsOperand(x, 0)), ops.Fill([]int{c.units}, author.AsOperand(x, c.lo.forgetBias())), ops.Fill([]int{c.units}, author.AsOperand(x, 0)),
		})
		y, of = c.a.ofInputs(x, ops.AddV2(c.a.bias(), forget))
		return y, nil
	})
	return []tf.Output{y}, c.inside(func(p []tf.Output, s State) (tf.Output, State) {
		return c.end(ops.AddV2(of(p[0]), ops.MatMul(s[1], w)), s[0])
	})
}

package rnn

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	kernels "github.com/gorge-tf/gorge/tf/ops/rnn"
)

// An LSTMBlockCell computes the same as an [LSTMCell] without projection, of type
// float32, by one operation a step; [DynamicRNN] computes all steps by one. It has the same variables: a checkpoint of
// one can be restored to the other. Gradients go through it, in loops too.
type LSTMBlockCell struct {
	LSTMCell
}

// NewLSTMBlock returns a cell. Its activation is tanh and it has no projection.
func NewLSTMBlock(units int, o ...LSTMOpts) *LSTMBlockCell {
	opt := first(o)
	c := &LSTMBlockCell{}
	c.home, c.lo = home{kind: "lstm_cell", units: units, o: opt.CellOpts}, opt
	return c
}

// Step adds a step.
func (c *LSTMBlockCell) Step(x tf.Output, s State) (tf.Output, State) {
	if err := c.plain(); err != nil {
		return failed(c, x, c.kind, err)
	}
	return c.step(c, x, s, c.blocks, func() (tf.Output, State) {
		y := c.apply(x, s, c.weights(x))
		return y[1], State{y[0], y[1]}
	})
}

// blocks makes the variables, those of peepholes in the order of tf.contrib's cell,
// which is not LSTMCell's.
func (c *LSTMBlockCell) blocks(in spec) {
	c.a = c.affine(in, in.size+c.units, 4*c.units, or(c.o.BiasInitializer, initializers.Zeros))
	if c.lo.Peepholes {
		diag := func(name string) parameter { return c.get(in, name, c.o.KernelInitializer, c.units) }
		c.wi, c.wf, c.wo = diag("w_i_diag"), diag("w_f_diag"), diag("w_o_diag")
	}
}

// The operation takes inputs and state together.
func (c *LSTMBlockCell) hoist(tf.Output, State) (p []tf.Output, step stepper) { return p, nil }

// sequence adds the operation that computes all steps.
func (c *LSTMBlockCell) sequence(x tf.Output, s State, steps tf.Output) (y tf.Output, states State) {
	if err := c.plain(); err != nil {
		return failed(c, x, c.kind, err)
	}
	return c.step(c, x, s, c.blocks, func() (tf.Output, State) {
		out := kernels.BlockLSTM(steps, x, s[0], s[1], c.weights(x), c.options())
		before := func(first, rest tf.Output) tf.Output {
			return ops.Concat(0, []tf.Output{ops.ExpandDims(first, 0), rest})
		}
		return out.H, State{before(s[0], out.CS), before(s[1], out.H)}
	})
}

// plain reports options that the operations do not have.
func (c *LSTMBlockCell) plain() error {
	if c.lo.Projection != 0 || c.lo.Activation != nil {
		return tf.Errorf(tf.InvalidArgument, "a cell of one operation has no projection and no activation but tanh")
	}
	return nil
}

// weights are those of the operations for x.
func (c *LSTMBlockCell) weights(x tf.Output) kernels.LSTMWeights {
	w := kernels.LSTMWeights{W: c.a.kernel(), B: c.a.bias()}
	if c.lo.Peepholes {
		w.WCI, w.WCF, w.WCO = c.wi(), c.wf(), c.wo()
		return w
	}
	none := ops.Fill([]int{c.units}, author.AsOperand(x, 0))
	w.WCI, w.WCF, w.WCO = none, none, none
	return w
}

// options are those of the operations.
func (c *LSTMBlockCell) options() kernels.LSTMOpts {
	bias, clip := float32(c.lo.forgetBias()), float32(c.lo.CellClip)
	if clip == 0 {
		clip = -1 // unbounded
	}
	return kernels.LSTMOpts{ForgetBias: &bias, CellClip: &clip, UsePeephole: c.lo.Peepholes}
}

// apply adds the operation and returns the memory and the output. Their
// gradients are computed by the operation's counterpart.
func (c *LSTMBlockCell) apply(x tf.Output, s State, w kernels.LSTMWeights) []tf.Output {
	opts := c.options()
	in := []tf.Output{x, s[0], s[1], w.W, w.WCI, w.WCF, w.WCO, w.B}
	return tf.CustomGradient(in, func(v []tf.Output) ([]tf.Output, func([]tf.Output) []tf.Output) {
		w := kernels.LSTMWeights{W: v[3], WCI: v[4], WCF: v[5], WCO: v[6], B: v[7]}
		out := kernels.LSTMBlockCell(v[0], v[1], v[2], w, opts)
		return []tf.Output{out.CS, out.H}, func(dy []tf.Output) []tf.Output { return lstmGradients(v, w, out, dy, c.lo.Peepholes) }
	})
}

// lstmGradients returns the gradients of what goes into a step.
func lstmGradients(v []tf.Output, w kernels.LSTMWeights, out kernels.LSTMStates, dy []tf.Output, peepholes bool) []tf.Output {
	d := kernels.LSTMBlockCellGrad(v[0], v[1], v[2], w, out, dy[0], dy[1], peepholes)
	dx, dh := apart(ops.MatMul(d.Gates, w.W, ops.MatMulOpts{TransposeB: true}), v[0], v[2])
	dw := ops.MatMul(ops.Concat(1, []tf.Output{v[0], v[2]}), d.Gates, ops.MatMulOpts{TransposeA: true})
	return []tf.Output{dx, d.CSPrev, dh, dw, d.WCI, d.WCF, d.WCO, ops.BiasAddGrad(d.Gates)}
}

// apart cuts xh into what belongs to x and to h, which were side by side.
func apart(xh, x, h tf.Output) (dx, dh tf.Output) {
	in, units := x.Shape()[1], h.Shape()[1]
	parts := ops.SplitV(xh, []int{in, units}, 1, 2)
	return parts[0], parts[1]
}

// A GRUBlockCell computes the same as a [GRUCell] of type float32 by one operation
// a step, and has the same variables.
type GRUBlockCell struct{ GRUCell }

// NewGRUBlock returns a cell. Its activation is tanh.
func NewGRUBlock(units int, o ...CellOpts) *GRUBlockCell {
	c := &GRUBlockCell{}
	c.home = home{kind: "gru_cell", units: units, o: first(o)}
	return c
}

func (c *GRUBlockCell) hoist(tf.Output, State) (p []tf.Output, step stepper) { return p, nil }

// Step adds a step.
func (c *GRUBlockCell) Step(x tf.Output, s State) (tf.Output, State) {
	if c.o.Activation != nil {
		return failed(c, x, c.kind, tf.Errorf(tf.InvalidArgument, "a cell of one operation has no activation but tanh"))
	}
	return c.step(c, x, s, c.build, func() (tf.Output, State) {
		in := []tf.Output{x, s[0], c.gates.kernel(), c.candidate.kernel(), c.gates.bias(), c.candidate.bias()}
		y := tf.CustomGradient(in, func(v []tf.Output) ([]tf.Output, func([]tf.Output) []tf.Output) {
			w := kernels.GRUWeights{RU: v[2], C: v[3], BRU: v[4], BC: v[5]}
			out := kernels.GRUBlockCell(v[0], v[1], w)
			return []tf.Output{out.H}, func(dy []tf.Output) []tf.Output { return gruGradients(v, w, out, dy[0]) }
		})
		return y[0], State{y[0]}
	})
}

// gruGradients returns the gradients of what goes into a step.
func gruGradients(v []tf.Output, w kernels.GRUWeights, out kernels.GRUStates, dy tf.Output) []tf.Output {
	d := kernels.GRUBlockCellGrad(v[0], v[1], w, out, dy)
	left := ops.MatMulOpts{TransposeA: true}
	dru := ops.MatMul(ops.Concat(1, []tf.Output{v[0], v[1]}), d.RU, left)
	dc := ops.MatMul(ops.Concat(1, []tf.Output{v[0], ops.Mul(v[1], out.R)}), d.C, left)
	return []tf.Output{d.X, d.HPrev, dru, dc, ops.BiasAddGrad(d.RU), ops.BiasAddGrad(d.C)}
}

package rnn

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// LayerNormLSTMOpts are what may be chosen for a LayerNormLSTMCell.
type LayerNormLSTMOpts struct {
	CellOpts
	ForgetBias  *float64 // added to the forget gate; nil stands for 1
	NoNorm      bool     // no normalization: a bias instead
	DropoutRate float64  // of candidates: recurrent dropout (Semeniuta et al., COLING 2016)
	Seed        int64
}

// A LayerNormLSTMCell is an LSTM whose gates and memory are normalized (Ba, Kiros
// and Hinton, arXiv:1607.06450).
type LayerNormLSTMCell struct {
	home
	lo           LayerNormLSTMOpts
	kernel, bias parameter
	norms        map[string]affine // scale and shift by name
}

// NewLayerNormLSTM returns a cell. Variables are
// layer_norm_basic_lstm_cell/kernel and gamma and beta of input, transform,
// forget, output and state.
func NewLayerNormLSTM(units int, o ...LayerNormLSTMOpts) *LayerNormLSTMCell {
	opt := first(o)
	return &LayerNormLSTMCell{home: home{kind: "layer_norm_basic_lstm_cell", units: units, o: opt.CellOpts}, lo: opt}
}

// StateSize returns the sizes of c and h.
func (c *LayerNormLSTMCell) StateSize() []int { return []int{c.units, c.units} }

// OutputSize returns the number of units.
func (c *LayerNormLSTMCell) OutputSize() int { return c.units }

// Step adds a step.
func (c *LayerNormLSTMCell) Step(x tf.Output, s State) (tf.Output, State) {
	return c.step(c, x, s, c.build, func() (tf.Output, State) { return c.compute(x, s) })
}

func (c *LayerNormLSTMCell) build(in spec) {
	c.kernel = c.get(in, "kernel", c.o.KernelInitializer, in.size+c.units, 4*c.units)
	if c.lo.NoNorm {
		c.bias = c.get(in, "bias", or(c.o.BiasInitializer, initializers.Zeros), 4*c.units)
		return
	}
	c.norms = map[string]affine{}
	for _, name := range []string{"input", "transform", "forget", "output", "state"} {
		vars.Scope(in.g, name, vars.ScopeOptions{}, func() {
			gamma := c.get(in, "gamma", initializers.Ones, c.units)
			c.norms[name] = affine{gamma, c.get(in, "beta", initializers.Zeros, c.units)}
		})
	}
}

// norm normalizes x with the scale and the shift of the given name.
func (c *LayerNormLSTMCell) norm(name string, x tf.Output) tf.Output {
	if c.lo.NoNorm {
		return x
	}
	mean, variance := ops.Moments(x, []int{1}, true)
	n := c.norms[name]
	return ops.BatchNormalization(x, mean, variance, n.bias(), n.kernel(), 1e-12)
}

func (c *LayerNormLSTMCell) compute(x tf.Output, s State) (tf.Output, State) {
	z := ops.MatMul(ops.Concat(1, []tf.Output{x, s[1]}), c.kernel())
	if c.lo.NoNorm {
		z = ops.BiasAdd(z, c.bias())
	}
	parts := ops.Split(z, 4, 1)
	i, j, f, o := c.norm("input", parts[0]), c.norm("transform", parts[1]), c.norm("forget", parts[2]), c.norm("output", parts[3])
	candidate := c.o.act(j)
	if c.lo.DropoutRate > 0 {
		candidate = layers.Dropout(candidate, c.lo.DropoutRate, layers.DropoutOpts{Seed: c.lo.Seed})
	}
	bias := (&LSTMOpts{ForgetBias: c.lo.ForgetBias}).forgetBias()
	memory := ops.AddV2(ops.Mul(s[0], ops.Sigmoid(f.Add(bias))), ops.Mul(ops.Sigmoid(i), candidate))
	memory = c.norm("state", memory)
	y := ops.Mul(c.o.act(memory), ops.Sigmoid(o))
	return y, State{memory, y}
}

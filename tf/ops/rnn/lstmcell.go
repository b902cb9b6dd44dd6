package rnn

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	lstmIn    = "cs_prev: T; h_prev: T; w: T; wci: T; wcf: T; wco: T; b: T"
	lstmOut   = "i: T; cs: T; f: T; o: T; ci: T; co: T; h: T"
	lstmTypes = "T: {half, float}"
	lstmAttrs = "forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = false; " + lstmTypes
)

func init() {
	core.Register(core.OpDef{
		Name: "LSTMBlockCell", In: "x: T; " + lstmIn, Out: lstmOut, Attrs: lstmAttrs,
		Shape: lstmCellShape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", forTypes(lstmCellKernel, tf.Float16, tf.Float32)),
	})
	core.Register(core.OpDef{
		Name: "LSTMBlockCellGrad", In: "x: T; " + lstmIn + "; i: T; cs: T; f: T; o: T; ci: T; co: T; cs_grad: T; h_grad: T",
		Out: "cs_prev_grad: T; dicfo: T; wci_grad: T; wcf_grad: T; wco_grad: T", Attrs: "use_peephole: bool; " + lstmTypes,
		Shape: lstmCellGradShape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", forTypes(lstmCellGradKernel, tf.Float16, tf.Float32)),
	})
}

// LSTMWeights are the weights of a cell of n numbers that takes m: W is
// [m+n 4n], B [4n]; WCI, WCF and WCO, [n], are those of the peepholes, which
// have to be given even where there are none.
type LSTMWeights struct{ W, WCI, WCF, WCO, B tf.Output }

// LSTMStates are what a cell computes: the input, forget and output gates I, F
// and O, the candidate CI, the state CS, its tanh CO, and the hidden output H.
type LSTMStates struct{ I, CS, F, O, CI, CO, H tf.Output }

// LSTMOpts are the optional attributes of LSTMBlockCell, BlockLSTM and
// BlockLSTMV2, which has no forget bias.
type LSTMOpts struct {
	// ForgetBias is added to the forget gate; nil stands for 1.
	ForgetBias *float32
	// CellClip bounds the state on both sides, unless it is 0 or less; nil
	// stands for 3, for BlockLSTMV2 for 0.
	CellClip *float32
	// UsePeephole lets the gates see the state.
	UsePeephole bool
}

// Apply sets the attributes.
func (o LSTMOpts) Apply(s *tf.Spec) {
	if o.ForgetBias != nil {
		s.Set("forget_bias", *o.ForgetBias)
	}
	if o.CellClip != nil {
		s.Set("cell_clip", *o.CellClip)
	}
	s.Set("use_peephole", o.UsePeephole)
}

func (w LSTMWeights) inputs(before ...tf.Output) []tf.Output {
	return append(before, w.W, w.WCI, w.WCF, w.WCO, w.B)
}

func lstmStates(op *tf.Operation) (s LSTMStates) {
	outputs(op, 0, &s.I, &s.CS, &s.F, &s.O, &s.CI, &s.CO, &s.H)
	return s
}

// LSTMBlockCell computes one step of an LSTM on x [batch m] from the state
// and the hidden output before, [batch n]. It is the cell of Hochreiter and
// Schmidhuber (1997), with the peepholes of Gers, Schraudolph and Schmidhuber
// (JMLR 2002) if they are asked for. The gates in the weights are in the
// order input, candidate, forget, output. All are float16 or all float32, and
// the results are [batch n]. Ranks and sizes that do not fit each other, and
// a state without elements, are refused with INVALID_ARGUMENT in the step; an
// x or state that is no matrix when the graph is built if its shape is known.
// Its options are [LSTMOpts].
func LSTMBlockCell(x, csPrev, hPrev tf.Output, w LSTMWeights, opts ...tf.Option) LSTMStates {
	return lstmStates(tf.Apply(nil, "LSTMBlockCell", w.inputs(x, csPrev, hPrev), opts...))
}

// lstmSizes returns batch and cell of input i, the state before.
func lstmSizes(c *core.Infer, x, state int) (batch, cell int, err error) {
	s, err := c.Rank(x, 2)
	if err != nil {
		return 0, 0, err
	}
	cs, err := c.Rank(state, 2)
	if err != nil {
		return 0, 0, err
	}
	return s[0], cs[1], nil
}

func lstmCellShape(c *core.Infer) error {
	batch, cell, err := lstmSizes(c, 0, 1)
	for i := range c.NumOut() {
		c.Set(i, tf.Shape{batch, cell})
	}
	return err
}

func lstmCellGradShape(c *core.Infer) error {
	batch, cell, err := lstmSizes(c, 0, 1)
	if err != nil {
		return err
	}
	gates := -1
	if cell >= 0 {
		gates = 4 * cell
	}
	c.Set(0, tf.Shape{batch, cell})
	c.Set(1, tf.Shape{batch, gates})
	for i := 2; i < 5; i++ {
		c.Set(i, tf.Shape{cell})
	}
	return nil
}

// cellInputs checks inputs 0 to 7 of a single step.
func (l *lstm) cellInputs(c *core.OpContext) error {
	const text = "%s must be rank 2 but is rank %d."
	if err := ranks(c, 0, 2, text, "x_tensor", "cs_prev_tensor", "h_prev_tensor", "w_tensor"); err != nil {
		return err
	}
	if err := ranks(c, 4, 1, "%s must be rank 1 but is rank %d.", "wci_tensor", "wcf_tensor", "wco_tensor", "b_tensor"); err != nil {
		return err
	}
	x, cs, h, w, b := c.Input(0), c.Input(1), c.Input(2), c.Input(3), c.Input(7)
	l.batch, l.input, l.cell = x.Dim(0), x.Dim(1), cs.Dim(1)
	return all(
		sized(cs, 0, l.batch, "cs_prev.dims(0) != batch_size: "),
		sized(h, 0, l.batch, "h_prev.dims(0) != batch_size: "),
		sized(h, 1, l.cell, "h_prev.dims(1) != cell_size: "),
		sized(w, 0, l.input+l.cell, "w.dim_size(0) != input_size + cell_size: "),
		sized(w, 1, 4*l.cell, "w.dim_size(1) != cell_size * 4: "),
		sized(b, 0, 4*l.cell, "b.dim_size(0) != cell_size * 4: "))
}

// loadPeepholes reads the peepholes' weights from input first on, if they are
// used.
func (l *lstm) loadPeepholes(c *core.OpContext, first int) error {
	if !l.peepholes {
		return nil
	}
	for k, name := range []string{"wci", "wcf", "wco"} {
		if t := c.Input(first + k); t.Rank() != 1 || t.Dim(0) != l.cell {
			return invalid("%s.dim_size(0) != cell_size: %d vs. %d", name, t.Len(), l.cell)
		}
	}
	l.wci, l.wcf, l.wco = float32s(c, first), float32s(c, first+1), float32s(c, first+2)
	return nil
}

func lstmCellKernel(n *core.Node) (core.Kernel, error) {
	base := lstmOf(n, icfo)
	return core.Compute(func(c *core.OpContext) error {
		l := *base
		if err := l.cellInputs(c); err != nil {
			return err
		}
		if cs := c.Input(1); cs.Len() == 0 {
			return invalid("cs_prev_tensor is empty, has shape: (%d,%d).", cs.Dim(0), cs.Dim(1))
		}
		if err := l.loadPeepholes(c, 4); err != nil {
			return err
		}
		out := results{c: c}
		s, err := out.states(c.Input(0).DType(), tf.Shape{l.batch, l.cell})
		if err != nil {
			return err
		}
		gates, err := c.Temp(tf.Float32, tf.Shape{l.batch, 4 * l.cell})
		if err != nil {
			return err
		}
		defer gates.Release()
		g, w := core.Data[float32](gates), float32s(c, 3)
		l.fromInput(c.ParallelFor, g, float32s(c, 0), w, float32s(c, 7), l.batch)
		l.step(c.ParallelFor, s, g, float32s(c, 1), float32s(c, 2), w)
		out.store()
		return nil
	}), nil
}

// states makes the outputs of an LSTM, each of shape s.
func (r *results) states(d tf.DType, s tf.Shape) (out states, err error) {
	for k := range out {
		if out[k], err = r.alloc(k, d, s); err != nil {
			return out, err
		}
	}
	return out, nil
}

package rnn

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// LSTMCellGrads are the gradients of what went into a step of an LSTM: of the
// state before, of the gates before their activation, [batch 4n], and of the
// peepholes' weights.
type LSTMCellGrads struct{ CSPrev, Gates, WCI, WCF, WCO tf.Output }

// LSTMBlockCellGrad returns gradients of LSTMBlockCell from those of its state
// and hidden output. It needs all that went in, and what came out, of which H
// may be missing. Those of x, of the hidden output before and of the other
// weights are products of the gradients of the gates. Types and errors are
// those of LSTMBlockCell.
func LSTMBlockCellGrad(x, csPrev, hPrev tf.Output, w LSTMWeights, s LSTMStates, dcs, dh tf.Output, usePeephole bool, opts ...tf.Option) (d LSTMCellGrads) {
	in := append(w.inputs(x, csPrev, hPrev), s.I, s.CS, s.F, s.O, s.CI, s.CO, dcs, dh)
	op := tf.Apply(nil, "LSTMBlockCellGrad", in, tf.Join(opts, tf.Attr("use_peephole", usePeephole))...)
	outputs(op, 0, &d.CSPrev, &d.Gates, &d.WCI, &d.WCF, &d.WCO)
	return d
}

// stateInputs names the inputs that LSTMBlockCellGrad has beside those of
// LSTMBlockCell, from input 8 on, and how messages tell of their sizes.
var stateInputs = []struct{ rows, columns string }{
	{"i.dim_size(0)", "i.dim_size(1)"}, {"cs.dim_size(0)", "cs.dim_size(1)"}, {"f.dim_size(0)", "i.dim_size(1)"},
	{"o.dim_size(0)", "o.dim_size(1)"}, {"ci.dim_size(0)", "ci.dim_size(1)"}, {"co.dim_size(0)", "co.dim_size(1)"},
	{"cs_grad_tensor.dims(0)", "cs_grad_tensor.dims(1)"}, {"h_grad_tensor.dims(0)", "h_grad_tensor.dims(1)"},
}

// gradInputs checks inputs 8 to 15 of LSTMBlockCellGrad.
func (l *lstm) gradInputs(c *core.OpContext) error {
	for k, name := range stateInputs {
		t := c.Input(8 + k)
		if t.Rank() != 2 {
			return invalid("input %d must be rank 2 but is rank %d.", 8+k, t.Rank())
		}
		if err := all(sized(t, 0, l.batch, name.rows+" != batch_size: "), sized(t, 1, l.cell, name.columns+" != cell_size: ")); err != nil {
			return err
		}
	}
	return nil
}

func lstmCellGradKernel(n *core.Node) (core.Kernel, error) {
	base := lstmOf(n, icfo)
	return core.Compute(func(c *core.OpContext) error {
		l := *base
		if err := l.cellInputs(c); err != nil {
			return err
		}
		if err := l.gradInputs(c); err != nil {
			return err
		}
		if err := l.loadPeepholes(c, 4); err != nil {
			return err
		}
		return l.cellGrads(c)
	}), nil
}

func (l *lstm) cellGrads(c *core.OpContext) error {
	out, d := results{c: c}, c.Input(0).DType()
	dcsPrev, err := out.alloc(0, d, tf.Shape{l.batch, l.cell})
	if err != nil {
		return err
	}
	dgates, err := out.alloc(1, d, tf.Shape{l.batch, 4 * l.cell})
	if err != nil {
		return err
	}
	dw, err := out.peepholes(c, 2, 4)
	if err != nil {
		return err
	}
	s := states{inputGate: float32s(c, 8), cellState: float32s(c, 9), forgetGate: float32s(c, 10), outputGate: float32s(c, 11),
		candidate: float32s(c, 12), cellOutput: float32s(c, 13)}
	csPrev := float32s(c, 1)
	l.back(c.ParallelFor, dgates, dcsPrev, s, csPrev, float32s(c, 14), float32s(c, 15))
	l.peepholeGrads(dw[0], dw[1], dw[2], dgates, csPrev, s[cellState])
	out.store()
	return nil
}

// peepholes makes outputs i to i+2 zeros in the shapes of the peepholes'
// weights, inputs from first on.
func (r *results) peepholes(c *core.OpContext, i, first int) (dw [3][]float32, err error) {
	for k := range dw {
		t := c.Input(first + k)
		if dw[k], err = r.alloc(i+k, t.DType(), t.Shape()); err != nil {
			return dw, err
		}
		clear(dw[k])
	}
	return dw, nil
}

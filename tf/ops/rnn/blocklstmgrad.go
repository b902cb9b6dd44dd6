package rnn

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	for name, order := range map[string]gateOrder{"BlockLSTMGrad": icfo, "BlockLSTMGradV2": ifco} {
		core.Register(core.OpDef{
			Name: name, In: "seq_len_max: int64; x: T; " + lstmIn + "; " + lstmOut + "; cs_grad: T; h_grad: T",
			Out:   "x_grad: T; cs_prev_grad: T; h_prev_grad: T; w_grad: T; wci_grad: T; wcf_grad: T; wco_grad: T; b_grad: T",
			Attrs: "use_peephole: bool; " + lstmTypes,
			Shape: blockGradShape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: blockKernels(blockGradKernel, order),
		})
	}
}

// BlockLSTMGrads are the gradients of what BlockLSTM takes.
type BlockLSTMGrads struct {
	X, CSPrev, HPrev tf.Output
	LSTMWeights
}

// BlockLSTMGrad returns the gradients of BlockLSTM from those of states and
// hidden outputs. It needs all that went in and all that came out. Each
// gradient has the shape of what it is for. Ranks that are wrong are refused
// with INVALID_ARGUMENT, when the graph is built if they are known, else in
// the step; sizes that do not fit each other are refused with it in the step.
func BlockLSTMGrad(seqLenMax, x, csPrev, hPrev tf.Output, w LSTMWeights, s LSTMStates, dcs, dh tf.Output, usePeephole bool, opts ...tf.Option) BlockLSTMGrads {
	return blockGrads("BlockLSTMGrad", w.inputs(seqLenMax, x, csPrev, hPrev), s, dcs, dh, usePeephole, opts)
}

// BlockLSTMGradV2 is BlockLSTMGrad for BlockLSTMV2. Errors are those of
// BlockLSTMGrad.
func BlockLSTMGradV2(seqLenMax, x, csPrev, hPrev tf.Output, w LSTMWeights, s LSTMStates, dcs, dh tf.Output, usePeephole bool, opts ...tf.Option) BlockLSTMGrads {
	return blockGrads("BlockLSTMGradV2", w.inputs(seqLenMax, x, csPrev, hPrev), s, dcs, dh, usePeephole, opts)
}

func blockGrads(name string, in []tf.Output, s LSTMStates, dcs, dh tf.Output, usePeephole bool, opts []tf.Option) (d BlockLSTMGrads) {
	in = append(in, s.I, s.CS, s.F, s.O, s.CI, s.CO, s.H, dcs, dh)
	op := tf.Apply(nil, name, in, tf.Join(opts, tf.Attr("use_peephole", usePeephole))...)
	outputs(op, 0, &d.X, &d.CSPrev, &d.HPrev, &d.W, &d.WCI, &d.WCF, &d.WCO, &d.B)
	return d
}

// blockGradShape gives the gradients the shapes of inputs 1 to 8.
func blockGradShape(c *core.Infer) error {
	for k, rank := range []int{3, 2, 2, 2, 1, 1, 1, 1} {
		s, err := c.Rank(1+k, rank)
		if err != nil {
			return err
		}
		c.Set(k, s)
	}
	return nil
}

// blockGradInputs checks the inputs of BlockLSTMGrad.
func (l *lstm) blockGradInputs(c *core.OpContext) error {
	if r := c.Input(0).Rank(); r != 0 {
		return invalid("`seq_len_max_tensor` must be rank 0 but is rank %d", r)
	}
	const text = "%s must be rank "
	if err := ranks(c, 1, 3, text+"3 but is rank %d", "x"); err != nil {
		return err
	}
	if err := ranks(c, 2, 2, text+"2 but is rank %d", "cs_prev", "h_prev", "w"); err != nil {
		return err
	}
	if err := l.blockGradWeights(c); err != nil {
		return err
	}
	if err := ranks(c, 9, 3, text+"3. Received: %d", "i", "cs", "f", "o", "ci", "co", "h"); err != nil {
		return err
	}
	return l.blockGradSizes(c)
}

// blockGradWeights checks the weights, which tell the size of the cell.
func (l *lstm) blockGradWeights(c *core.OpContext) error {
	x, w, b := c.Input(1), c.Input(4), c.Input(8)
	l.batch, l.input, l.cell = x.Dim(1), x.Dim(2), w.Dim(1)/4
	err := all(
		rule(w.Dim(0) == l.input+l.cell, "w matrix rows don't match: %d vs. %d", l.input+l.cell, w.Dim(0)),
		rule(w.Dim(1) > 0 && w.Dim(1)%4 == 0, "w matrix columns must be a positive multiple of 4, but got %d", w.Dim(1)))
	if err != nil {
		return err
	}
	if err := ranks(c, 5, 1, "%s must be rank 1 but is rank %d", "wci", "wcf", "wco", "b"); err != nil {
		return err
	}
	return all(rule(b.Dim(0) == 4*l.cell, "w and b cell_size don't match: %d vs. %d", l.cell, b.Dim(0)))
}

// blockGradSizes checks the sizes that TensorFlow's kernel takes for granted.
func (l *lstm) blockGradSizes(c *core.OpContext) error {
	for k, name := range []string{"cs_prev", "h_prev"} {
		if err := matrixOf(c.Input(2+k), l.batch, l.cell, name); err != nil {
			return err
		}
	}
	want := tf.Shape{c.Input(1).Dim(0), l.batch, l.cell}
	for i := 9; i < 18; i++ {
		if s := c.Input(i).Shape(); !s.Equal(want) {
			return invalid("%s must have shape %s, got %s", c.Node.Def.Inputs[i].Name, want.String(), s.String())
		}
	}
	return nil
}

// blockGradients holds the outputs of BlockLSTMGrad.
type blockGradients struct {
	x, csPrev, hPrev, w, b []float32
	peepholes              [3][]float32
}

func (r *results) blockGradients() (g blockGradients, err error) {
	for i, dst := range []*[]float32{&g.x, &g.csPrev, &g.hPrev, &g.w} {
		if *dst, err = r.like(i, 1+i); err != nil {
			return g, err
		}
	}
	if g.peepholes, err = r.peepholes(r.c, 4, 5); err != nil {
		return g, err
	}
	g.b, err = r.like(7, 8)
	return g, err
}

// like makes output i in type and shape of input in.
func (r *results) like(i, in int) ([]float32, error) {
	t := r.c.Input(in)
	return r.alloc(i, t.DType(), t.Shape())
}

func blockGradKernel(l *lstm, c *core.OpContext) error {
	if err := l.blockGradInputs(c); err != nil {
		return err
	}
	n, err := steps(c)
	if err != nil {
		return err
	}
	if err := l.loadPeepholes(c, 5); err != nil {
		return err
	}
	out := results{c: c}
	g, err := out.blockGradients()
	if err != nil {
		return err
	}
	dgates, err := c.Temp(tf.Float32, tf.Shape{n, l.batch, 4 * l.cell})
	if err != nil {
		return err
	}
	defer dgates.Release()
	l.runBack(c, &g, core.Data[float32](dgates), n)
	out.store()
	return nil
}

// runBack goes back through n steps. Only what a step hands to the one before
// is computed in between; inputs and weights get their gradients from those of
// all gates at once.
func (l *lstm) runBack(c *core.OpContext, g *blockGradients, dgates []float32, n int) {
	w, size := float32s(c, 4), l.batch*l.cell
	var s states
	for k := range s {
		s[k] = float32s(c, 9+k)
	}
	csFirst, hFirst, dcs, dh := float32s(c, 2), float32s(c, 3), float32s(c, 16), float32s(c, 17)
	clear(g.csPrev)
	clear(g.hPrev)
	for t := n - 1; t >= 0; t-- {
		lo, hi := t*size, (t+1)*size
		csPrev, d := csFirst, dgates[4*lo:4*hi]
		if t > 0 {
			csPrev = s[cellState][lo-size : lo]
		}
		elementwise.Add(g.csPrev, g.csPrev, dcs[lo:hi])
		elementwise.Add(g.hPrev, g.hPrev, dh[lo:hi])
		l.back(c.ParallelFor, d, g.csPrev, s.part(lo, hi), csPrev, g.csPrev, g.hPrev)
		l.times(c.ParallelFor, g.hPrev, d, w[l.input*4*l.cell:], l.batch, l.cell)
		l.peepholeGrads(g.peepholes[0], g.peepholes[1], g.peepholes[2], d, csPrev, s[cellState][lo:hi])
	}
	l.times(c.ParallelFor, g.x, dgates, w, n*l.batch, l.input)
	clear(g.x[n*l.batch*l.input:])
	l.weightGrads(c.ParallelFor, g.w, g.b, float32s(c, 1), hFirst, s[hiddenOutput], dgates, n)
}

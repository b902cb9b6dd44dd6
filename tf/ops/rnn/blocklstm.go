package rnn

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	const in = "seq_len_max: int64; x: T; " + lstmIn
	core.Register(core.OpDef{
		Name: "BlockLSTM", In: in, Out: lstmOut, Attrs: lstmAttrs,
		Shape: blockShape, Expensive: true, Grad: tf.GradFunc(blockGrad), Kernels: blockKernels(blockKernel, icfo),
	})
	core.Register(core.OpDef{
		Name: "BlockLSTMV2", In: in, Out: lstmOut, Attrs: "cell_clip: float = 0.0; use_peephole: bool = false; " + lstmTypes,
		Shape: blockShape, Expensive: true, Grad: tf.GradFunc(blockGrad), Kernels: blockKernels(blockKernel, ifco),
	})
}

// blockKernels returns the kernels of an op whose gates are in some order.
func blockKernels(run func(*lstm, *core.OpContext) error, order gateOrder) core.KernelSet {
	return core.ByType("T", forTypes(func(n *core.Node) (core.Kernel, error) {
		base := lstmOf(n, order)
		return core.Compute(func(c *core.OpContext) error {
			l := *base
			return run(&l, c)
		}), nil
	}, tf.Float16, tf.Float32))
}

// BlockLSTM runs LSTMBlockCell over the first seqLenMax, an int64 scalar, of
// the steps of x [time batch m]; state and hidden output of those after are
// zero. All are float16 or all float32, and the results are [time batch n]. A
// seqLenMax that is no scalar or not from 0 to the number of steps, and sizes
// that do not fit each other, are refused with INVALID_ARGUMENT in the step;
// another rank of x, and a bias that is no vector or not 4n long, when the
// graph is built if it is known. Options are those of LSTMBlockCell.
func BlockLSTM(seqLenMax, x, csPrev, hPrev tf.Output, w LSTMWeights, opts ...tf.Option) LSTMStates {
	return lstmStates(tf.Apply(nil, "BlockLSTM", w.inputs(seqLenMax, x, csPrev, hPrev), opts...))
}

// BlockLSTMV2 is BlockLSTM with gates in the order input, forget, candidate,
// output, and no forget bias. Types, shapes and errors are those of BlockLSTM.
func BlockLSTMV2(seqLenMax, x, csPrev, hPrev tf.Output, w LSTMWeights, opts ...tf.Option) LSTMStates {
	return lstmStates(tf.Apply(nil, "BlockLSTMV2", w.inputs(seqLenMax, x, csPrev, hPrev), opts...))
}

func blockShape(c *core.Infer) error {
	x, err := c.Rank(1, 3)
	if err != nil {
		return err
	}
	b, err := c.Rank(8, 1)
	if err != nil {
		return err
	}
	cell := -1
	if b[0] >= 0 {
		if b[0]%4 != 0 {
			return invalid("Dimension size must be evenly divisible by 4 but is %d", b[0])
		}
		cell = b[0] / 4
	}
	for i := range c.NumOut() {
		c.Set(i, tf.Shape{x[0], x[1], cell})
	}
	return nil
}

// blockInputs checks the inputs that BlockLSTM has.
func (l *lstm) blockInputs(c *core.OpContext) error {
	if r := c.Input(0).Rank(); r != 0 {
		return invalid("`seq_len_max_tensor` must be rank 0 but is rank %d", r)
	}
	if c.Input(1).Rank() != 3 {
		return invalid("x must be 3D")
	}
	l.batch, l.input = c.Input(1).Dim(1), c.Input(1).Dim(2)
	for k, name := range []string{"cs_prev", "h_prev", "w"} {
		if c.Input(2+k).Rank() != 2 {
			return invalid("%s must be 2D", name)
		}
		if err := l.blockMatrix(c, k); err != nil {
			return err
		}
	}
	for k, name := range []string{"wci", "wcf", "wco"} {
		if err := vector(c.Input(5+k), l.cell, name, "cell_size"); err != nil {
			return err
		}
	}
	return vector(c.Input(8), 4*l.cell, "b", "cell_size * 4")
}

// blockMatrix checks the sizes of the state before, the hidden output before
// or the weights: input 2, 3 or 4.
func (l *lstm) blockMatrix(c *core.OpContext, k int) error {
	t := c.Input(2 + k)
	switch k {
	case 0:
		l.cell = t.Dim(1)
		return all(sized(t, 0, l.batch, "cs_prev.dims(0) != batch_size: "))
	case 1:
		return all(sized(t, 0, l.batch, "h_prev.dims(0) != batch_size: "), sized(t, 1, l.cell, "h_prev.dims(1) != cell_size: "))
	}
	return all(sized(t, 0, l.input+l.cell, "w.dim_size(0) != input_size + cell_size: "), sized(t, 1, 4*l.cell, "w.dim_size(1) != cell_size * 4: "))
}

// vector wants t to be a vector of n elements.
func vector(t *core.Tensor, n int, name, size string) error {
	if t.Rank() != 1 {
		return invalid("%s must be 1D", name)
	}
	return all(sized(t, 0, n, name+".dim_size(0) != "+size+": "))
}

// steps reads how many steps of x are to be run.
func steps(c *core.OpContext) (int, error) {
	n, most := core.Data[int64](c.Input(0))[0], c.Input(1).Dim(0)
	if n < 0 || n > int64(most) {
		return 0, invalid("seq_len_max must be between 0 and %d but is %d", most, n)
	}
	return int(n), nil
}

func blockKernel(l *lstm, c *core.OpContext) error {
	if err := l.blockInputs(c); err != nil {
		return err
	}
	n, err := steps(c)
	if err != nil {
		return err
	}
	if err := l.loadPeepholes(c, 5); err != nil {
		return err
	}
	x := c.Input(1)
	out := results{c: c}
	s, err := out.states(x.DType(), tf.Shape{x.Dim(0), l.batch, l.cell})
	if err != nil {
		return err
	}
	if err := l.run(c, s, n); err != nil {
		return err
	}
	for k := range s {
		clear(s[k][n*l.batch*l.cell:])
	}
	out.store()
	return nil
}

// run computes n steps. The share of the inputs in the gates of all steps is
// one product.
func (l *lstm) run(c *core.OpContext, s states, n int) error {
	gates, err := c.Temp(tf.Float32, tf.Shape{n, l.batch, 4 * l.cell})
	if err != nil {
		return err
	}
	defer gates.Release()
	g, w := core.Data[float32](gates), float32s(c, 4)
	l.fromInput(c.ParallelFor, g, float32s(c, 1), w, float32s(c, 8), n*l.batch)
	cs, h := float32s(c, 2), float32s(c, 3)
	size := l.batch * l.cell
	for t := range n {
		now := s.part(t*size, (t+1)*size)
		l.step(c.ParallelFor, now, g[4*t*size:4*(t+1)*size], cs, h, w)
		cs, h = now[cellState], now[hiddenOutput]
	}
	return nil
}

// blockGrad gives all outputs and the gradients of two of them to the op that
// computes the gradients of the inputs. As in TensorFlow that is BlockLSTMGrad for
// BlockLSTMV2 too, whatever the order of the gates.
func blockGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	in := slices.Concat(op.Inputs(), op.Outputs(), []tf.Output{orZeros(dy[cellState], op.Output(cellState)), orZeros(dy[hiddenOutput], op.Output(hiddenOutput))})
	d := tf.Apply(nil, "BlockLSTMGrad", in, tf.Attr("use_peephole", op.Bool("use_peephole")))
	grads := make([]tf.Output, 9)
	for k := range 8 {
		grads[1+k] = d.Output(k)
	}
	return tf.Grads(grads...)
}

// orZeros returns dy, or zeros like y if there is none.
func orZeros(dy, y tf.Output) tf.Output {
	if dy.IsZero() {
		return ops.ZerosLike(y)
	}
	return dy
}

package rnn

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const gruIn = "x: T; h_prev: T; w_ru: T; w_c: T; b_ru: T; b_c: T"

func init() {
	core.Register(core.OpDef{
		Name: "GRUBlockCell", In: gruIn, Out: "r: T; u: T; c: T; h: T", Attrs: "T: {float}",
		Shape: gruShape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", forTypes(gruKernel(gruForward), tf.Float32)),
	})
	core.Register(core.OpDef{
		Name: "GRUBlockCellGrad", In: gruIn + "; r: T; u: T; c: T; d_h: T", Out: "d_x: T; d_h_prev: T; d_c_bar: T; d_r_bar_u_bar: T", Attrs: "T: {float}",
		Shape: gruGradShape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", forTypes(gruKernel(gruBack), tf.Float32)),
	})
}

// GRUWeights are the weights of a gated recurrent unit of n numbers that takes
// m: RU, [m+n 2n], and BRU, [2n], of the reset and update gates; C, [m+n n],
// and BC, [n], of the candidate.
type GRUWeights struct{ RU, C, BRU, BC tf.Output }

// GRUStates are what a gated recurrent unit computes: the reset and update
// gates R and U, the candidate C and the output H.
type GRUStates struct{ R, U, C, H tf.Output }

// GRUBlockCell computes one step of a gated recurrent unit on x [batch m]
// from the output before, [batch n]. It is the cell of Cho et al. (EMNLP
// 2014, arXiv:1406.1078). All are float32, and the results are [batch n].
// Ranks and sizes that do not fit each other are refused with
// INVALID_ARGUMENT in the step; an x or hPrev that is no matrix when the
// graph is built if its shape is known.
func GRUBlockCell(x, hPrev tf.Output, w GRUWeights, opts ...tf.Option) (s GRUStates) {
	op := tf.Apply(nil, "GRUBlockCell", []tf.Output{x, hPrev, w.RU, w.C, w.BRU, w.BC}, opts...)
	outputs(op, 0, &s.R, &s.U, &s.C, &s.H)
	return s
}

// GRUGrads are the gradients of what went into a gated recurrent unit: X,
// HPrev, and the candidate C and the gates RU before their activation, of which
// the gradients of the weights are products.
type GRUGrads struct{ X, HPrev, C, RU tf.Output }

// GRUBlockCellGrad returns gradients of GRUBlockCell from that of its output.
// It needs all that went in and what came out, but for s.H. Types and errors
// are those of GRUBlockCell.
func GRUBlockCellGrad(x, hPrev tf.Output, w GRUWeights, s GRUStates, dh tf.Output, opts ...tf.Option) (d GRUGrads) {
	op := tf.Apply(nil, "GRUBlockCellGrad", []tf.Output{x, hPrev, w.RU, w.C, w.BRU, w.BC, s.R, s.U, s.C, dh}, opts...)
	outputs(op, 0, &d.X, &d.HPrev, &d.C, &d.RU)
	return d
}

func gruShape(c *core.Infer) error {
	batch, cell, err := lstmSizes(c, 0, 1)
	for i := range c.NumOut() {
		c.Set(i, tf.Shape{batch, cell})
	}
	return err
}

func gruGradShape(c *core.Infer) error {
	batch, cell, err := lstmSizes(c, 0, 1)
	if err != nil {
		return err
	}
	w, err := c.Rank(2, 2)
	if err != nil {
		return err
	}
	x, _ := c.Rank(0, 2)
	for i, s := range []tf.Shape{x, {batch, cell}, {batch, cell}, {batch, w[1]}} {
		c.Set(i, s)
	}
	return nil
}

// A gru is a gated recurrent unit and its inputs.
type gru struct {
	batch, input, cell        int
	x, hPrev, wru, wc, bru, b []float32
}

func gruKernel(run func(*gru, *core.OpContext) error) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			u, err := gruOf(c)
			if err != nil {
				return err
			}
			return run(u, c)
		}), nil
	}
}

// gruOf checks the inputs that both ops have.
func gruOf(c *core.OpContext) (*gru, error) {
	x, h, wru, wc, bru, b := c.Input(0), c.Input(1), c.Input(2), c.Input(3), c.Input(4), c.Input(5)
	if err := ranks(c, 0, 2, "Rank of %s must be 2, got %d", "x", "h_prev"); err != nil {
		return nil, err
	}
	u := &gru{batch: x.Dim(0), input: x.Dim(1), cell: h.Dim(1)}
	if err := all(sized(h, 0, u.batch, "h_prev.dims(0) != batch_size: ")); err != nil {
		return nil, err
	}
	for _, m := range []struct {
		t       *core.Tensor
		rank    int
		name    string
		columns string
		width   int
	}{{wru, 2, "w_ru_", "cell_size * 2", 2 * u.cell}, {wc, 2, "w_c", "cell_size", u.cell}, {bru, 1, "b_ru", "cell_size * 2", 2 * u.cell}, {b, 1, "b_c", "cell_size", u.cell}} {
		if err := u.checkWeights(m.t, m.rank, m.name, m.columns, m.width); err != nil {
			return nil, err
		}
	}
	u.x, u.hPrev, u.wru, u.wc, u.bru, u.b = float32s(c, 0), float32s(c, 1), float32s(c, 2), float32s(c, 3), float32s(c, 4), float32s(c, 5)
	return u, nil
}

// checkWeights wants t to be a matrix of a row for each number that goes in, or
// a vector, of the given width, which messages call columns.
func (u *gru) checkWeights(t *core.Tensor, rank int, name, columns string, width int) error {
	if t.Rank() != rank {
		return invalid("Rank of %s must be %d, got %d", name, rank, t.Rank())
	}
	if rank == 1 {
		return all(sized(t, 0, width, name+".dim_size(0) != "+columns+": "))
	}
	if name == "w_ru_" {
		name = "w_ru"
	}
	return all(sized(t, 0, u.input+u.cell, name+".dim_size(0) != input_size + cell_size: "), sized(t, 1, width, name+".dim_size(1) != "+columns+": "))
}

// product sets z, or adds to it, x or h times its part of the weights w, n
// columns wide.
func (u *gru) product(par kernel.Par, z, a, w []float32, k, n int, add bool, bias []float32) {
	g := gemm.NewGemm(u.batch, n, k, false, false)
	g.Accumulate = add
	gemm.MatMul(par, g, z, a, w, gemm.Epilogue[float32]{Bias: bias})
}

// layer sets z to [x h]·w + b.
func (u *gru) layer(par kernel.Par, z, h, w, b []float32, n int) {
	u.product(par, z, u.x, w[:u.input*n], u.input, n, false, b)
	u.product(par, z, h, w[u.input*n:], u.cell, n, true, nil)
}

// each calls f with the elements [lo, hi) of each row of the batch.
func (u *gru) each(par kernel.Par, f func(lo, hi int)) {
	(&lstm{batch: u.batch, cell: u.cell}).rows(par, f)
}

// temps returns memory for rows of the given widths, and what gives it back.
func (u *gru) temps(c *core.OpContext, widths ...int) (x [][]float32, done func(), err error) {
	var held []*core.Tensor
	done = func() {
		for _, t := range held {
			t.Release()
		}
	}
	for _, w := range widths {
		t, err := c.Temp(tf.Float32, tf.Shape{u.batch, w})
		if err != nil {
			done()
			return nil, nil, err
		}
		held, x = append(held, t), append(x, core.Data[float32](t))
	}
	return x, done, nil
}

func gruForward(u *gru, c *core.OpContext) error {
	var out [4][]float32
	for k := range out {
		t, err := c.Alloc(k, tf.Float32, tf.Shape{u.batch, u.cell})
		if err != nil {
			return err
		}
		out[k] = core.Data[float32](t)
	}
	tmp, done, err := u.temps(c, 2*u.cell, u.cell)
	if err != nil {
		return err
	}
	defer done()
	n, ru, hr := u.cell, tmp[0], tmp[1]
	r, z, cand, h := out[0], out[1], out[2], out[3]
	u.layer(c.ParallelFor, ru, u.hPrev, u.wru, u.bru, 2*n)
	u.each(c.ParallelFor, func(lo, hi int) {
		elementwise.Sigmoid(r[lo:hi], ru[2*lo:2*lo+n])
		elementwise.Sigmoid(z[lo:hi], ru[2*lo+n:2*hi])
		elementwise.Mul(hr[lo:hi], u.hPrev[lo:hi], r[lo:hi])
	})
	u.layer(c.ParallelFor, cand, hr, u.wc, u.b, n)
	u.each(c.ParallelFor, func(lo, hi int) {
		elementwise.Tanh(cand[lo:hi], cand[lo:hi])
		for k := lo; k < hi; k++ {
			h[k] = z[k]*(u.hPrev[k]-cand[k]) + cand[k]
		}
	})
	return nil
}

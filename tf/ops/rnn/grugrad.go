package rnn

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// gruGradOutputs are the outputs of GRUBlockCellGrad.
type gruGradOutputs struct{ x, hPrev, cand, gates []float32 }

func (u *gru) gradOutputs(c *core.OpContext) (g gruGradOutputs, err error) {
	for i, o := range []struct {
		dst   *[]float32
		width int
	}{{&g.x, u.input}, {&g.hPrev, u.cell}, {&g.cand, u.cell}, {&g.gates, 2 * u.cell}} {
		t, err := c.Alloc(i, tf.Float32, tf.Shape{u.batch, o.width})
		if err != nil {
			return g, err
		}
		*o.dst = core.Data[float32](t)
	}
	return g, nil
}

// gradInputs checks the inputs that only the gradient has: r, u, c and d_h.
func (u *gru) gradInputs(c *core.OpContext) (s [4][]float32, err error) {
	for k, name := range []string{"r", "u", "c", "d_h"} {
		t := c.Input(6 + k)
		called := name
		if name == "c" {
			called = "w_c"
		}
		if t.Rank() != 2 {
			return s, invalid("Rank of %s must be 2, got %d", called, t.Rank())
		}
		if err := matrixOf(t, u.batch, u.cell, name); err != nil {
			return s, err
		}
		s[k] = float32s(c, 6+k)
	}
	return s, nil
}

// transposed sets z, or adds to it, d·wᵀ, where d is n wide and w has k rows.
func (u *gru) transposed(par kernel.Par, z, d, w []float32, k, n int, add bool) {
	g := gemm.NewGemm(u.batch, k, n, false, true)
	g.Accumulate = add
	gemm.MatMul(par, g, z, d, w, gemm.Epilogue[float32]{})
}

func gruBack(u *gru, c *core.OpContext) error {
	s, err := u.gradInputs(c)
	if err != nil {
		return err
	}
	g, err := u.gradOutputs(c)
	if err != nil {
		return err
	}
	tmp, done, err := u.temps(c, u.cell)
	if err != nil {
		return err
	}
	defer done()
	u.back(c.ParallelFor, g, s, tmp[0])
	return nil
}

// back computes the gradients; dhr is memory for that of r·h.
func (u *gru) back(par kernel.Par, g gruGradOutputs, s [4][]float32, dhr []float32) {
	n, r, z, cand, dh := u.cell, s[0], s[1], s[2], s[3]
	u.each(par, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			g.cand[k] = dh[k] * (1 - z[k]) * (1 - cand[k]*cand[k])
		}
	})
	u.transposed(par, dhr, g.cand, u.wc[u.input*n:], n, n, false)
	u.each(par, func(lo, hi int) {
		dr, dz := g.gates[2*lo:2*lo+n], g.gates[2*lo+n:2*hi]
		for k := range n {
			i := lo + k
			dr[k] = dhr[i] * u.hPrev[i] * r[i] * (1 - r[i])
			dz[k] = dh[i] * (u.hPrev[i] - cand[i]) * z[i] * (1 - z[i])
			g.hPrev[i] = dhr[i]*r[i] + dh[i]*z[i]
		}
	})
	u.transposed(par, g.hPrev, g.gates, u.wru[u.input*2*n:], n, 2*n, true)
	u.transposed(par, g.x, g.gates, u.wru, u.input, 2*n, false)
	u.transposed(par, g.x, g.cand, u.wc, u.input, n, true)
}

package rnn

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
)

// back computes the gradients of the gates before activation, by row, and that
// of the state before, from those of the state and the hidden output. Of s it
// needs one step.
func (l *lstm) back(par kernel.Par, dgates, dcsPrev []float32, s states, csPrev, dcs, dh []float32) {
	l.rows(par, func(lo, hi int) {
		l.backRow(dgates[4*lo:4*hi], dcsPrev[lo:hi], s.part(lo, hi), csPrev[lo:hi], dcs[lo:hi], dh[lo:hi])
	})
}

// backRow is back for one row. dcsPrev may be dcs.
func (l *lstm) backRow(dgates, dcsPrev []float32, s states, csPrev, dcs, dh []float32) {
	n := l.cell
	di, dci, df, do := l.split(dgates)
	i, ci, f, o, co := s[inputGate][:n], s[candidate][:n], s[forgetGate][:n], s[outputGate][:n], s[cellOutput][:n]
	dcsPrev, csPrev, dcs, dh = dcsPrev[:n], csPrev[:n], dcs[:n], dh[:n]
	for k := range n {
		do[k] = o[k] * (1 - o[k]) * dh[k] * co[k]
		d := (1-co[k]*co[k])*dh[k]*o[k] + dcs[k]
		if l.peepholes {
			d += do[k] * l.wco[k]
		}
		dci[k] = (1 - ci[k]*ci[k]) * d * i[k]
		df[k] = f[k] * (1 - f[k]) * d * csPrev[k]
		di[k] = i[k] * (1 - i[k]) * d * ci[k]
		dcsPrev[k] = d * f[k]
	}
	if l.peepholes {
		addProduct(dcsPrev, di, l.wci)
		addProduct(dcsPrev, df, l.wcf)
	}
}

// peepholeGrads adds the gradients of the peepholes' weights in one step.
func (l *lstm) peepholeGrads(dwci, dwcf, dwco, dgates, csPrev, cs []float32) {
	if !l.peepholes {
		return
	}
	for r := range l.batch {
		di, _, df, do := l.split(dgates[r*4*l.cell:])
		lo, hi := r*l.cell, (r+1)*l.cell
		addProduct(dwci, di, csPrev[lo:hi])
		addProduct(dwcf, df, csPrev[lo:hi])
		addProduct(dwco, do, cs[lo:hi])
	}
}

// weightGrads sets dw and db to the gradients of weights and biases over steps
// of which x and dgates hold the rows; the hidden outputs before are hFirst for
// the first step and then those in h.
func (l *lstm) weightGrads(par kernel.Par, dw, db, x, hFirst, h, dgates []float32, steps int) {
	wide, first := 4*l.cell, l.batch*4*l.cell
	rows := steps * l.batch
	outer := func(dst, a, b []float32, m, rows int, add bool) {
		g := gemm.NewGemm(m, wide, rows, true, false)
		g.Accumulate = add
		gemm.MatMul(par, g, dst, a, b, gemm.Epilogue[float32]{})
	}
	dwh := dw[l.input*wide:]
	clear(dw)
	outer(dw[:l.input*wide], x, dgates, l.input, rows, false)
	if steps > 0 {
		outer(dwh, hFirst, dgates, l.cell, l.batch, false)
		outer(dwh, h, dgates[first:], l.cell, rows-l.batch, true)
	}
	clear(db)
	for r := range rows {
		elementwise.Add(db, db, dgates[r*wide:(r+1)*wide])
	}
}

// times multiplies rows of gradients of gates with the transposed weights w of
// what went into them, n numbers a row.
func (l *lstm) times(par kernel.Par, dst, dgates, w []float32, rows, n int) {
	gemm.MatMul(par, gemm.NewGemm(rows, n, 4*l.cell, false, true), dst, dgates, w, gemm.Epilogue[float32]{})
}

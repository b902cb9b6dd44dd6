package rnn

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf/core"
)

// What an LSTM computes in a step, in the order of the ops' outputs.
const (
	inputGate = iota
	cellState
	forgetGate
	outputGate
	candidate    // what the input gate lets into the cell
	cellOutput   // what the output gate lets out of it
	hiddenOutput // what it lets out
	numStates
)

// states holds what an LSTM computes: rows of a cell for each element of the
// batch, for one step or one step after the other.
type states [numStates][]float32

// part returns elements lo to hi of all that are there.
func (s *states) part(lo, hi int) (p states) {
	for k, x := range s {
		if x != nil {
			p[k] = x[lo:hi]
		}
	}
	return p
}

// A gateOrder says where, counted in cells, the candidate and the forget gate
// lie in a row of gates, between the input and the output gate.
type gateOrder struct{ candidate, forget int }

var (
	icfo = gateOrder{1, 2}
	ifco = gateOrder{2, 1}
)

// An lstm is the cell of a long short-term memory. Without peepholes the gates
// do not see the cell's state.
type lstm struct {
	batch, input, cell int
	order              gateOrder
	forgetBias, clip   float32
	peepholes          bool
	wci, wcf, wco      []float32
}

// lstmOf reads the attributes of a cell; all but the order may be missing.
func lstmOf(n *core.Node, order gateOrder) *lstm {
	return &lstm{order: order, forgetBias: n.Float("forget_bias"), clip: n.Float("cell_clip"), peepholes: n.Bool("use_peephole")}
}

// split returns the gates in a row: input, candidate, forget and output.
func (l *lstm) split(row []float32) (i, ci, f, o []float32) {
	n := l.cell
	ci, f = row[l.order.candidate*n:], row[l.order.forget*n:]
	return row[:n], ci[:n], f[:n], row[3*n : 4*n]
}

// rows calls f with the elements [lo, hi) of each row of a batch.
func (l *lstm) rows(par kernel.Par, f func(lo, hi int)) {
	par(l.batch, max(1, grain/max(1, l.cell)), func(first, last int) {
		for r := first; r < last; r++ {
			f(r*l.cell, (r+1)*l.cell)
		}
	})
}

// fromInput sets gates to the share that inputs x have in them, of as many rows
// as there are, and the biases b.
func (l *lstm) fromInput(par kernel.Par, gates, x, w, b []float32, rows int) {
	gemm.MatMul(par, gemm.NewGemm(rows, 4*l.cell, l.input, false, false), gates, x, w[:l.input*4*l.cell], gemm.Epilogue[float32]{Bias: b})
}

// step computes one step from the inputs' share in the gates, which it
// overwrites, and the state before.
func (l *lstm) step(par kernel.Par, s states, gates, csPrev, hPrev, w []float32) {
	g := gemm.NewGemm(l.batch, 4*l.cell, l.cell, false, false)
	g.Accumulate = true
	gemm.MatMul(par, g, gates, hPrev, w[l.input*4*l.cell:], gemm.Epilogue[float32]{})
	l.rows(par, func(lo, hi int) { l.stepRow(s.part(lo, hi), gates[4*lo:4*hi], csPrev[lo:hi]) })
}

func (l *lstm) stepRow(s states, gates, csPrev []float32) {
	i, ci, f, o := l.split(gates)
	if l.peepholes {
		addProduct(i, csPrev, l.wci)
		addProduct(f, csPrev, l.wcf)
	}
	elementwise.AddScalar(f, f, l.forgetBias)
	elementwise.Sigmoid(s[inputGate], i)
	elementwise.Sigmoid(s[forgetGate], f)
	elementwise.Tanh(s[candidate], ci)
	elementwise.Mul(s[cellState], s[inputGate], s[candidate])
	addProduct(s[cellState], s[forgetGate], csPrev)
	if l.clip > 0 {
		clip(s[cellState], l.clip)
	}
	elementwise.Tanh(s[cellOutput], s[cellState])
	if l.peepholes {
		addProduct(o, s[cellState], l.wco)
	}
	elementwise.Sigmoid(s[outputGate], o)
	elementwise.Mul(s[hiddenOutput], s[outputGate], s[cellOutput])
}

// addProduct adds x·y to z, element by element.
func addProduct(z, x, y []float32) {
	x, y = x[:len(z)], y[:len(z)]
	for k := range z {
		z[k] += x[k] * y[k]
	}
}

// clip bounds x by -most and most; NaN stays.
func clip(x []float32, most float32) {
	kernel.Map(x, x, func(v float32) float32 {
		switch {
		case v > most:
			return most
		case v < -most:
			return -most
		}
		return v
	})
}

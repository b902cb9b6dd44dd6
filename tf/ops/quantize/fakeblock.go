package quantize

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	fakeElements = 1024 // about how many elements of a block stay in the first-level cache
	fakeSums     = 16   // how many numbers are added in single precision
)

// A fakeBlock has the ranges of some whole rows of channels, one for each element.
type fakeBlock struct {
	ranges                         []nudged
	min, max, inverse, zero, scale []float32
	empty                          bool // one of the ranges is
	loan                           *core.Loan
}

func newFakeBlock(r []nudged) *fakeBlock {
	n := max(1, fakeElements/len(r)) * len(r)
	all, loan := core.Lend[float32](5 * n)
	b := &fakeBlock{ranges: r, loan: loan}
	for i, p := range []*[]float32{&b.min, &b.max, &b.inverse, &b.zero, &b.scale} {
		*p = all[i*n:][:n]
	}
	for i := range n {
		e := &r[i%len(r)]
		b.min[i], b.max[i], b.inverse[i], b.zero[i], b.scale[i] = e.min, e.max, e.inverse, e.zero, e.scale
		b.empty = b.empty || e.empty
	}
	return b
}

// roundChannels sets y to what is left of rows of channels after quantization.
func roundChannels(y, x []float32, r []nudged) {
	if len(x) == 0 {
		return
	}
	b := newFakeBlock(r)
	defer b.loan.Return()
	for len(x) > 0 {
		n := min(len(x), len(b.min))
		b.round(y[:n], x[:n])
		y, x = y[n:], x[n:]
	}
}

func (b *fakeBlock) round(y, x []float32) {
	n := len(y)
	if !b.empty && fakeEach.Run(n, elementwise.Along(x[:n]), elementwise.Along(b.min[:n]), elementwise.Along(b.max[:n]),
		elementwise.Along(b.inverse[:n]), elementwise.Along(b.zero[:n]), elementwise.Along(b.scale[:n]), elementwise.Along(y)) {
		return
	}
	for i, v := range x[:n] {
		y[i] = b.ranges[i%len(b.ranges)].rounded(v)
	}
}

// cutLanes compute what a gradient, operand 0, is to numbers, operand 1, to the bounds below, operand
// 2, and to those above, operand 3: itself where it belongs, else a 0, by a product, so that a
// gradient that is infinite passes. What is the bounds' is added to operands 4 and 5.
var cutLanes = elementwise.CompileMany(3, func(c *machine.Code, in []machine.Value) {
	none := c.Mul(in[0], c.Word(0))
	inside := c.And(c.GreaterEqual(in[1], in[2]), c.GreaterEqual(in[3], in[1]))
	c.Store(c.Pick(inside, in[0], none), machine.Word)
	c.Store(c.Add(in[4], c.Pick(c.Greater(in[2], in[1]), in[0], none)), machine.Word)
	c.Store(c.Add(in[5], c.Pick(c.Greater(in[1], in[3]), in[0], none)), machine.Word)
})

// cut sets dx to the gradients of numbers and adds those of bounds to below and above.
func (b *fakeBlock) cut(dx, below, above, dy, x []float32) {
	n := len(dx)
	below, above = below[:n], above[:n]
	if !b.empty && cutLanes.Run(n, elementwise.Along(dy[:n]), elementwise.Along(x[:n]), elementwise.Along(b.min[:n]), elementwise.Along(b.max[:n]),
		elementwise.Along(below), elementwise.Along(above), elementwise.Along(dx), elementwise.Along(below), elementwise.Along(above)) {
		return
	}
	for i, v := range x[:n] {
		r, g := &b.ranges[i%len(b.ranges)], dy[i]
		dx[i] = g
		if r.empty {
			continue
		}
		if !r.inside(v) {
			dx[i] = g * 0
		}
		below[i] += float32(g * oneIf(v < r.min))
		above[i] += float32(g * oneIf(v > r.max))
	}
}

func oneIf(cond bool) float32 {
	if cond {
		return 1
	}
	return 0
}

// cutSome is cut for some blocks. It returns the sums of below and, behind them, of above, by
// channel.
func (b *fakeBlock) cutSome(dx, dy, x []float32) []float64 {
	size, n := len(b.min), len(b.ranges)
	sums, loan := core.Lend[float32](2 * size)
	defer loan.Return()
	clear(sums)
	for lo := 0; lo < len(x); lo += size {
		hi := min(lo+size, len(x))
		b.cut(dx[lo:hi], sums[:size], sums[size:], dy[lo:hi], x[lo:hi])
	}
	return append(byChannel(sums[:size], n), byChannel(sums[size:], n)...)
}

// byChannel adds up whole rows of n channels.
func byChannel(sums []float32, n int) []float64 {
	if n == 1 {
		return []float64{float64(reduction.Sum(sums))}
	}
	totals := core.Make[float64](n)
	for ; len(sums) > 0; sums = sums[n:] {
		for k, v := range sums[:n] {
			totals[k] += float64(v)
		}
	}
	return totals
}

// fakeBackward computes the gradients for the bounds too: those of what is cut off at each. Sums
// of parts of one size are added in their order, whatever threads made them.
func fakeBackward(c *core.OpContext, _ int, r []nudged) error {
	dy, x := core.Data[float32](c.Input(0)), core.Data[float32](c.Input(1))
	out, err := c.Alloc(0, tf.Float32, c.Input(1).Shape())
	if err != nil {
		return err
	}
	dx, totals := core.Data[float32](out), core.Make[float64](2*len(r))
	if len(x) > 0 {
		b := newFakeBlock(r)
		defer b.loan.Return()
		part := fakeSums * len(b.min)
		parts := core.Make[[]float64]((len(x) + part - 1) / part)
		c.ParallelFor(len(parts), max(1, grain/part), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				from, to := i*part, min((i+1)*part, len(x))
				parts[i] = b.cutSome(dx[from:to], dy[from:to], x[from:to])
			}
		})
		for _, p := range parts {
			for i, v := range p {
				totals[i] += v
			}
		}
	}
	for i := range 2 {
		t, err := c.Alloc(1+i, tf.Float32, c.Input(2).Shape())
		if err != nil {
			return err
		}
		for k := range core.Data[float32](t) {
			core.Data[float32](t)[k] = float32(totals[i*len(r)+k])
		}
	}
	return nil
}

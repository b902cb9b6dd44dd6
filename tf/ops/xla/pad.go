package xla

import (
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	add(map[string]rule{
		"pad":         widened(2, pad),
		"dynamic_pad": widened(5, dynamicPad),
	})
}

// A padding is what a dimension gets before its first element, behind its last one
// and between neighbours. Where before or behind is negative, elements are left out.
type padding struct{ low, high, interior size }

func pad(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	if err := rankOf(op, 1, 0); err != nil {
		return nil, err
	}
	t := op.Operands[0].Type
	n := len(t.Shape)
	r := &reading{op: op}
	low, high := r.pads("edge_padding_low", n), r.pads("edge_padding_high", n)
	interior := r.atLeast("interior_padding", r.intsOf("interior_padding", n, 0), 0)
	if r.err != nil {
		return nil, r.err
	}
	p := make([]padding, n)
	for d := range p {
		p[d] = padding{known(low[d]), known(high[d]), known(interior[d])}
		if size := t.Shape[d]; size >= 0 && padded(known(int(size)), p[d]).n < 0 {
			return nil, refused(op, "a padding must not leave less than nothing: %d and %d of dimension %d of size %d", low[d], high[d], d, size)
		}
	}
	return one(padAll(l.g, in[0], sizesOf(in[0], t), in[1], p)), nil
}

func (r *reading) pads(name string, n int) []int {
	return r.atLeast(name, r.intsOf(name, n, 0), -1<<31+1)
}

func dynamicPad(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	if err := rankOf(op, 1, 0); err != nil {
		return nil, err
	}
	t := op.Operands[0].Type
	n := len(t.Shape)
	var v [3][]size
	for i := range v {
		if err := vectorOf(op, i+2, n); err != nil {
			return nil, err
		}
		v[i] = elements(op.Operands[i+2], in[i+2], n)
	}
	p := make([]padding, n)
	for d := range p {
		p[d] = padding{v[0][d], v[1][d], v[2][d]}
	}
	return one(padAll(l.g, in[0], sizesOf(in[0], t), in[1], p)), nil
}

// padded returns the size of a dimension with its padding.
func padded(n size, p padding) size {
	return n.plus(n.minus(known(1)).max(known(0)).times(p.interior)).plus(p.low).plus(p.high)
}

// padAll pads x, of some sizes, with a scalar.
func padAll(g *tf.Graph, x tf.Output, sizes []size, value tf.Output, p []padding) tf.Output {
	x, sizes = spread(g, x, sizes, value, p)
	grow, begin := make([]padding, len(p)), make([]size, len(p))
	crops := false
	for d, e := range p {
		// Elements that interior padding puts behind the last one are left out.
		high := e.high
		if !e.interior.is(0) {
			high = high.minus(e.interior.times(sizes[d].min(known(1))))
		}
		grow[d] = padding{low: e.low.max(known(0)), high: high.max(known(0))}
		begin[d] = known(0).minus(e.low.min(known(0)))
		crops = crops || !known0(e.low.min(known(0))) || !known0(high.min(known(0)))
		sizes[d] = sizes[d].plus(e.low).plus(high)
	}
	x = padEdges(g, x, value, grow)
	if !crops {
		return x
	}
	if b, ok := allKnown(begin); ok {
		if s, ok := allKnown(sizes); ok {
			return ops.Slice(x, b, s)
		}
	}
	return ops.Slice(x, vector(g, begin), vector(g, sizes))
}

func known0(s size) bool { return s.is(0) }

// padEdges adds elements before and behind dimensions.
func padEdges(g *tf.Graph, x, value tf.Output, p []padding) tf.Output {
	flat := make([]size, 0, 2*len(p))
	any := false
	for _, e := range p {
		flat = append(flat, e.low, e.high)
		any = any || !e.low.is(0) || !e.high.is(0)
	}
	if !any {
		return x
	}
	table := ops.Reshape(vector(g, flat), []int{len(p), 2})
	if v, ok := allKnown(flat); ok {
		table = int32Table(g, v, 2)
	}
	return ops.PadV2(x, table, value)
}

// int32Table returns a constant matrix of some columns.
func int32Table(g *tf.Graph, v []int, columns int) tf.Output {
	data := make([]int32, len(v))
	for i, n := range v {
		data[i] = int32(n)
	}
	return ops.Const(g, data, len(v)/columns, columns)
}

// spread puts elements between neighbours, and as many behind the last element.
func spread(g *tf.Graph, x tf.Output, sizes []size, value tf.Output, p []padding) (tf.Output, []size) {
	wide := make([]size, len(sizes))
	split := make([]size, 0, 2*len(sizes))
	behind := make([]padding, 0, 2*len(sizes))
	none := padding{low: known(0), high: known(0)}
	for d, n := range sizes {
		wide[d] = n
		split, behind = append(split, n), append(behind, none)
		if e := p[d].interior; !e.is(0) {
			wide[d] = n.times(e.plus(known(1)))
			split, behind = append(split, known(1)), append(behind, padding{low: known(0), high: e})
		}
	}
	if len(split) == len(sizes) {
		return x, wide
	}
	return shaped(g, padEdges(g, shaped(g, x, split), value, behind), wide), wide
}

// shaped gives x a shape.
func shaped(g *tf.Graph, x tf.Output, sizes []size) tf.Output {
	if v, ok := allKnown(sizes); ok {
		return ops.Reshape(x, v)
	}
	// One size that is not known follows from the others.
	at := -1
	rest := make([]size, len(sizes))
	for i, s := range sizes {
		rest[i] = s
		if !s.known() && at < 0 {
			at, rest[i] = i, known(-1)
		}
		if s.is(0) {
			return ops.Reshape(x, vector(g, sizes))
		}
	}
	if v, ok := allKnown(rest); ok {
		return ops.Reshape(x, v)
	}
	return ops.Reshape(x, vector(g, sizes))
}

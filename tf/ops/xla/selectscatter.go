package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() { add(map[string]rule{"select_and_scatter": checked(3, selectAndScatter)}) }

// selectAndScatter adds elements of the source, operand 1, where a selection finds the
// elements of windows: the gradient of pooling.
func selectAndScatter(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	rank := len(op.Operands[0].Type.Shape)
	if err := rankOf(op, 1, rank); err != nil {
		return nil, err
	}
	if err := scalars(op, 2); err != nil {
		return nil, err
	}
	w, err := readWindowing(l, op, in[0])
	if err != nil {
		return nil, err
	}
	if combination(region(op, 1), 0, 1) != "add" {
		return nil, unsupported(op, "it must add the elements that it scatters")
	}
	var y tf.Output
	if w.isMaxPoolGrad(in[0].DType()) {
		y = w.maxPoolGrad(in[0], in[1])
	} else if y, err = w.selected(in[0], in[1]); err != nil {
		return nil, err
	}
	if !changesNothing(constantOf(op.Operands[2]), 0) {
		y = ops.AddV2(in[2], y)
	}
	return one(y), nil
}

// isMaxPoolGrad reports whether MaxPoolGrad computes the same: windows of images, of
// whose greatest elements the first one counts.
func (w *windowing) isMaxPoolGrad(d tf.DType) bool {
	b := region(w.op, 0)
	if b == nil || len(b.Args) != 2 || len(b.Ops) != 2 || len(w.sizes) != 4 || !slices.Contains(poolable["maximum"], d) {
		return false
	}
	v := b.Terminator().Operands
	if len(v) != 1 || v[0].Def == nil || v[0].Def.Name != "compare" || v[0].Def.Attr("comparison_direction") != stablehlo.Enum("GE") || !slices.Equal(v[0].Def.Operands, b.Args) {
		return false
	}
	first, ok := w.neighbours()
	return ok && first == 1 && w.padsFit(1)
}

func (w *windowing) maxPoolGrad(x, source tf.Output) tf.Output {
	ksize, strides, pads := []int{1, w.window[1], w.window[2], 1}, []int{1, w.strides[1], w.strides[2], 1}, make([]int, 8)
	for d := 1; d < 3; d++ {
		pads[2*d], pads[2*d+1] = w.pads[d].low.n, w.pads[d].high.n
	}
	y := w.pool(x, "maximum", ksize, strides, pads)
	attrs := []tf.Option{tf.Attr("ksize", ksize), tf.Attr("strides", strides), tf.Attr("padding", "VALID"), open}
	if slices.ContainsFunc(pads, func(p int) bool { return p != 0 }) {
		attrs = append(attrs, tf.Attr("padding", "EXPLICIT"), tf.Attr("explicit_paddings", pads))
	}
	return tf.Apply(nil, "MaxPoolGrad", []tf.Output{x, y, source}, attrs...).Output(0)
}

// selected finds the position of the element that each window selects, and adds up the
// elements of source for each position. Positions that pad are -1.
func (w *windowing) selected(x, source tf.Output) (tf.Output, error) {
	n := 1
	for _, k := range w.window {
		if n *= k; n > maxPositions {
			return x, unsupported(w.op, "its windows must have at most %d elements", maxPositions)
		}
	}
	g := w.l.g
	whole, sizes := product(w.sizes), w.sizes
	at := shaped(g, upTo(g, whole), sizes)
	positions := *w
	at = positions.padded(at, ops.Scalar(g, int32(-1)))
	x = w.padded(x, number(x, 0))
	best, bestAt := tf.Output{}, tf.Output{}
	for i, p := range grid(w.window) {
		next, nextAt := w.windowAt(x, p), w.windowAt(at, p)
		if i == 0 {
			best, bestAt = next, nextAt
			continue
		}
		keep, err := w.l.loosely(w.op, region(w.op, 0), []tf.Output{best, next})
		if err != nil {
			return x, err
		}
		inside := func(x tf.Output) tf.Output { return ops.GreaterEqual(x, ops.Scalar(g, int32(0))) }
		stays := ops.LogicalOr(ops.LogicalNot(inside(nextAt)), ops.LogicalAnd(inside(bestAt), keep[0]))
		best, bestAt = ops.SelectV2(stays, best, next), ops.SelectV2(stays, bestAt, nextAt)
	}
	return shaped(g, ops.UnsortedSegmentSum(source, bestAt, whole.in(g)), sizes), nil
}

// loosely applies an elementwise region to many elements at once.
func (l *lowering) loosely(op *stablehlo.Op, b *stablehlo.Block, in []tf.Output) ([]tf.Output, error) {
	if b == nil {
		return nil, refused(op, "it must have a region")
	}
	if err := l.elementwiseOnly(op, b); err != nil {
		return nil, err
	}
	was := l.loose
	l.loose = true
	defer func() { l.loose = was }()
	out, err := l.block(b, in)
	if err == nil && len(out) == 0 {
		err = refused(op, "its region must return a value")
	}
	return out, err
}

package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	add(map[string]rule{
		"gather":         checked(2, gather),
		"dynamic_gather": checked(3, gather),
	})
}

func gather(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	if len(op.Results) != 1 {
		return nil, refused(op, "it has one result, got %d", len(op.Results))
	}
	names := indexingNames{"offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map"}
	x, err := newIndexing(op, names, op.Operands[0].Type, op.Operands[1].Type, op.Results[0].Type)
	if err != nil {
		return nil, err
	}
	v := &gathering{indexing: x, g: l.g, sizes: sizesOf(in[0], x.operand)}
	if err := v.readSizes(op, in); err != nil {
		return nil, err
	}
	v.vectors, v.batch = x.vectorsLast(l.g, in[1])
	return one(v.result(in[0])), nil
}

// A gathering is a gather operation.
type gathering struct {
	*indexing
	g       *tf.Graph
	sizes   []size // of the operand
	part    []size // of windows
	vectors tf.Output
	batch   []size
}

// readSizes reads the sizes of windows, an attribute or an operand.
func (v *gathering) readSizes(op *stablehlo.Op, in []tf.Output) error {
	rank := len(v.sizes)
	if len(in) > 2 {
		if err := vectorOf(op, 2, rank); err != nil {
			return err
		}
		v.part = elements(op.Operands[2], in[2], rank)
	} else {
		r := &reading{op: op}
		v.part = knowns(r.atLeast("slice_sizes", r.intsOf("slice_sizes", rank, 0), 0))
		if r.err != nil {
			return r.err
		}
	}
	for d, p := range v.part {
		if last := v.sizes[d].minus(p); last.known() && last.n < 0 {
			return refused(op, "a window must not be greater than the operand: %d of dimension %d of size %d", p.n, d, v.sizes[d].n)
		}
		if slices.Contains(v.free, d) {
			continue
		}
		if p.known() && p.n != 1 && !(p.n == 0 && v.sizes[d].is(0)) {
			return refused(op, "a window must have size 1 in dimension %d, which it does not keep, got %d", d, p.n)
		}
		v.part[d] = known(1)
	}
	return nil
}

// A labelled is a tensor whose dimensions have names: those of the operand, or -1-i for
// dimension i of the batches.
type labelled struct {
	x      tf.Output
	labels []int
}

func (v *gathering) result(x tf.Output) tf.Output {
	if y, ok := v.nothing(x); ok {
		return v.arrange(y)
	}
	x = v.cut(x)
	v.clamp()
	parts := v.parts()
	n, _ := allKnown(v.batch)
	switch {
	case len(parts) == 0 && len(v.batching) == 0:
		return v.arrange(v.everywhere(x))
	case len(v.batching) == 0 && n != nil && !slices.ContainsFunc(n, func(b int) bool { return b != 1 }) && len(parts) > 1:
		return v.arrange(v.sliced(x, parts))
	case len(parts) == 1 && (len(v.batching) == 0 || parts[0].n.is(1)):
		return v.arrange(v.rows(x, parts[0]))
	}
	return v.arrange(v.points(x, parts))
}

// nothing returns a result that is known to have no elements: TensorFlow refuses to take
// windows, even empty ones, from a tensor without elements.
func (v *gathering) nothing(x tf.Output) (labelled, bool) {
	sizes, labels := slices.Clone(v.batch), v.batchLabels()
	for _, d := range v.free {
		sizes, labels = append(sizes, v.part[d]), append(labels, d)
	}
	if !slices.ContainsFunc(sizes, size.isZero) {
		return labelled{}, false
	}
	return labelled{ops.Empty(vector(v.g, sizes), x.DType()), labels}, true
}

// cut leaves of dimensions without an index what windows reach.
func (v *gathering) cut(x tf.Output) tf.Output {
	cuts := false
	n := slices.Clone(v.sizes)
	for d := range n {
		if slices.Contains(v.to, d) || slices.Contains(v.batching, d) || v.part[d] == v.sizes[d] {
			continue
		}
		cuts, n[d] = true, v.part[d]
	}
	if !cuts {
		return x
	}
	v.sizes = n
	return ops.Slice(x, vector(v.g, knowns(make([]int, len(n)))), vector(v.g, n))
}

// clamp moves indices so that windows lie in the operand.
func (v *gathering) clamp() {
	if len(v.to) == 0 {
		return
	}
	last := make([]size, len(v.to))
	for i, d := range v.to {
		last[i] = v.sizes[d].minus(v.part[d]).max(known(0))
	}
	v.vectors = ops.Maximum(ops.Minimum(v.vectors, vector(v.g, last)), ops.Scalar(v.g, int32(0)))
}

// parts returns what indices choose from; dimensions that windows fill are left out.
func (v *gathering) parts() []part {
	var out []part
	for i, d := range v.to {
		if v.part[d] != v.sizes[d] || v.part[d].is(0) && !slices.Contains(v.free, d) {
			out = append(out, part{dim: d, n: v.part[d], whole: v.sizes[d], column: i, batch: -1})
		}
	}
	return out
}

// everywhere repeats the operand, all of which each window is.
func (v *gathering) everywhere(x tf.Output) labelled {
	shape := append(ones(len(v.batch)), v.sizes...)
	x = spreadTo(v.g, shaped(v.g, x, shape), append(slices.Clone(v.batch), v.sizes...))
	return labelled{x, append(v.batchLabels(), without(len(v.sizes))...)}
}

func (v *gathering) batchLabels() []int {
	out := make([]int, len(v.batch))
	for i := range out {
		out[i] = -1 - i
	}
	return out
}

// sliced takes the only window there is.
func (v *gathering) sliced(x tf.Output, parts []part) labelled {
	begin, n := knowns(make([]int, len(v.sizes))), slices.Clone(v.sizes)
	flat := ops.Reshape(v.vectors, []int{len(v.to)})
	for _, p := range parts {
		begin[p.dim], n[p.dim] = size{x: element(flat, p.column)}, p.n
	}
	x = ops.Slice(x, vector(v.g, begin), vector(v.g, n))
	return labelled{shaped(v.g, x, append(ones(len(v.batch)), n...)), append(v.batchLabels(), without(len(n))...)}
}

// rows takes windows along one dimension. Batching dimensions come first.
func (v *gathering) rows(x tf.Output, p part) labelled {
	order := append(slices.Clone(v.batching), without(len(v.sizes), v.batching...)...)
	lead := make([]int, len(v.batches))
	for i, d := range v.batches {
		lead[i] = v.indexing.batch(d)
	}
	batchOrder := append(slices.Clone(lead), without(len(v.batch), lead...)...)
	axis := slices.Index(order, p.dim)
	at := transposed(column(v.vectors, len(v.batch), p.column, len(v.to)), batchOrder)
	var labels []int
	for _, b := range lead {
		labels = append(labels, -1-b)
	}
	labels = append(labels, order[len(lead):axis]...)
	for _, b := range batchOrder[len(lead):] {
		labels = append(labels, -1-b)
	}
	if !p.n.is(1) {
		at = ops.AddV2(ops.ExpandDims(at, len(v.batch)), upTo(v.g, p.n))
		labels = append(labels, p.dim)
	}
	labels = append(labels, order[axis+1:]...)
	return labelled{ops.Gather(transposed(x, order), at, axis, ops.GatherOpts{BatchDims: len(lead)}), labels}
}

// points takes windows by indices of several dimensions, which come first.
func (v *gathering) points(x tf.Output, parts []part) labelled {
	parts = append(v.batchParts(v.sizes), parts...)
	var first, wide []int
	for _, p := range parts {
		first = append(first, p.dim)
		if !p.n.is(1) {
			wide = append(wide, p.dim)
		}
	}
	rest := without(len(v.sizes), first...)
	at := joined(v.g, v.columns(v.g, v.vectors, v.batch, parts), v.batch, parts)
	labels := slices.Concat(v.batchLabels(), wide, rest)
	return labelled{ops.GatherNd(transposed(x, append(first, rest...)), at, open), labels}
}

// batchParts returns the parts that batching dimensions are.
func (x *indexing) batchParts(sizes []size) []part {
	out := make([]part, len(x.batching))
	for i, d := range x.batching {
		out[i] = part{dim: d, n: known(1), whole: sizes[d], column: -1, batch: x.batch(x.batches[i])}
	}
	return out
}

// arrange puts the dimensions where the result has them. Those of size 1 that are
// missing are added.
func (v *gathering) arrange(y labelled) tf.Output {
	var order []int
	full := make([]size, 0, len(v.window)+len(v.batch))
	batch, free := 0, 0
	for d := range cap(full) {
		label := -1 - batch
		if slices.Contains(v.window, d) {
			label = v.free[free]
			free++
			full = append(full, v.part[label])
		} else {
			full = append(full, v.batch[batch])
			batch++
		}
		if at := slices.Index(y.labels, label); at >= 0 {
			order = append(order, at)
		}
	}
	return v.reshaped(y, order, full)
}

// reshaped adds dimensions of size 1, and takes away those that no window has.
func (v *gathering) reshaped(y labelled, order []int, full []size) tf.Output {
	gone := without(len(y.labels), order...)
	x := transposed(y.x, append(slices.Clone(order), gone...))
	if len(gone) == 0 && len(order) == len(full) {
		return x
	}
	return shaped(v.g, x, full)
}

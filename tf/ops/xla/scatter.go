package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() { add(map[string]rule{"scatter": widened(3, scatter)}) }

func scatter(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	n := len(in) / 2
	if len(in) != 2*n+1 {
		return nil, refused(op, "it takes operands, indices and as many updates, got %d operands", len(in))
	}
	names := indexingNames{"update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"}
	all := make([]*scattering, n)
	for i := range all {
		x, err := newIndexing(op, names, op.Operands[i].Type, op.Operands[n].Type, op.Operands[n+1+i].Type)
		if err != nil {
			return nil, err
		}
		s := &scattering{indexing: x, g: l.g, sizes: sizesOf(in[i], x.operand), how: combination(region(op, 0), i, n)}
		if err := s.readWindow(in[n+1+i], op.Operands[n+1+i].Type); err != nil {
			return nil, err
		}
		s.vectors, s.batch = x.vectorsLast(l.g, in[n])
		all[i] = s
	}
	if slices.ContainsFunc(all, func(s *scattering) bool { return s.how == "" }) {
		return l.scatterByRegion(op, all, in)
	}
	out := make([]tf.Output, n)
	for i, s := range all {
		var err error
		if out[i], err = s.result(in[i], in[n+1+i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// A scattering is a scatter operation of one operand.
type scattering struct {
	*indexing
	g       *tf.Graph
	how     string // updates are combined with elements, "" by the region
	sizes   []size // of the operand
	part    []size // of windows, by dimension of the operand
	vectors tf.Output
	batch   []size
}

// readWindow takes the sizes of windows from the updates.
func (s *scattering) readWindow(updates tf.Output, t stablehlo.Type) error {
	s.part = ones(len(s.sizes))
	sizes := sizesOf(updates, t)
	for i, d := range s.free {
		s.part[d] = sizes[s.window[i]]
		if last := s.sizes[d].minus(s.part[d]); last.known() && last.n < 0 {
			return refused(s.op, "a window must not be greater than the operand: %d of dimension %d of size %d", s.part[d].n, d, s.sizes[d].n)
		}
	}
	return nil
}

func (s *scattering) result(x, updates tf.Output) (tf.Output, error) {
	if s.how == keep || s.isEmpty() { // TensorFlow refuses updates of nothing
		return x, nil
	}
	t := s.targets(x, updates)
	y, err := s.combined(t.x, t.at, t.updates, s.how, t.parts)
	if err != nil {
		return y, err
	}
	return t.result(y), nil
}

func (s *scattering) isEmpty() bool { return slices.ContainsFunc(s.sizes, size.isZero) }

// targets are an operand and updates as TensorFlow's scattering takes them: the
// dimensions that indices choose from come first.
type targets struct {
	x, at, updates tf.Output
	parts          int
	order          []int // of x's dimensions
}

func (s *scattering) targets(x, updates tf.Output) targets {
	parts := s.parts()
	var first, wide []int
	for _, p := range parts {
		first = append(first, p.dim)
		if !p.n.is(1) {
			wide = append(wide, p.dim)
		}
	}
	rest := without(len(s.sizes), first...)
	t := targets{parts: len(parts), order: append(first, rest...)}
	t.updates = s.arrange(updates, wide, rest)
	t.at = s.points(parts, s.how == "multiply")
	t.x = transposed(x, t.order)
	if len(parts) == 0 {
		t.x = ops.ExpandDims(t.x, 0)
	}
	return t
}

// result puts the dimensions of y, updated, in the order of the operand's.
func (t targets) result(y tf.Output) tf.Output {
	if t.parts == 0 {
		y = ops.Squeeze(y, []int{0})
	}
	return transposed(y, inverse(t.order))
}

// parts returns what indices choose from, in the order of dimensions.
func (s *scattering) parts() []part {
	out := s.batchParts(s.sizes)
	for d := range s.sizes {
		p := part{dim: d, n: s.part[d], whole: s.sizes[d], column: slices.Index(s.to, d), batch: -1}
		if p.column >= 0 || slices.Contains(s.dropped, d) || p.n != p.whole && !slices.Contains(s.batching, d) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b part) int { return a.dim - b.dim })
	return out
}

// arrange puts updates in the order of batches, parts of more than one element, and
// dimensions without an index.
func (s *scattering) arrange(updates tf.Output, wide, rest []int) tf.Output {
	rank := len(s.window) + len(s.batch)
	order := without(rank, s.window...)
	shape := slices.Clone(s.batch)
	for _, d := range append(slices.Clone(wide), rest...) {
		order = append(order, s.window[slices.Index(s.free, d)])
		shape = append(shape, s.part[d])
	}
	gone := without(rank, order...)
	updates = transposed(updates, append(order, gone...))
	if len(gone) > 0 {
		updates = shaped(s.g, updates, shape)
	}
	return updates
}

// outside is an index that no dimension has, and that stays so a window further on.
const outside = -1 << 30

// points returns where updates go. Vectors of windows that do not lie in the operand
// become ones outside of it; those of single elements only if all have to be checked.
func (s *scattering) points(parts []part, all bool) tf.Output {
	if len(parts) == 0 {
		shape := append(slices.Clone(s.batch), known(1))
		return spreadTo(s.g, shaped(s.g, int32s(s.g, []int{0}), ones(len(shape))), shape)
	}
	wide := slices.ContainsFunc(parts, func(p part) bool { return p.column >= 0 && !p.n.is(1) })
	if len(s.to) > 0 && (wide || all) {
		last := make([]size, len(s.to))
		for i, d := range s.to {
			last[i] = s.sizes[d].minus(s.part[d])
		}
		in := ops.LogicalAnd(ops.GreaterEqual(s.vectors, ops.Scalar(s.g, int32(0))), ops.LessEqual(s.vectors, vector(s.g, last)))
		in = ops.All(in, []int{len(s.batch)}, ops.ReduceOpts{KeepDims: true})
		s.vectors = ops.SelectV2(in, s.vectors, ops.Scalar(s.g, int32(outside)))
	}
	if s.direct(parts) {
		return s.vectors
	}
	return joined(s.g, s.columns(s.g, s.vectors, s.batch, parts), s.batch, parts)
}

// direct reports whether vectors are what parts need as they are.
func (s *scattering) direct(parts []part) bool {
	for i, p := range parts {
		if p.column != i || !p.n.is(1) {
			return false
		}
	}
	return len(parts) == len(s.to)
}

// combined combines updates with elements of x.
func (s *scattering) combined(x, at, updates tf.Output, how string, parts int) (tf.Output, error) {
	lenient := []tf.Option{ops.BadIndicesOpts{Policy: "IGNORE"}, open}
	if u := updates.Shape(); u != nil && len(u) == 0 {
		at, updates = ops.ExpandDims(at, 0), ops.ExpandDims(updates, 0)
	}
	switch {
	case how == replace:
		return ops.TensorScatterUpdate(x, at, updates, lenient...), nil
	case x.DType() == tf.Bool && slices.Contains([]string{"or", "add", "maximum"}, how):
		return ops.ScatterNdNonAliasingAdd(x, at, updates, lenient...), nil
	case x.DType() == tf.Bool && slices.Contains([]string{"and", "multiply", "minimum"}, how): // not (not x or not y)
		return ops.LogicalNot(ops.ScatterNdNonAliasingAdd(ops.LogicalNot(x), at, ops.LogicalNot(updates), lenient...)), nil
	case x.DType() == tf.Bool:
	case how == "add":
		return ops.TensorScatterAdd(x, at, updates, lenient...), nil
	case how == "subtract":
		return ops.TensorScatterSub(x, at, updates, lenient...), nil
	case how == "minimum":
		return ops.TensorScatterMin(x, at, updates, lenient...), nil
	case how == "maximum":
		return ops.TensorScatterMax(x, at, updates, lenient...), nil
	case how == "multiply":
		return s.multiplied(x, at, updates, max(parts, 1)), nil
	}
	return tf.Output{}, unsupported(s.op, "its computation must not be %s of type %s", how, s.operand.Elem)
}

// multiplied multiplies elements of x with the products of their updates. at has
// vectors of n indices.
func (s *scattering) multiplied(x, at, updates tf.Output, n int) tf.Output {
	xs := ops.Shape(x)
	lead, rest := make([]size, n), ops.Slice(xs, []int{n}, []int{-1})
	for i := range lead {
		lead[i] = size{x: element(xs, i)}
	}
	if v := x.Shape(); v.Known() {
		lead = knowns(v[:n])
	}
	all := product(lead)
	step, ids := known(1), tf.Output{}
	rank := len(at.Shape()) - 1
	for i := n - 1; i >= 0; i-- {
		c := column(at, rank, i, n)
		if !step.is(1) {
			c = ops.Mul(c, step.in(s.g))
		}
		if ids != (tf.Output{}) {
			c = ops.AddV2(ids, c)
		}
		ids, step = c, step.times(lead[i])
	}
	out := ops.Any(ops.Less(at, ops.Scalar(s.g, int32(0))), []int{rank})
	ids = ops.SelectV2(out, ops.Scalar(s.g, int32(-1)), ids)
	factors := ops.UnsortedSegmentProd(updates, ids, all.in(s.g))
	head := vector(s.g, []size{all})
	y := ops.Mul(ops.Reshape(x, ops.Concat(0, []tf.Output{head, rest})), factors)
	return ops.Reshape(y, xs)
}

// inverse returns the order that undoes another.
func inverse(order []int) []int {
	out := make([]int, len(order))
	for i, d := range order {
		out[d] = i
	}
	return out
}

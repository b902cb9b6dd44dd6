package xla

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() { add(map[string]rule{"reduce": checked(2, reduce)}) }

// reducers has TensorFlow's reductions by the operation that combines two elements,
// and the number that changes nothing.
var reducers = map[string]struct {
	op, ofBooleans string
	none           float64
}{
	"add": {"Sum", "Any", 0}, "multiply": {"Prod", "All", 1}, "maximum": {"Max", "Any", math.Inf(-1)}, "minimum": {"Min", "All", math.Inf(1)},
	"and": {"", "All", 1}, "or": {"", "Any", 0},
}

// reduce combines the elements along dimensions by what its region computes.
func reduce(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	if err := regions(op, 1); err != nil {
		return nil, err
	}
	n := len(in) / 2
	if len(in) != 2*n || len(op.Results) != n || len(op.Regions[0].Args) != 2*n {
		return nil, refused(op, "it must have an initial value, a result and two arguments of the region for each tensor, got %d, %d and %d for %d",
			len(in)-n, len(op.Results), len(op.Regions[0].Args), n)
	}
	rank := len(op.Operands[0].Type.Shape)
	for i := range n {
		if len(op.Operands[i].Type.Shape) != rank || len(op.Operands[n+i].Type.Shape) != 0 {
			return nil, refused(op, "its tensors must have one rank, and the initial values rank 0")
		}
	}
	r := reading{op: op}
	dims := r.dims("dimensions", rank)
	if r.err != nil || len(dims) == 0 { // of one element each, which XLA leaves as it is
		return in[:n], r.err
	}
	if out, ok := l.reduceBy(op, in, dims); ok {
		return out, nil
	}
	t := &reduction{l: l, op: op, xs: in[:n], init: in[n:], rank: rank}
	return t.run(dims)
}

// combines returns the operation of a region that combines its two arguments by one.
func combines(b *stablehlo.Block) string {
	if len(b.Args) != 2 || len(b.Ops) != 2 {
		return ""
	}
	op, ret := b.Ops[0], b.Ops[1]
	if len(op.Operands) != 2 || len(op.Results) != 1 || len(ret.Operands) != 1 || ret.Operands[0] != op.Results[0] {
		return ""
	}
	x, y := op.Operands[0], op.Operands[1]
	if x == b.Args[0] && y == b.Args[1] || x == b.Args[1] && y == b.Args[0] {
		return op.Name
	}
	return ""
}

// reduceBy uses one of TensorFlow's reductions, if the region is the operation of one.
func (l *lowering) reduceBy(op *stablehlo.Op, in []tf.Output, dims []int) ([]tf.Output, bool) {
	r, ok := reducers[combines(op.Regions[0])]
	if !ok || len(in) != 2 {
		return nil, false
	}
	x, init := in[0], in[1]
	name := r.op
	if x.DType().Base() == tf.Bool {
		name = r.ofBooleans
	}
	if name == "" || isComplex(x.DType().Base()) && name != "Sum" && name != "Prod" {
		return nil, false
	}
	out := l.total(name, x, dims)
	if changesNothing(op.Operands[1], r.none) {
		return []tf.Output{out}, true
	}
	inner := op.Regions[0].Ops[0]
	out, err := elementwises[inner.Name].apply(l, inner, []tf.Output{init, out})
	return []tf.Output{out}, err == nil
}

// total adds a reduction, of a wider type if there is no kernel.
func (l *lowering) total(name string, x tf.Output, dims []int) tf.Output {
	axes := int32s(l.g, dims)
	if name == "All" || name == "Any" {
		return tf.Apply(l.g, name, []tf.Output{x, axes}).Output(0)
	}
	d := x.DType().Base()
	w := d
	for wider[w] != tf.Invalid && !hasKernel(name, w) {
		w = wider[w]
	}
	if w == d {
		return tf.Apply(l.g, name, []tf.Output{x, axes}).Output(0)
	}
	return ops.Cast(tf.Apply(l.g, name, []tf.Output{ops.Cast(x, w), axes}).Output(0), d)
}

// changesNothing reports whether an initial value is known to be the number that is
// none, or, for a maximum or minimum of integers, the extreme of its type.
func changesNothing(v *stablehlo.Value, none float64) bool {
	x, ok := constantNumber(v)
	if !ok {
		return false
	}
	d := dtypes[v.Type.Elem]
	if math.IsInf(none, 0) && isInt(d) {
		low, high := -math.Ldexp(1, bits(d)-1), math.Ldexp(1, bits(d)-1)-1
		if isUnsigned(d) {
			low, high = 0, math.Ldexp(1, bits(d))-1
		}
		return none < 0 && x == low || none > 0 && x == high
	}
	return x == none
}

// A reduction is one by any region: it combines neighbours, elementwise, until one element
// is left. StableHLO lets us choose which are combined first, but not exchange elements:
// regions need not commute.
type reduction struct {
	l        *lowering
	op       *stablehlo.Op
	xs, init []tf.Output
	rank     int
}

func (t *reduction) run(dims []int) ([]tf.Output, error) {
	if err := t.merge(dims); err != nil {
		return nil, err
	}
	return t.halve()
}

// merge makes the reduced dimensions the first one, with its elements in row-major order.
func (t *reduction) merge(dims []int) error {
	dims = slices.Sorted(slices.Values(dims))
	order := append([]int(nil), dims...)
	for d := range t.rank {
		if !slices.Contains(dims, d) {
			order = append(order, d)
		}
	}
	for i, x := range t.xs {
		sizes := sizesOf(x, t.op.Operands[i].Type)
		first := make([]size, len(dims))
		for k, d := range dims {
			first[k] = sizes[d]
		}
		all := []size{product(first)}
		for _, d := range order[len(dims):] {
			all = append(all, sizes[d])
		}
		x = t.l.transposed(x, order)
		if len(dims) > 1 {
			x = t.l.reshape(x, all)
		}
		t.xs[i] = x
	}
	return nil
}

// halve combines the elements of the first dimension.
func (t *reduction) halve() ([]tf.Output, error) {
	n := t.l.sizes(t.xs[0])[0]
	if !n.known() {
		return t.halveInLoop()
	}
	if n.n == 0 {
		out := make([]tf.Output, len(t.xs))
		for i := range out {
			out[i] = ops.BroadcastTo(t.init[i], vector(t.l.g, t.l.sizes(t.xs[i])[1:]))
		}
		return out, nil
	}
	for k := n.n; k > 1; k = (k + 1) / 2 {
		if err := t.step(k); err != nil {
			return nil, err
		}
	}
	for i, x := range t.xs {
		t.xs[i] = element(x, 0)
	}
	return t.combine(t.init, t.xs)
}

// halveInLoop is halve for a size that only the step knows. The initial values are the
// first elements, so that there is one.
func (t *reduction) halveInLoop() ([]tf.Output, error) {
	g := t.l.g
	shapes := make([]tf.Shape, len(t.xs))
	for i, x := range t.xs {
		first := ops.BroadcastTo(t.init[i], vector(g, append([]size{known(1)}, t.l.sizes(x)[1:]...)))
		t.xs[i] = ops.ConcatV2([]tf.Output{first, x}, ops.Scalar(g, int32(0)))
		shapes[i] = append(tf.Shape{-1}, x.Shape()[1:]...)
	}
	var failed error
	out := tf.While(t.xs,
		func(xs []tf.Output) tf.Output {
			return ops.Greater(element(ops.Shape(xs[0]), 0), ops.Scalar(g, int32(1)))
		},
		func(xs []tf.Output) []tf.Output {
			ys, err := t.halved(xs)
			if err != nil {
				failed = err
				return []tf.Output{tf.Failed(g, t.op.Name, err).Output(0)}
			}
			return ys
		},
		tf.WhileOpts{NoBackProp: true, ShapeInvariants: shapes})
	if failed != nil {
		return nil, failed
	}
	for i, x := range out {
		out[i] = element(x, 0)
	}
	return out, nil
}

// halved is step for a number of elements that is not known.
func (t *reduction) halved(xs []tf.Output) (out []tf.Output, err error) {
	g := t.l.g
	half := ops.Scalar(g, int32(2))
	half = ops.FloorDiv(element(ops.Shape(xs[0]), 0), half)
	to := ops.Reshape(ops.Mul(half, ops.Scalar(g, int32(2))), []int{1})
	zero, two := int32s(g, []int{0}), int32s(g, []int{2})
	even, odd := make([]tf.Output, len(xs)), make([]tf.Output, len(xs))
	for i, x := range xs {
		even[i], odd[i] = ops.StridedSlice(x, zero, to, two), ops.StridedSlice(x, int32s(g, []int{1}), to, two)
	}
	err = t.l.within(func() (err error) {
		out, err = t.combine(even, odd)
		return err
	})
	for i := range out {
		rest := ops.StridedSlice(xs[i], to, zero, int32s(g, []int{1}), ops.StridedSliceOpts{EndMask: 1})
		out[i] = ops.ConcatV2([]tf.Output{out[i], rest}, ops.Scalar(g, int32(0)))
	}
	return out, err
}

// step combines each of k elements that has an even number with the next one. The last one
// may be left over.
func (t *reduction) step(k int) error {
	end := k / 2 * 2
	even, odd, rest := make([]tf.Output, len(t.xs)), make([]tf.Output, len(t.xs)), make([]tf.Output, len(t.xs))
	for i, x := range t.xs {
		even[i], odd[i] = rows(x, 0, end, 2), rows(x, 1, end, 2)
		rest[i] = rows(x, end, k, 1)
	}
	out, err := t.combine(even, odd)
	if err != nil {
		return err
	}
	for i := range out {
		if k%2 == 1 {
			out[i] = ops.ConcatV2([]tf.Output{out[i], rest[i]}, ops.Scalar(t.l.g, int32(0)))
		}
	}
	t.xs = out
	return nil
}

func rows(x tf.Output, lo, hi, stride int) tf.Output {
	return ops.StridedSlice(x, []int{lo}, []int{hi}, []int{stride})
}

// combine applies the region to many elements at once.
func (t *reduction) combine(a, b []tf.Output) ([]tf.Output, error) {
	if err := t.l.elementwiseOnly(t.op, t.op.Regions[0]); err != nil {
		return nil, err
	}
	was := t.l.loose
	t.l.loose = true
	defer func() { t.l.loose = was }()
	out, err := t.l.block(t.op.Regions[0], append(append([]tf.Output(nil), a...), b...))
	if err == nil && len(out) != len(a) {
		err = refused(t.op, "its region must return %d values, got %d", len(a), len(out))
	}
	return out, err
}

// elementwiseOnly refuses regions that cannot be applied to many elements at once.
func (l *lowering) elementwiseOnly(op *stablehlo.Op, b *stablehlo.Block) error {
	if !l.isElementwise(b, map[*stablehlo.Block]bool{}) {
		return unsupported(op, "a region with %s is not supported", names(b))
	}
	return nil
}

// isElementwise reports whether a block and the functions that it calls have nothing but
// elementwise operations and constants. seen has the blocks that have been looked at.
func (l *lowering) isElementwise(b *stablehlo.Block, seen map[*stablehlo.Block]bool) bool {
	seen[b] = true
	for _, x := range b.Ops {
		if _, ok := elementwises[x.Name]; ok || x.Name == "constant" || x == b.Terminator() {
			continue
		}
		f := l.called(x)
		if f == nil || f.Body == nil || !seen[f.Body] && !l.isElementwise(f.Body, seen) {
			return false
		}
	}
	return true
}

// called returns the function that an operation calls, nil if it calls none.
func (l *lowering) called(op *stablehlo.Op) *stablehlo.Func {
	attr, ok := map[string]string{"call": "callee", "composite": "decomposition"}[op.Name]
	name, named := op.Attr(attr).(stablehlo.Symbol)
	if !ok || !named {
		return nil
	}
	return l.module.Func(string(name))
}

// names lists the operations of a region.
func names(b *stablehlo.Block) (out []string) {
	for _, op := range b.Ops {
		out = append(out, op.Name)
	}
	return out
}

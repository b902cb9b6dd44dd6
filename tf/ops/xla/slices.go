package xla

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	add(map[string]rule{
		"slice":                checked(1, slice),
		"real_dynamic_slice":   checked(4, realDynamicSlice),
		"dynamic_slice":        checked(1, dynamicSlice),
		"dynamic_update_slice": checked(2, dynamicUpdateSlice),
	})
}

func one(x tf.Output) []tf.Output { return []tf.Output{x} }

func slice(_ *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	t := op.Operands[0].Type
	n := len(t.Shape)
	r := &reading{op: op}
	start := r.atLeast("start_indices", r.intsOf("start_indices", n, 0), 0)
	limit := r.atLeast("limit_indices", r.intsOf("limit_indices", n, 0), 0)
	strides := r.atLeast("strides", r.intsOf("strides", n, 1), 1)
	for d := 0; d < n && r.err == nil; d++ {
		if size := t.Shape[d]; start[d] > limit[d] || size >= 0 && int64(limit[d]) > size {
			r.fail("a slice must lie in the dimension: [%d, %d) of dimension %d of size %d", start[d], limit[d], d, size)
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return one(strided(in[0], t, start, limit, strides)), nil
}

// strided slices x, and leaves it as it is if the slice is all of it.
func strided(x tf.Output, t stablehlo.Type, start, limit, strides []int) tf.Output {
	whole, dense := true, true
	size := make([]int, len(start))
	for d := range start {
		size[d] = limit[d] - start[d]
		dense = dense && strides[d] == 1
		whole = whole && start[d] == 0 && int64(limit[d]) == t.Shape[d]
	}
	switch {
	case dense && whole:
		return x
	case dense:
		return ops.Slice(x, start, size)
	}
	return ops.StridedSlice(x, start, limit, strides)
}

func realDynamicSlice(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	n := len(op.Operands[0].Type.Shape)
	v := make([]tf.Output, 3)
	for i := range v {
		if err := vectorOf(op, i+1, n); err != nil {
			return nil, err
		}
		v[i] = sizeVector(l.g, op.Operands[i+1], indexOf(in[i+1]), n)
	}
	if n == 0 {
		return one(in[0]), nil
	}
	return one(ops.StridedSlice(in[0], v[0], v[1], v[2])), nil
}

// vectorOf checks that an operand is a vector of n integers.
func vectorOf(op *stablehlo.Op, operand, n int) error {
	t := op.Operands[operand].Type
	if len(t.Shape) != 1 || t.Shape[0] != int64(n) || !isInteger(t.Elem) {
		return refused(op, "operand %d must be a vector of %d integers, got %s of shape %v", operand, n, t.Elem, t.Shape)
	}
	return nil
}

func isInteger(e stablehlo.Elem) bool {
	switch e {
	case "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "index":
		return true
	}
	return false
}

// indexOf returns integers as int32. Those that int32 does not hold become its extremes,
// which no dimension has as an index either.
func indexOf(x tf.Output) tf.Output {
	switch x.DType() {
	case tf.Int32:
		return x
	case tf.Int64:
		low, high := ops.Scalar(x.Graph(), int64(math.MinInt32)), ops.Scalar(x.Graph(), int64(math.MaxInt32))
		return ops.Cast(ops.Minimum(ops.Maximum(x, low), high), tf.Int32)
	case tf.Uint32:
		return indexOf(ops.Cast(x, tf.Int64))
	case tf.Uint64:
		high := ops.Scalar(x.Graph(), uint64(math.MaxInt32))
		return ops.Cast(ops.Minimum(x, high), tf.Int32)
	}
	return ops.Cast(x, tf.Int32)
}

// starts returns where a slice of some sizes begins: scalar operands from first on,
// moved so that the slice lies in the tensor.
func starts(l *lowering, op *stablehlo.Op, in []tf.Output, first int, whole, part []size) ([]size, error) {
	if len(in)-first != len(whole) {
		return nil, refused(op, "it takes a start for each of %d dimensions, got %d", len(whole), len(in)-first)
	}
	if err := scalars(op, first); err != nil {
		return nil, err
	}
	out := make([]size, len(whole))
	for d := range out {
		v := op.Operands[first+d]
		if !isInteger(v.Type.Elem) {
			return nil, refused(op, "a start must be an integer, got %s", v.Type.Elem)
		}
		at, err := l.start(op, l.chosen(v), whole[d].minus(part[d]))
		if err != nil {
			return nil, err
		}
		out[d] = at
	}
	return out, nil
}

// start returns where a slice begins in one dimension, at most last.
func (l *lowering) start(op *stablehlo.Op, v *stablehlo.Value, last size) (size, error) {
	if last.known() && last.n <= 0 {
		return known(0), nil
	}
	if c, ok := constantInts(v); ok && len(c) == 1 {
		if beyond := c[0] < 0 && v.Type.Elem == "ui64"; beyond {
			c[0] = math.MaxInt32
		}
		if c[0] <= 0 {
			return known(0), nil
		}
		return known(min(max(c[0], 0), math.MaxInt32)).min(last).max(known(0)), nil
	}
	x, err := l.whole(op, v)
	if err != nil {
		return size{}, err
	}
	at := size{x: indexOf(x)}
	r, ok := l.rangeOf(v)
	if !last.known() || !ok || r.hi > int64(last.n) {
		at, r.lo = at.min(last), min(r.lo, 0)
	}
	if !last.known() || !ok || r.lo < 0 {
		at = at.max(known(0))
	}
	return at, nil
}

func dynamicSlice(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	t := op.Operands[0].Type
	n := len(t.Shape)
	r := &reading{op: op}
	part := r.atLeast("slice_sizes", r.intsOf("slice_sizes", n, 0), 0)
	for d := 0; d < n && r.err == nil; d++ {
		if t.Shape[d] >= 0 && int64(part[d]) > t.Shape[d] {
			r.fail("a slice must not be greater than the tensor: %d of dimension %d of size %d", part[d], d, t.Shape[d])
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	begin, err := starts(l, op, in, 1, sizesOf(in[0], t), knowns(part))
	if err != nil || n == 0 {
		return in[:1], err
	}
	if b, ok := allKnown(begin); ok {
		return one(ops.Slice(in[0], b, part)), nil
	}
	if d, ok := rowOf(sizesOf(in[0], t), knowns(part), begin); ok && gathers(in[0].DType().Base()) {
		return one(ops.Reshape(ops.Gather(in[0], begin[d].x, d), part)), nil
	}
	return one(ops.Slice(in[0], vector(l.g, begin), vector(l.g, knowns(part)))), nil
}

// rowOf returns the dimension of which a slice takes one element, if it takes all of the
// others.
func rowOf(whole, part, begin []size) (int, bool) {
	row := -1
	for d := range whole {
		switch {
		case whole[d].known() && part[d] == whole[d]:
		case row < 0 && part[d].is(1) && !begin[d].known():
			row = d
		default:
			return -1, false
		}
	}
	return row, row >= 0
}

// gathers reports whether rows of elements of a type may be gathered.
func gathers(d tf.DType) bool {
	n, err := core.NewNode("", "GatherV2", core.Attrs{"Tparams": d, "Tindices": tf.Int32, "Taxis": tf.Int32})
	if err == nil {
		_, err = core.FindKernel("CPU", n)
	}
	return err == nil
}

// updateRow puts x in the place of one row along dimension d. The place is a shared
// vector, whose end does not count.
func (l *lowering) updateRow(x, row tf.Output, d int, at size) tf.Output {
	begin := append(slices.Repeat([]size{known(0)}, d), at)
	place := vector(l.g, begin)
	if d == 0 {
		place = ops.Reshape(at.x, []int{1})
	}
	before := 1<<d - 1
	mask := ops.StridedSliceOpts{BeginMask: before, EndMask: before, ShrinkAxisMask: 1 << d}
	return ops.TensorStridedSliceUpdate(x, place, place, int32s(l.g, repeat(1, d+1)), row, mask)
}

func dynamicUpdateSlice(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	t, u := op.Operands[0].Type, op.Operands[1].Type
	if len(t.Shape) != len(u.Shape) || t.Elem != u.Elem {
		return nil, refused(op, "an update must have the rank and the type of the operand: %s of shape %v, %s of shape %v", t.Elem, t.Shape, u.Elem, u.Shape)
	}
	whole, part := sizesOf(in[0], t), sizesOf(in[1], u)
	all := true
	for d := range whole {
		if whole[d].known() && part[d].known() && whole[d].n < part[d].n {
			return nil, refused(op, "an update must not be greater than the operand: shapes %v and %v", u.Shape, t.Shape)
		}
		all = all && whole[d].known() && part[d] == whole[d]
	}
	begin, err := starts(l, op, in, 2, whole, part)
	if err != nil {
		return nil, err
	}
	if all {
		return in[1:2], nil
	}
	if d, ok := rowOf(whole, part, begin); ok {
		if v, ok := allKnown(slices.Delete(slices.Clone(part), d, d+1)); ok {
			return one(l.updateRow(in[0], reshapedTo(in[1], v), d, begin[d])), nil
		}
	}
	end, ones := make([]size, len(begin)), make([]size, len(begin))
	for d := range begin {
		end[d], ones[d] = begin[d].plus(part[d]), known(1)
	}
	return one(ops.TensorStridedSliceUpdate(in[0], vector(l.g, begin), vector(l.g, end), vector(l.g, ones), in[1])), nil
}

package rowblocks

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A kind says how a node of a region computes.
type kind uint8

const (
	none kind = iota // it can be in no region
	each             // row by row: row i of each output follows from row i of what it reads
	view             // each, and its output is its input's memory in another shape
	sum              // its output is a sum over rows
)

// A reading says what of a value from outside of a region a node reads for a block of rows.
type reading uint8

const (
	whole    reading = iota // all of it
	rows                    // these rows
	repeated                // these rows, or all of it if it is broadcast
)

// constants are ops of nodes that say which part of a value is meant, by constants.
const (
	concat = "ConcatV2"
	split  = "Split"
	slice  = "Slice"
)

// choose is an op whose first input may be a vector that chooses rows of the others.
const choose = "Select"

// rule returns what n is in r, and how it reads what comes from outside.
func (r *region) rule(n *graph.Node) (kind, []reading) {
	d, in := n.Def, make([]reading, len(n.In))
	if !pure(n) || d.Has(core.ReadsDescription|core.DescribesList) || n.Str("data_format") == "NCHW" || slices.ContainsFunc(n.In, r.isSum) {
		return none, nil
	}
	switch {
	case d.Has(core.MatrixProduct):
		return r.product(n, in)
	case d.Has(core.SumsRows):
		return when(rankOf(n.In[0]) >= 2 && adds(n.OutTypes[0]), sum), in
	case d.Has(core.PairsRows):
		return each, fill(in, rows)
	case d.Has(core.Elementwise):
		return r.elementwise(n, fill(in, repeated)), in
	case d.Has(core.Rowwise):
		return when(rankOf(n.In[0]) >= 2, each), in
	case d.Has(core.View|core.Reshapes) && !d.Has(core.Awaited):
		return when(r.inside(n.In[0]) && !slices.ContainsFunc(n.In[1:], r.inside) && keepsRows(n), view), in
	}
	return r.alongOthers(n, in), in
}

// alongOthers is the rule of nodes that work along axes which constants name.
func (r *region) alongOthers(n *graph.Node, in []reading) kind {
	last := len(n.In) - 1
	switch {
	case n.Def.Has(core.Reduction):
		return when(r.inside(n.In[0]) && spares(n.In[1], rankOf(n.In[0])), each)
	case n.Def.Has(core.RepeatsInput):
		times := constant(n.In[1])
		return when(r.inside(n.In[0]) && len(times) > 0 && times[0] == 1, each)
	case n.OpName() == concat:
		fill(in[:last], rows)
		return when(spares(n.In[last], len(n.OutShape(0))), each)
	case n.OpName() == split:
		return when(r.inside(n.In[1]) && spares(n.In[0], rankOf(n.In[1])), each)
	case n.OpName() == slice:
		begin, size := constant(n.In[1]), constant(n.In[2])
		all := len(begin) > 0 && len(size) > 0 && begin[0] == 0 && (size[0] == -1 || size[0] == r.rows)
		return when(r.inside(n.In[0]) && all, each)
	}
	return none
}

func when(ok bool, k kind) kind {
	if !ok {
		return none
	}
	return k
}

func fill(in []reading, r reading) []reading {
	for i := range in {
		in[i] = r
	}
	return in
}

// product is the rule of products of matrices: rows by a matrix, or the transpose of rows by
// rows, which is a sum over them.
func (r *region) product(n *graph.Node, in []reading) (kind, []reading) {
	switch in[0] = rows; {
	case !adds(n.OutTypes[0]):
		return none, nil
	case !n.Bool("transpose_a"):
		return when(!r.inside(n.In[1]), each), in
	case n.Bool("transpose_b"):
		return none, nil
	}
	in[1] = rows
	return sum, in
}

// adds reports whether sums of a type are added up here.
func adds(t core.DType) bool { return t == core.Float32 || t == core.Float64 }

// elementwise is the rule of those ops: all that is computed within the region has the rank
// of the result.
func (r *region) elementwise(n *graph.Node, in []reading) kind {
	rank := len(n.OutShape(0))
	if rank == 0 {
		return none
	}
	for i, e := range n.In {
		s := e.Node.OutShape(e.Out)
		switch {
		case r.inside(e) && len(s) != rank:
			return none
		case i == 0 && n.OpName() == choose && rank > 1 && s == nil:
			return none
		case i == 0 && n.OpName() == choose && rank > 1 && len(s) == 1:
			in[i] = rows
		case s != nil && len(s) < rank:
			in[i] = whole
		}
	}
	return each
}

// keepsRows reports whether n gives the memory of what it reads other sizes for all axes but
// the first.
func keepsRows(n *graph.Node) bool {
	x, y := n.In[0].Node.OutShape(n.In[0].Out), n.OutShape(0)
	if len(x) == 0 || len(y) == 0 || n.In[0].Type() != n.OutTypes[0] {
		return false
	}
	from, to := x[1:], y[1:]
	return from.Known() && to.Known() && from.NumElements() == to.NumElements() && to.NumElements() > 0
}

// spares reports whether constant axes of a value of some rank do not name the first.
func spares(axes graph.Edge, rank int) bool {
	at := constant(axes)
	return rank > 0 && len(at) > 0 && !slices.ContainsFunc(at, func(a int) bool { return a < -rank || a >= rank || a == 0 || a == -rank })
}

// constant returns the numbers that an edge has in every step, nil if it has none.
func constant(e graph.Edge) []int {
	if e.Node.Role() != core.Constant {
		return nil
	}
	t := e.Node.TensorAttr("value")
	if t == nil {
		return nil
	}
	at, err := t.Ints()
	if err != nil {
		return nil
	}
	return at
}

func rankOf(e graph.Edge) int { return len(e.Node.OutShape(e.Out)) }

// pure reports whether n computes nothing but values, in memory that can be cut into rows.
// What a program wants to be computed again as a whole is left alone.
func pure(n *graph.Node) bool {
	d := n.Def
	if d.Stateful || n.Role() != core.Computes || d.Composes || d.Function || len(n.OutTypes) == 0 || len(n.In) == 0 || n.Attrs[hint] != nil {
		return false
	}
	if d.Has(core.SaysItsName | core.ReadsVariable | core.HoldsVariable) {
		return false
	}
	other := func(t core.DType) bool { return t.IsRef() || t.Size() == 0 }
	return !slices.ContainsFunc(n.OutTypes, other) && !slices.ContainsFunc(n.In, func(e graph.Edge) bool { return other(e.Type()) })
}

// hint is the attribute of nodes that package recompute is to compute again.
const hint = "_recompute_hint"

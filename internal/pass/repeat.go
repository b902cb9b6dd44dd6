package pass

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A gradient of a sum or a mean is repeated to the shape of what was summed, and then
// multiplied or added elsewhere, element by element. Elementwise ops broadcast by
// themselves, so that the repeated tensor need not be written:
//
//	x ─▶ Tile ─▶ Mul(·, y)        becomes   x ─▶ Mul(·, y)         y has the shape of Tile's output
//	x ─▶ Tile ─▶ RealDiv(·, c)    becomes   x ─▶ RealDiv(·, c) ─▶ Tile     c is one number
//
// The second lets the first come nearer to what reads the result. Both give the bits that
// were: the same operation of the same elements.

// repeatLate makes elementwise nodes read what others repeat for them.
func repeatLate(e *editor) (bool, error) {
	if !slices.ContainsFunc(e.Nodes, func(n *graph.Node) bool { return repeatOf(graph.Edge{Node: n}) != nil }) {
		return false, nil
	}
	order, err := e.Sorted()
	if err != nil {
		return false, err
	}
	f, changed := newForwards(e.Graph), false
	for _, n := range order {
		if err := f.settle(n); err != nil {
			return false, err
		}
		if hasRef(n) || len(n.OutTypes) != 1 {
			continue
		}
		did, err := e.readRepeated(f, n)
		if err != nil {
			return false, err
		}
		changed = changed || did
	}
	return changed, nil
}

// readRepeated rewrites n, if it is elementwise and reads what is repeated.
func (e *editor) readRepeated(f *forwards, n *graph.Node) (bool, error) {
	switch {
	case !n.Def.Has(core.Elementwise):
		return false, nil
	case isList(n):
		return e.addRepeated(f, n)
	}
	changed := false
	for k := range n.In {
		if r := repeatOf(n.In[k]); r != nil && r.serves(n, k) {
			n.In[k], changed = r.from, true
		}
	}
	if changed {
		return true, nil
	}
	return e.repeatAfter(f, n)
}

// A repeat is a node that repeats a tensor along dimensions of size 1.
type repeat struct {
	node *graph.Node
	from graph.Edge
	in   core.Shape
	out  core.Shape // as far as it is known; sizes of which in is not 1 are in's
	dims []int      // of out: those along which it repeats, whose sizes are known
}

// repeatOf returns the repeat that x is a result of, nil if it is none.
func repeatOf(x graph.Edge) *repeat {
	n := x.Node
	if !n.Def.Has(core.Reshapes|core.RepeatsInput) || len(n.Control) > 0 || hasRef(n) {
		return nil
	}
	given := constInts(n.In[1])
	if given == nil || len(n.In[1].Node.Control) > 0 || n.In[0].Node.Device != n.Device {
		return nil
	}
	r := &repeat{node: n, from: n.In[0], in: n.In[0].Node.OutShape(n.In[0].Out)}
	ok := r.in != nil
	switch {
	case !ok:
	case n.Def.Has(core.RepeatsInput):
		ok = r.times(given)
	default:
		ok = r.fills(given)
	}
	if !ok || len(r.dims) == 0 {
		return nil
	}
	return r
}

// times finds out what is repeated so often along each dimension.
func (r *repeat) times(multiples []int) bool {
	if len(multiples) != len(r.in) {
		return false
	}
	r.out = r.in.Clone()
	for i, m := range multiples {
		switch {
		case m == 1:
		case m < 1 || r.in[i] != 1:
			return false
		default:
			r.out[i], r.dims = m, append(r.dims, i)
		}
	}
	return true
}

// fills finds out what is repeated to fill a shape. A reshape that repeats nothing has
// no dims.
func (r *repeat) fills(shape []int) bool {
	to, more := core.Shape(shape), len(shape)-len(r.in)
	if !to.Known() || !r.in.Known() || more < 0 || to.NumElements() == r.in.NumElements() {
		return false
	}
	r.out = to
	for i, d := range to {
		have := 1
		if i >= more {
			have = r.in[i-more]
		}
		switch {
		case have == d:
		case have != 1 || d < 1:
			return false
		default:
			r.dims = append(r.dims, i)
		}
	}
	return true
}

// serves reports whether n may read r's source as input k: the result has the same shape,
// by the other inputs, and is as long in each dimension in which r repeats.
func (r *repeat) serves(n *graph.Node, k int) bool {
	if r.from.Node.Device != n.Device || r.from.Type() != n.InTypes[k] {
		return false
	}
	before, after := n.OutShape(0), shapeWith(n, k, r.in)
	if before == nil || len(after) != len(before) || len(before) != len(r.out) {
		return false
	}
	for _, i := range r.dims {
		if before[i] != r.out[i] || after[i] != r.out[i] {
			return false
		}
	}
	return r.isChecked(n, k)
}

// isChecked reports whether n's shapes depend on that of input k: one that is longer than
// what r repeats is refused. Otherwise the result's shape does not tell whether n
// broadcasts input k: ClipByValue needs bounds of the shape of what it clips.
func (r *repeat) isChecked(n *graph.Node, k int) bool {
	longer := r.out.Clone()
	longer[r.dims[0]]++
	return shapeWith(n, k, longer) == nil
}

// shapeWith returns the shape of n's result if input k had this shape, nil if it is not
// known or n would fail.
func shapeWith(n *graph.Node, k int, s core.Shape) core.Shape {
	in := make([]core.Shape, len(n.In))
	for i, x := range n.In {
		in[i] = x.Node.OutShape(x.Out)
	}
	in[k] = s
	out, err := core.InferShapes(&n.Node, in, func(i int) *core.Tensor { return constantOf(n.In[i]) })
	if err != nil {
		return nil
	}
	return out[0]
}

// repeatAfter makes n compute with what is repeated for it, where the other inputs are
// single numbers, and repeats the result.
func (e *editor) repeatAfter(f *forwards, n *graph.Node) (bool, error) {
	k := slices.IndexFunc(n.In, func(x graph.Edge) bool { return repeatOf(x) != nil })
	if k < 0 || e.roots[n] || e.Preserve[n.Name] || len(n.Control) > 0 {
		return false, nil
	}
	r := repeatOf(n.In[k])
	if !r.beforeNumbers(n, k) {
		return false, nil
	}
	small := &graph.Node{Node: n.Node, In: slices.Clone(n.In)}
	small.Name, small.Shapes = e.Unused(n.Name+"/once"), []core.Shape{r.in}
	small.In[k] = r.from
	if err := e.Add(small); err != nil {
		return false, err
	}
	large := &graph.Node{Node: r.node.Node, In: []graph.Edge{{Node: small}, r.node.In[1]}}
	large.Name, large.Device, large.Shapes = e.Unused(n.Name+"/repeated"), n.Device, []core.Shape{r.out}
	if err := e.Add(large); err != nil {
		return false, err
	}
	f.replace(n, []graph.Edge{{Node: large}}, []*graph.Node{large})
	return true, nil
}

// beforeNumbers reports whether n's inputs but k are single numbers, and its result has
// the type and the shape of input k.
func (r *repeat) beforeNumbers(n *graph.Node, k int) bool {
	if n.OutTypes[0] != n.InTypes[k] || r.from.Node.Device != n.Device || r.from.Type() != n.InTypes[k] {
		return false
	}
	for i, x := range n.In {
		s := x.Node.OutShape(x.Out)
		if i != k && (!s.Known() || s.NumElements() != 1 || len(s) > len(r.in) || len(s) > 0 && !r.isChecked(n, i)) {
			return false
		}
	}
	if before := shapeWith(n, k, r.out); before == nil || !before.Equal(r.out) {
		return false
	}
	after := shapeWith(n, k, r.in)
	return after != nil && after.Equal(r.in)
}

// isList reports whether n adds up a list, whose elements are not broadcast.
func isList(n *graph.Node) bool {
	_, list := n.Attrs["N"]
	return list && n.Def.Has(core.Adds)
}

// maxTerms is how many terms of a sum are added one by one.
const maxTerms = 4

// equalShapes reports whether all inputs of n are known to have one shape.
func equalShapes(n *graph.Node) bool {
	first := n.In[0].Node.OutShape(n.In[0].Out)
	return first.Known() && !slices.ContainsFunc(n.In, func(x graph.Edge) bool { return !x.Node.OutShape(x.Out).Equal(first) })
}

// addRepeated adds up a list of few terms one by one, in its order, as some are repeated.
// A list has to have one shape, which additions would not check.
func (e *editor) addRepeated(f *forwards, n *graph.Node) (bool, error) {
	repeats := func(x graph.Edge) bool { return repeatOf(x) != nil }
	full := slices.ContainsFunc(n.In, func(x graph.Edge) bool { return !repeats(x) })
	if len(n.In) < 2 || len(n.In) > maxTerms || !full || !slices.ContainsFunc(n.In, repeats) || e.roots[n] || e.Preserve[n.Name] || len(n.Control) > 0 || !equalShapes(n) {
		return false, nil
	}
	sum := n.In[0]
	for _, x := range n.In[1:] {
		s, err := e.AddNew(n.Name+"/sum", "AddV2", core.Attrs{"T": n.OutTypes[0]}, n.Device, sum, x)
		if err != nil {
			return false, err
		}
		s.CopyPos(&n.Node)
		s.Shapes = []core.Shape{n.OutShape(0)}
		if _, err := e.readRepeated(f, s); err != nil {
			return false, err
		}
		sum = graph.Edge{Node: s}
	}
	f.replace(n, []graph.Edge{sum}, []*graph.Node{sum.Node})
	return true, nil
}

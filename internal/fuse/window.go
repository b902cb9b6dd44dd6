package fuse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// Clusters read parts of a value, and write parts of one, where the whole is: the gates of
// a recurrent cell are columns of one product, and their gradients columns of one operand
// of two. What cuts the value, or joins the parts, is no node any more.
//
//	z ─▶ Split ─▶ z0, z1 ─▶ _Fused       becomes  z ─▶ _Fused: cut z0, cut z1, …
//	_Fused ─▶ y0, y1 ─▶ ConcatV2 ─▶ y    becomes  _Fused: …, paste y0, paste y1 ─▶ y
//
// A cut copies the elements of one block to a register, a paste copies those of a register
// to where they belong: both stay in the cache.

// A window is a part of a value: what lies between two places along an axis.
type window struct {
	axis, rank int
	at, n      int // along the axis
	dim        int // of the whole
	// others, if not nil, are the sizes that the whole must have along all axes for the window
	// to be all of it there; -1: any.
	others core.Shape
}

// A cut is an output of a node that splits a value, and what it is of it.
type cut struct {
	node   *graph.Node
	out    int
	whole  graph.Edge
	kernel core.Compute // of the node
	window
}

// A joint is a node that joins values that a cluster computes.
type joint struct {
	node    *graph.Node
	parts   []graph.Edge
	windows []window
	kernel  core.Compute // of the node
}

// windows are the parts that clusters read and write in place.
type windows struct {
	*levels
	kernel  func(*graph.Node) core.Kernel
	of      map[*graph.Node]int // the group of a node
	uses    [][]*graph.Node     // by node ID
	cuts    map[graph.Edge]*cut
	split   map[*graph.Node]bool // nodes that cuts stand for
	joins   map[int][]*joint     // by group
	touched map[*graph.Node]bool // nodes that read or give a window
}

// findWindows finds the nodes between groups that cut values, and join them.
func findWindows(l *levels, groups [][]*graph.Node, r *recomputation, kernel func(*graph.Node) core.Kernel) *windows {
	w := &windows{levels: l, kernel: kernel, of: map[*graph.Node]int{}, uses: r.uses, cuts: map[graph.Edge]*cut{}, split: map[*graph.Node]bool{}, joins: map[int][]*joint{}, touched: map[*graph.Node]bool{}}
	again := map[*graph.Node]bool{}
	for i, nodes := range groups {
		for _, n := range nodes {
			w.of[n] = i
		}
		for n := range r.again[i] {
			again[n] = true
		}
	}
	for _, n := range l.order {
		cuts := cutsOf(n)
		if len(cuts) > 0 && !r.waited[n.ID] && !again[cuts[0].whole.Node] && !w.split[cuts[0].whole.Node] && w.ofClusters(n) {
			w.open(n, cuts)
		}
		if j := jointOf(n); j != nil {
			w.join(j)
		}
	}
	return w
}

// ofClusters reports whether only nodes that can be in clusters read n, in its loop.
func (w *windows) ofClusters(n *graph.Node) bool {
	f := w.flow
	if len(w.uses[n.ID]) == 0 || f.Bad(n) {
		return false
	}
	for _, u := range w.uses[n.ID] {
		if _, ok := w.of[u]; !ok || f.Frame(u) != f.Frame(n) {
			return false
		}
	}
	return true
}

func (w *windows) open(n *graph.Node, cuts []cut) {
	kernel, ok := core.AsCompute(w.kernel(n))
	if !ok {
		return
	}
	w.split[n] = true
	for k := range cuts {
		cuts[k].out, cuts[k].kernel = k, kernel
		w.cuts[graph.Edge{Node: n, Out: k}] = &cuts[k]
	}
	for _, u := range w.uses[n.ID] {
		w.touched[u] = true
	}
}

// join has the group of the last of the parts write the whole, if it may wait for all that
// the whole needs.
func (w *windows) join(j *joint) {
	last := j.parts[0].Node
	for _, e := range j.parts {
		if _, ok := w.of[e.Node]; !ok {
			return
		}
		if w.levels.of[e.Node.ID] > w.levels.of[last.ID] {
			last = e.Node
		}
	}
	f, group := w.flow, w.of[last]
	for _, e := range j.parts {
		if w.of[e.Node] != group {
			return
		}
	}
	if !f.Together(j.node, last) {
		return
	}
	for _, c := range awaited(j.node) {
		if !w.before(c, group, w.levels.of[last.ID]) {
			return
		}
	}
	if kernel, ok := core.AsCompute(w.kernel(j.node)); ok {
		j.kernel, w.touched[last] = kernel, true
		w.joins[group] = append(w.joins[group], j)
	}
}

// before reports whether a group of a level may wait for a node: no path leads from the
// group to it, whatever else is joined.
func (w *windows) before(n *graph.Node, group, level int) bool {
	i, ok := w.of[n]
	if ok && i == group {
		return true
	}
	return w.levels.of[n.ID] < level || !ok && w.levels.of[n.ID] == level
}

// awaited returns what a node waits for without reading it, and what its constants wait for.
func awaited(n *graph.Node) []*graph.Node {
	all := slices.Clone(n.Control)
	for _, e := range n.In {
		if e.Node.Role() == core.Constant {
			all = append(all, e.Node.Control...)
		}
	}
	return all
}

// cutsOf returns what the outputs of n are of a value, if it cuts one along an axis that is
// not the first, in places that the graph says.
func cutsOf(n *graph.Node) []cut {
	switch n.OpName() {
	case "Split":
		return splitCuts(n, n.In[1], n.In[0])
	case "SplitV":
		if constInts(n.In[1]) != nil {
			return splitCuts(n, n.In[0], n.In[2])
		}
	case "Slice":
		if w, ok := sliceWindow(n); ok && !n.In[0].Type().IsRef() && n.In[0].Type().Size() > 0 {
			return []cut{{node: n, whole: n.In[0], window: w}}
		}
	case "StridedSlice":
		if w, ok := strideWindow(n); ok && !n.In[0].Type().IsRef() && n.In[0].Type().Size() > 0 {
			return []cut{{node: n, whole: n.In[0], window: w}}
		}
	}
	return nil
}

// strideWindow returns the window that a StridedSlice gives, if it takes each element
// between two indices that are not negative, of one axis.
func strideWindow(n *graph.Node) (w window, ok bool) {
	s := n.In[0].Node.OutShape(n.In[0].Out)
	begin, end, stride := constInts(n.In[1]), constInts(n.In[2]), constInts(n.In[3])
	if s == nil || len(begin) != len(s) || len(end) != len(s) || len(stride) != len(s) || masked(n) {
		return w, false
	}
	for i, d := range s {
		switch b, e := begin[i], min(end[i], d); {
		case d < 0 || stride[i] != 1 || b < 0 || e < b:
			return w, false
		case b == 0 && e == d:
		case ok || i == 0:
			return w, false
		default:
			w, ok = window{axis: i, rank: len(s), at: b, n: e - b, dim: d, others: s}, true
		}
	}
	return w, ok
}

// masked reports whether a StridedSlice takes its indices for something else.
func masked(n *graph.Node) bool {
	return slices.ContainsFunc([]string{"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}, func(m string) bool { return n.Int(m) != 0 })
}

// sliceWindow returns the window that a Slice gives, if all but one of its axes are whole.
func sliceWindow(n *graph.Node) (w window, ok bool) {
	s := n.In[0].Node.OutShape(n.In[0].Out)
	begin, size := constInts(n.In[1]), constInts(n.In[2])
	if s == nil || len(begin) != len(s) || len(size) != len(s) {
		return w, false
	}
	others := slices.Repeat(core.Shape{-1}, len(s))
	for i, d := range s {
		switch b, m := begin[i], size[i]; {
		case b == 0 && m == -1:
		case b == 0 && m == d:
			others[i] = d
		case ok || i == 0 || d < 0 || b < 0 || b > d || m < -1 || m > d-b:
			return w, false
		default:
			if m == -1 {
				m = d - b
			}
			w, ok = window{axis: i, rank: len(s), at: b, n: m, dim: d, others: others}, true
		}
	}
	return w, ok
}

// constInts returns the integers of a constant, nil if it is none.
func constInts(e graph.Edge) []int {
	t := e.Node.TensorAttr("value")
	if e.Node.Role() != core.Constant || t == nil || t.Rank() != 1 {
		return nil
	}
	v, err := t.Ints()
	if err != nil {
		return nil
	}
	return v
}

// splitCuts returns the parts of a value that the outputs of n follow each other as. Shapes
// of the outputs say how long the value is.
func splitCuts(n *graph.Node, whole, axis graph.Edge) []cut {
	at, ok := axisAt(axis, len(n.OutShape(0)))
	if !ok || at == 0 || whole.Type().IsRef() || whole.Type().Size() == 0 {
		return nil
	}
	w := window{axis: at, rank: len(n.OutShape(0))}
	cuts := make([]cut, len(n.OutTypes))
	for k := range cuts {
		s := n.OutShape(k)
		if len(s) != w.rank || s[at] < 0 {
			return nil
		}
		w.n = s[at]
		cuts[k] = cut{node: n, whole: whole, window: w}
		w.at += w.n
	}
	for k := range cuts {
		cuts[k].dim = w.at
	}
	return cuts
}

// windowAt returns the empty window at the beginning of a value, if it is known how long
// that is along an axis, which is not the first one.
func windowAt(whole, axis graph.Edge) (w window, ok bool) {
	s := whole.Node.OutShape(whole.Out)
	at, ok := axisAt(axis, len(s))
	if !ok || at == 0 || s[at] < 0 {
		return w, false
	}
	return window{axis: at, rank: len(s), dim: s[at]}, true
}

// axisAt returns an axis that is a constant.
func axisAt(axis graph.Edge, rank int) (int, bool) {
	t := axis.Node.TensorAttr("value")
	if axis.Node.Role() != core.Constant || t == nil || t.Len() != 1 {
		return 0, false
	}
	v, err := t.Ints()
	if err != nil {
		return 0, false
	}
	at := v[0]
	if at < 0 {
		at += rank
	}
	return at, at >= 0 && at < rank
}

// jointOf returns what n joins along an axis that is not the first; nil if it does not.
func jointOf(n *graph.Node) *joint {
	if n.OpName() != "ConcatV2" || len(n.In) < 3 || n.OutTypes[0].IsRef() || n.OutTypes[0].Size() == 0 {
		return nil
	}
	last := len(n.In) - 1
	w, ok := windowAt(graph.Edge{Node: n}, n.In[last])
	if !ok {
		return nil
	}
	j := &joint{node: n, parts: n.In[:last:last]}
	for _, e := range j.parts {
		s := e.Node.OutShape(e.Out)
		if len(s) != w.rank || s[w.axis] < 0 || e.Type().IsRef() {
			return nil
		}
		w.n = s[w.axis]
		j.windows = append(j.windows, w)
		w.at += w.n
	}
	if w.at != w.dim {
		return nil
	}
	return j
}

// part returns the shape of the window of a value.
func (w *window) part(whole core.Shape) (core.Shape, error) {
	if len(whole) != w.rank || whole[w.axis] != w.dim {
		return nil, errContradicts
	}
	for i, d := range w.others {
		if d >= 0 && d != whole[i] {
			return nil, errContradicts
		}
	}
	s := whole.Clone()
	s[w.axis] = w.n
	return s, nil
}

// whole returns the shape of the value of which the window is a part of a shape.
func (w *window) whole(part core.Shape) (core.Shape, error) {
	if len(part) != w.rank || part[w.axis] != w.n {
		return nil, errContradicts
	}
	s := part.Clone()
	s[w.axis] = w.dim
	return s, nil
}

// joinError says, as ConcatV2 does, in what part i differs from the first one.
func joinError(first, part core.Shape, i, axis int) error {
	for k := range first {
		if k != axis && first[k] != part[k] {
			return core.Errorf(core.InvalidArgument, "ConcatOp : Dimension %d in both shapes must be equal: shape[0] = %s vs. shape[%d] = %s", k, first.String(), i, part.String())
		}
	}
	return core.Errorf(core.Internal, "parts of shapes %v and %v must fit together", first, part)
}

// A move copies a window of a value to where it is a value by itself, or back: runs of
// elements, which are stride elements apart in the whole.
type move struct {
	run, stride, at int
	paste           bool
}

// moveOf returns the move of a window of a shape.
func (w *window) moveOf(part core.Shape, paste bool) *move {
	inner := part[w.axis+1:].NumElements()
	return &move{run: w.n * inner, stride: w.dim * inner, at: w.at * inner, paste: paste}
}

// move copies n rows of a step.
func (f *frame) move(s *step, n int) {
	m, x := s.move, &s.args[0]
	whole, part := f.memory[x.value], []byte(nil)
	if m.paste {
		whole, part = f.memory[s.value], f.along(x, n)
	} else {
		part = f.result(s, n)
	}
	i, j := f.from*s.per/m.run, f.from*s.per%m.run
	for ; len(part) > 0; i, j = i+1, 0 {
		from, size := (i*m.stride+m.at+j)*s.size, min((m.run-j)*s.size, len(part))
		if m.paste {
			copy(whole[from:from+size], part)
		} else {
			copy(part, whole[from:from+size])
		}
		part = part[size:]
	}
}

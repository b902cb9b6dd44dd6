package executor

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/tf/core"
)

// Nodes that are run in a fixed order may be run in any one that has each of them after
// its inputs. The order that they are sorted in goes breadth first: of the two products of
// a backward pass, that of the weights, after which the activations are needed no more, may
// stand behind the one that makes as much memory again. So a node that needs no more memory
// than it gives back goes first:
//
//	sorted    dX ← dY·Wᵀ   takes x    dW ← Xᵀ·dY   takes w, gives x back    most: 2x + w
//	thrifty   dW ← Xᵀ·dY   takes w, gives x back    dX ← dY·Wᵀ   takes x    most: x + w
//
// All others keep their order. What follows says nothing of nodes whose shapes are not known.

// maxOperands bounds the inputs of a node that may go first, and so what it costs to know.
const maxOperands = 256

// A schedule is an order that is being made.
type schedule struct {
	order   []*graph.Node
	uses    [][]*graph.Node
	waiting []int // by node ID: inputs that have not been computed
	done    []bool
	queued  []bool
	values  [][]value // by node ID and output
	thrifty []*graph.Node
	inPlace []*graph.Node // those left that read or change state, in order
}

// A value is what a node computes, with the memory under it.
type value struct {
	bytes   int64 // -1: not known; 0: not the step's, or too little to count
	from    graph.Edge
	view    bool // it is in the memory of from
	readers []*graph.Node
	left    int // readers that have not run
}

// thrifty returns the nodes of a sorted graph without loops in an order that needs less
// memory, or as they are.
func thrifty(g *graph.Graph, order []*graph.Node) ([]*graph.Node, error) {
	s := &schedule{order: order, uses: g.Uses(), waiting: make([]int, len(order)), done: make([]bool, len(order)), queued: make([]bool, len(order)), values: make([][]value, len(order))}
	for _, n := range order {
		if err := g.Budget.Visit(1); err != nil {
			return nil, err
		}
		if n.Role().DirectsFlow() {
			return order, nil
		}
		s.note(n)
		if keepsPlace(n) {
			s.inPlace = append(s.inPlace, n)
		}
	}
	out := s.run()
	if invariants.Enabled {
		assertOrder(order, out)
	}
	return out, nil
}

// note notes what a node waits for, reads and makes.
func (s *schedule) note(n *graph.Node) {
	s.waiting[n.ID] = len(n.In) + len(n.Control)
	s.values[n.ID] = make([]value, len(n.OutTypes))
	if isView(n) {
		s.values[n.ID][0] = value{from: n.In[0], view: true}
		return
	}
	for k := range n.OutTypes {
		s.values[n.ID][k].bytes = bytesOf(n, k)
	}
	for i, e := range n.In {
		if v := s.value(e); !s.readBefore(n, i, v) {
			v.readers, v.left = append(v.readers, n), v.left+1
		}
	}
}

func isView(n *graph.Node) bool {
	return n.Def.Has(core.View|core.Passthrough|core.Reshapes) && len(n.OutTypes) == 1 && len(n.In) > 0
}

// bytesOf returns the memory that output k of a node takes; -1 if that is not known.
func bytesOf(n *graph.Node, k int) int64 {
	if r := n.Role(); r == core.Constant || r == core.Argument || n.Def.Has(core.ReadsVariable) || n.OutTypes[k].IsRef() {
		return 0
	}
	shape, size := n.OutShape(k), int64(n.OutTypes[k].Size())
	if size == 0 {
		return 0
	}
	if !shape.Known() {
		return -1
	}
	return size * int64(shape.NumElements())
}

// value returns what is in the memory of an output.
func (s *schedule) value(e graph.Edge) *value {
	v := &s.values[e.Node.ID][e.Out]
	for v.view {
		v = &s.values[v.from.Node.ID][v.from.Out]
	}
	return v
}

// readBefore reports whether one of the inputs before i is in the memory of v, too.
func (s *schedule) readBefore(n *graph.Node, i int, v *value) bool {
	for _, e := range n.In[:i] {
		if s.value(e) == v {
			return true
		}
	}
	return false
}

// run puts the nodes in order. The first node that is left can always be run: all that it
// waits for stands before it.
func (s *schedule) run() []*graph.Node {
	out := make([]*graph.Node, 0, len(s.order))
	for _, n := range s.order {
		if s.waiting[n.ID] == 0 {
			s.consider(n)
		}
	}
	for next := 0; next < len(s.order); {
		n := s.order[next]
		if len(s.thrifty) > 0 {
			n, s.thrifty = s.thrifty[0], s.thrifty[1:]
		} else {
			next++
		}
		if !s.done[n.ID] {
			out = append(out, n)
			s.finish(n)
		}
	}
	return out
}

// finish notes that a node has run, and queues what goes first now.
func (s *schedule) finish(n *graph.Node) {
	s.done[n.ID] = true
	if !isView(n) {
		for i := range n.In {
			s.unread(n, i)
		}
	}
	for _, u := range s.uses[n.ID] {
		if s.waiting[u.ID]--; s.waiting[u.ID] == 0 {
			s.consider(u)
		}
	}
	if next := s.nextInPlace(); next != nil && s.waiting[next.ID] == 0 {
		s.consider(next)
	}
}

// unread counts a reader of input i of n. If one is left it may go first now.
func (s *schedule) unread(n *graph.Node, i int) {
	v := s.value(n.In[i])
	if s.readBefore(n, i, v) {
		return
	}
	if v.left--; v.left != 1 {
		return
	}
	for _, r := range v.readers {
		if !s.done[r.ID] && s.waiting[r.ID] == 0 {
			s.consider(r)
		}
	}
}

// consider queues a node that is ready if it needs no more memory than it gives back.
func (s *schedule) consider(n *graph.Node) {
	if s.queued[n.ID] || len(n.In) > maxOperands || !s.movable(n) {
		return
	}
	need := int64(0)
	for k := range s.values[n.ID] {
		v := &s.values[n.ID][k]
		if v.bytes < 0 {
			return
		}
		need += v.bytes
	}
	if need <= s.gives(n) {
		s.queued[n.ID] = true
		s.thrifty = append(s.thrifty, n)
	}
}

// gives returns the memory that is needed no more after a node.
func (s *schedule) gives(n *graph.Node) (bytes int64) {
	if isView(n) {
		return 0
	}
	for i := range n.In {
		v := s.value(n.In[i])
		if v.left == 1 && v.bytes > 0 && !s.readBefore(n, i, v) {
			bytes += v.bytes
		}
	}
	return bytes
}

// movable reports whether a node may be run before others that are ready. What reads or
// changes state keeps its order among its kind, see [keepsPlace]. Besides, an update of a
// variable had better wait for all that reads it before: it would have to copy what others
// still read.
func (s *schedule) movable(n *graph.Node) bool {
	if !keepsPlace(n) {
		return true
	}
	if s.nextInPlace() != n || n.Def.Has(core.ReadsVariable) {
		return false
	}
	for _, e := range n.In {
		if e.Type().Base() == core.Resource && slices.ContainsFunc(s.uses[e.Node.ID], func(u *graph.Node) bool { return u != n && s.readsStill(u) }) {
			return false
		}
	}
	return true
}

// assertOrder checks that out is order with each node after its inputs, and those that
// keep their place in the order that they had.
func assertOrder(order, out []*graph.Node) {
	ran := map[*graph.Node]bool{}
	for _, n := range out {
		for _, e := range n.In {
			invariants.Assert(ran[e.Node], "%s runs before its input %s", n.Name, e.Node.Name)
		}
		for _, c := range n.Control {
			invariants.Assert(ran[c], "%s runs before %s", n.Name, c.Name)
		}
		ran[n] = true
	}
	invariants.Assert(len(ran) == len(order) && len(out) == len(order), "%d nodes became %d", len(order), len(out))
	moves := func(n *graph.Node) bool { return !keepsPlace(n) }
	before, after := slices.DeleteFunc(slices.Clone(order), moves), slices.DeleteFunc(slices.Clone(out), moves)
	invariants.Assert(slices.Equal(before, after), "nodes with state changed their order")
}

// keepsPlace reports whether a node reads or changes state. Programs that do not say which
// of two such nodes comes first, as initial values that read other variables, have always
// had the order of the graph; and nodes do not tell which of them have the same state:
// several handles may point to it.
func keepsPlace(n *graph.Node) bool {
	return n.Def.Stateful && !n.Def.Has(core.HoldsVariable) || n.Def.Has(core.ReadsVariable|core.ReadsState) ||
		slices.ContainsFunc(n.In, func(e graph.Edge) bool { return e.Type().IsRef() })
}

// nextInPlace returns the first node that keeps its place and has not run, nil if none is left.
func (s *schedule) nextInPlace() *graph.Node {
	for len(s.inPlace) > 0 && s.done[s.inPlace[0].ID] {
		s.inPlace = s.inPlace[1:]
	}
	if len(s.inPlace) == 0 {
		return nil
	}
	return s.inPlace[0]
}

// readsStill reports whether a user of a variable has not run, or others need what it has
// read.
func (s *schedule) readsStill(u *graph.Node) bool {
	return !s.done[u.ID] || u.Def.Has(core.ReadsVariable) && s.values[u.ID][0].left > 0
}

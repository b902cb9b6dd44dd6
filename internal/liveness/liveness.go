// Package liveness finds which nodes of a graph are dead or alive together: what
// branches and loops decide, and what a node waits for.
package liveness

import (
	"cmp"
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Set says on what it depends whether a node runs, and what it waits for: branches
// that have to be taken, loops, values from elsewhere. It is a number; nodes of
// equal sets are dead or alive together, and wait for the same.
type Set int32

// maxSet bounds the size of a set. A node with a larger one gets one of its own.
const maxSet = 256

// A token is an element of sets: an output of a node whose being there says
// something, or a loop.
type token struct {
	node *graph.Node
	what int64 // a Switch's output where node is its predicate, see taken, or one of the following
}

// taken stands for output out of each Switch with so many outputs whose predicate is by. A
// Switch takes its last output for all numbers that are none of another one, so that out
// means something else where there are more of them.
func taken(by graph.Edge, outputs, out int) token {
	return token{by.Node, int64(by.Out)<<40 | int64(outputs^2)<<20 | int64(out)}
}

// either reports whether one of two tokens is there whenever their node is: they are the
// two outputs of Switches with two.
func either(x, y token) bool {
	return x.node == y.node && x.what >= 0 && x.what^y.what == 1 && max(x.what, y.what)<<24 == 1<<24
}

const (
	waits   = -1 - iota // node waits for something
	joins               // node is a Merge, or has too large a set
	within              // the loop whose first Enter is node
	beyond              // the end of that
	earlier             // each of these less earlier: the same in an iteration before
)

// Sets are those of the nodes of a graph.
type Sets struct {
	g      *graph.Graph
	frames *graph.Frames
	waits  func(*graph.Node) bool
	of     []Set // by node ID
	tokens map[token]int32
	byID   []token
	known  map[string]Set
	lists  [][]int32
	unions map[[2]Set]Set
	bad    []bool // by frame: its loop variables do not live and die together
}

// Find returns the sets of the nodes of g. order is what g.Sorted has returned; waits
// tells the nodes that may wait for what other nodes or other graphs do.
func Find(g *graph.Graph, order []*graph.Node, waits func(*graph.Node) bool) (*Sets, error) {
	frames, err := g.Frames(order)
	if err != nil {
		return nil, err
	}
	f := &Sets{g: g, frames: frames, waits: waits, of: make([]Set, len(order)), tokens: map[token]int32{}, known: map[string]Set{"": 0},
		lists: [][]int32{nil}, unions: map[[2]Set]Set{}, bad: make([]bool, len(frames.List))}
	for {
		if err := f.settle(order); err != nil {
			return nil, err
		}
		if !f.findBad(order) {
			return f, nil
		}
	}
}

// maxRounds bounds how often sets are found again: what a loop's variable waits for
// comes to it from the end of the loop's body, and to an inner loop from there.
const maxRounds = 10

// settle finds the sets of all nodes. Loops whose sets do not come to rest are bad.
func (f *Sets) settle(order []*graph.Node) error {
	for range maxRounds {
		changed, err := f.round(order)
		if err != nil || !changed || len(f.frames.List) == 1 {
			return err
		}
	}
	for i := range f.bad[1:] {
		f.bad[i+1] = true
	}
	_, err := f.round(order)
	return err
}

// round finds the set of each node from those of its inputs.
func (f *Sets) round(order []*graph.Node) (changed bool, err error) {
	for _, n := range order {
		if err := f.g.Budget.Visit(1); err != nil {
			return false, err
		}
		s := f.find(n)
		changed = changed || s != f.of[n.ID]
		f.of[n.ID] = s
	}
	return changed, nil
}

// find returns the set of n's outputs, but for those of a Switch, which edge has.
func (f *Sets) find(n *graph.Node) Set {
	switch n.Role() {
	case core.Merges:
		return f.merge(n)
	case core.NeverDies:
		return f.union(f.keep(f.inputs(n), token.onlyWaits), f.one(token{n, waits}), n)
	case core.Enters:
		return f.union(f.inputs(n), f.one(token{f.entry(f.frames.Out[n.ID]), within}), n)
	case core.Exits:
		return f.exit(n)
	case core.Continues:
		return f.condition(n)
	case core.Receives:
		return f.union(f.inputs(n), f.one(token{n, waits}), n)
	}
	s := f.inputs(n)
	if f.waits(n) {
		s = f.union(s, f.one(token{n, waits}), n)
	}
	return s
}

// exit returns the set of what leaves a loop: it is there once the loop has ended,
// whatever branches that has taken.
func (f *Sets) exit(n *graph.Node) Set {
	frame := f.frames.Of[n.ID]
	if f.bad[frame] {
		return f.one(token{n, joins})
	}
	s := f.keep(f.inputs(n), func(t token) bool { return t.what < 0 || f.frames.Of[t.node.ID] != frame })
	return f.union(s, f.one(token{f.entry(frame), beyond}), n)
}

// condition returns the set of a loop's condition. It is there in each iteration, even
// if it comes from another device.
func (f *Sets) condition(n *graph.Node) Set {
	s := f.inputs(n)
	alive := f.keep(s, func(t token) bool { return t.what != waits || t.node.Role() != core.Receives })
	if alive == s {
		return s
	}
	return f.union(alive, f.one(token{n, waits}), n)
}

// variable returns the set of a loop's variable: it lives as what enters the loop does,
// see findBad, and waits for what the iteration before waits for, too.
func (f *Sets) variable(n *graph.Node) Set {
	enter, next := n.In[0], n.In[1]
	if enter.Node.Role() == core.Repeats {
		enter, next = next, enter
	}
	if enter.Node.Role() != core.Enters || next.Node.Role() != core.Repeats {
		return f.one(token{n, joins})
	}
	return f.union(f.edge(enter), f.before(f.edge(next), n), n)
}

// before returns what of a set only waits, as the next iteration has it: a node that waits
// for something in its own iteration is not there when one that waited for it in the one
// before is.
func (f *Sets) before(s Set, n *graph.Node) (out Set) {
	for _, i := range f.lists[f.keep(s, token.onlyWaits)] {
		t := f.byID[i]
		if t.what > earlier {
			t.what += earlier
		}
		out = f.union(out, f.one(t), n)
	}
	return out
}

// onlyWaits reports whether t says nothing of whether a node lives.
func (t token) onlyWaits() bool {
	return t.what == within || t.what == beyond || t.what < earlier || t.what == waits && t.node.Role() != core.Receives
}

// keep returns a set of some of the elements of another one.
func (f *Sets) keep(s Set, wanted func(token) bool) Set {
	list := f.lists[s]
	if !slices.ContainsFunc(list, func(id int32) bool { return !wanted(f.byID[id]) }) {
		return s
	}
	return f.intern(slices.DeleteFunc(slices.Clone(list), func(id int32) bool { return !wanted(f.byID[id]) }))
}

// merge returns the set of a Merge. Of the two branches of a condition one is always
// taken, so that the set is what they have in common.
func (f *Sets) merge(n *graph.Node) Set {
	if len(n.In) != 2 || len(n.Control) > 0 {
		return f.one(token{n, joins})
	}
	if n.In[0].Node.Role() == core.Repeats || n.In[1].Node.Role() == core.Repeats {
		return f.variable(n)
	}
	a, b := f.lists[f.edge(n.In[0])], f.lists[f.edge(n.In[1])]
	common := slices.DeleteFunc(slices.Clone(a), func(id int32) bool { return !slices.Contains(b, id) })
	if len(a) != len(b) || len(common) != len(a)-1 {
		return f.one(token{n, joins})
	}
	x, y := f.byID[rest(a, common)], f.byID[rest(b, common)]
	if !either(x, y) {
		return f.one(token{n, joins})
	}
	return f.intern(common)
}

// rest returns what a list has beside what it has in common with another one.
func rest(list, common []int32) int32 {
	i := slices.IndexFunc(list, func(id int32) bool { return !slices.Contains(common, id) })
	return list[i]
}

// entry returns the Enter that stands for a loop: one of a loop variable.
func (f *Sets) entry(frame int) *graph.Node {
	enters := f.frames.List[frame].Enters
	for _, n := range enters {
		if !n.Bool("is_constant") {
			return n
		}
	}
	return enters[0]
}

// inputs joins the sets of all inputs of n.
func (f *Sets) inputs(n *graph.Node) (s Set) {
	for _, e := range n.In {
		s = f.union(s, f.edge(e), n)
	}
	for _, c := range n.Control {
		s = f.union(s, f.of[c.ID], n)
	}
	return s
}

// edge returns the set of an output. What a Switch hands on depends on its predicate,
// also if the Switch itself waits for so much that its set has no room for that.
func (f *Sets) edge(e graph.Edge) Set {
	n, s := e.Node, f.of[e.Node.ID]
	if n.Role() != core.Switches || len(n.In) < 2 {
		return s
	}
	if len(f.lists[s]) >= maxSet {
		s = f.one(token{n, joins})
	}
	return f.union(s, f.one(taken(n.In[len(n.In)-1], len(n.OutTypes), e.Out)), n)
}

// findBad finds the loops that sets say nothing of: whose variables enter only if others
// do not, or do not go on when others do. It reports whether there is one more.
func (f *Sets) findBad(order []*graph.Node) (found bool) {
	note := func(frame int, bad bool) {
		found = found || bad && !f.bad[frame]
		f.bad[frame] = f.bad[frame] || bad
	}
	for i := range f.frames.List[1:] {
		life := f.life(f.entry(i + 1))
		for _, n := range f.frames.List[i+1].Enters {
			note(i+1, !n.Bool("is_constant") && f.life(n) != life)
		}
	}
	for _, n := range order {
		if n.Role() == core.Repeats {
			note(f.frames.Of[n.ID], !f.goesOn(n))
		}
	}
	return found
}

// life returns the part of an Enter's set that says whether it lives.
func (f *Sets) life(n *graph.Node) Set {
	return f.keep(f.of[n.ID], func(t token) bool { return !t.onlyWaits() })
}

// goesOn reports whether a NextIteration lives whenever the loop goes on: its set may
// have, beside what a Switch of the loop gives, nodes that wait and inner loops, but no
// branches.
func (f *Sets) goesOn(n *graph.Node) bool {
	entered := f.lists[f.of[f.entry(f.frames.Of[n.ID]).ID]]
	return !slices.ContainsFunc(f.lists[f.of[n.ID]], func(id int32) bool {
		t := f.byID[id]
		goes := t.node.Role() == core.Continues && t.what == 1
		return !goes && !t.onlyWaits() && !slices.Contains(entered, id)
	})
}

// one returns the set of one token.
func (f *Sets) one(t token) Set {
	id, ok := f.tokens[t]
	if !ok {
		id = int32(len(f.tokens))
		f.tokens[t] = id
		f.byID = append(f.byID, t)
	}
	return f.intern([]int32{id})
}

// intern returns the set of a sorted list.
func (f *Sets) intern(list []int32) Set {
	key := make([]byte, 0, 4*len(list))
	for _, id := range list {
		key = append(key, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
	}
	s, ok := f.known[string(key)]
	if !ok {
		s = Set(len(f.lists))
		f.lists, f.known[string(key)] = append(f.lists, list), s
	}
	return s
}

// union joins two sets, for node n.
func (f *Sets) union(a, b Set, n *graph.Node) Set {
	if a == b || b == 0 {
		return a
	}
	if a == 0 {
		return b
	}
	pair := [2]Set{min(a, b), max(a, b)}
	if s, ok := f.unions[pair]; ok {
		return s
	}
	list := merged(f.lists[a], f.lists[b])
	if len(list) > maxSet {
		return f.one(token{n, joins})
	}
	s := f.intern(list)
	f.unions[pair] = s
	return s
}

// merged joins two sorted lists.
func merged(a, b []int32) []int32 {
	out := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch cmp.Compare(a[0], b[0]) {
		case -1:
			out, a = append(out, a[0]), a[1:]
		case 1:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// Of returns the set of a node's outputs, but for those of a Switch.
func (f *Sets) Of(n *graph.Node) Set { return f.of[n.ID] }

// Frame returns the loop that a node runs in, 0 outside of all loops.
func (f *Sets) Frame(n *graph.Node) int { return f.frames.Of[n.ID] }

// Bad reports whether nothing is known of the loop that n runs in.
func (f *Sets) Bad(n *graph.Node) bool { return f.bad[f.frames.Of[n.ID]] }

// Together reports whether two nodes run in the same loop, in which they are dead or
// alive together, and wait for the same.
func (f *Sets) Together(a, b *graph.Node) bool {
	return f.frames.Of[a.ID] == f.frames.Of[b.ID] && f.of[a.ID] == f.of[b.ID] && !f.Bad(a)
}

// Implies reports whether a, which runs in the same loop, is alive whenever b is, and
// waits for nothing that b does not wait for.
func (f *Sets) Implies(b, a *graph.Node) bool {
	return f.frames.Of[a.ID] == f.frames.Of[b.ID] && !f.Bad(a) && subset(f.lists[f.of[a.ID]], f.lists[f.of[b.ID]])
}

// Gives reports whether output e, read in the loop that b runs in, is there whenever b runs: it
// is alive, and waits for nothing that b does not wait for.
func (f *Sets) Gives(b *graph.Node, e graph.Edge) bool {
	return f.frames.Out[e.Node.ID] == f.frames.Of[b.ID] && !f.Bad(b) && subset(f.lists[f.edge(e)], f.lists[f.of[b.ID]])
}

// LivesWith reports whether output e, read in the loop that b runs in, is alive whenever b is.
func (f *Sets) LivesWith(b *graph.Node, e graph.Edge) bool {
	life := f.keep(f.edge(e), func(t token) bool { return !t.onlyWaits() })
	return f.frames.Out[e.Node.ID] == f.frames.Of[b.ID] && !f.Bad(b) && subset(f.lists[life], f.lists[f.of[b.ID]])
}

// OnlyWaitsMore reports whether b, which runs in the same loop, is dead or alive together
// with a, and waits for all that a waits for, perhaps for more: what a client feeds is never dead.
func (f *Sets) OnlyWaitsMore(b, a *graph.Node) bool {
	if !f.Implies(b, a) {
		return false
	}
	of := f.lists[f.of[a.ID]]
	return !slices.ContainsFunc(f.lists[f.of[b.ID]], func(id int32) bool {
		_, known := slices.BinarySearch(of, id)
		t := f.byID[id]
		return !known && !t.onlyWaits() && !(t.what == waits && t.node.Bool("client_terminated"))
	})
}

// subset reports whether all elements of a sorted list are in another one.
func subset(list, of []int32) bool {
	for _, x := range list {
		i, ok := slices.BinarySearch(of, x)
		if !ok {
			return false
		}
		of = of[i+1:]
	}
	return true
}

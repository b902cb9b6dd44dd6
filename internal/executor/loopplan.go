package executor

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// loopPlan is a loop whose nodes run in a fixed order: nothing in it waits, is
// run apart (see light), or is skipped but for the whole body in the end. Then nothing has
// to be counted, and what only passes values on (Merge, Switch, Identity,
// NextIteration) costs nothing: its readers are given the slot of the value.
type loopPlan struct {
	once                 []planned  // constants, before the first iteration
	cond                 []planned  // what decides, and whatever else runs in each iteration
	body                 []planned  // what runs if the loop goes on
	condAgain, bodyAgain []planned  // the same without what is settled, for all iterations but the first
	pred                 int32      // slot of what decides
	decides              planned    // a Switch, for its message if the decision is no scalar
	idle                 []int32    // slots that the condition filled and the body does not read
	entered              [][2]int32 // slots of Enter and Merge
	carried              []carry    // values that have no other reader after an iteration
	shared               []carry    // other ones, which go by spare slots
	spent                []int32    // where these come from, if not from another variable
	exits                []planned  // with the slot that each reads
	enters               []int32    // Enter nodes that lead into the loop
	heavy                []int32    // nodes that are run apart if they take long, and then there is no plan
}

// planned is a node of a plan.
type planned struct {
	item int32
	in   []int32 // slot that each input really comes from
	last []bool  // by input: this is its last reader
	drop []int32 // slots that are not read after it

	settled bool // it gives the same in all iterations
}

// carry says which slot's value another one has in the next iteration.
type carry struct {
	from, to int32
	way      int32 // spare slot, if other variables may need what from and to hold
}

// part says when a node of a loop runs.
type part uint8

const (
	always part = iota // in each iteration, the last one too
	inside             // if the loop goes on
	beyond             // if it ends
)

// light reports whether none of a plan's nodes is known to take so long that it
// should run apart, or is yet to show how long it takes.
func (e *Executor) light(p *loopPlan) bool {
	for _, i := range p.heavy {
		if t := e.items[i].time.Load(); t == 0 || t >= int64(e.short) {
			return false
		}
	}
	return true
}

// loopPlanner looks for the plan of one frame.
type loopPlanner struct {
	*builder
	l      *layout
	plan   *loopPlan
	parts  map[int32]part  // by item
	slot   map[int32]int32 // by slot: where its value really is
	kept   map[int32]bool  // slots whose values all iterations share
	merges map[int32]bool  // slots of loop variables
	pivot  *graph.Node     // LoopCond
	from   map[int32]int32 // by slot of a loop variable: slot of its next value
}

// planLoops finds the frames that have a plan.
func (b *builder) planLoops() {
	enters := make([][]int32, len(b.frames))
	for i := range b.items {
		if it := &b.items[i]; it.kind == enter {
			enters[it.target] = append(enters[it.target], int32(i))
		}
	}
	for f := 1; f < len(b.frames); f++ {
		p := loopPlanner{builder: b, l: &b.frames[f], plan: &loopPlan{enters: enters[f]}, parts: map[int32]part{},
			slot: map[int32]int32{}, kept: map[int32]bool{}, merges: map[int32]bool{}, from: map[int32]int32{}}
		if p.enter() && p.sort() && !p.comesBack() {
			p.settle()
			p.finish()
			b.frames[f].plan = p.plan
		}
	}
}

// enter looks at what comes into the loop: constants, and first values of loop
// variables, which only their Merge may read.
func (p *loopPlanner) enter() bool {
	for _, i := range p.plan.enters {
		it := &p.items[i]
		if it.constant {
			p.kept[it.out] = true
			continue
		}
		for _, w := range it.wakes {
			if w.out == control || p.items[w.to].kind != merge {
				return false
			}
		}
	}
	return true
}

// sort says of each node when it runs, and reports whether all nodes are of
// the kinds that a plan can have.
func (p *loopPlanner) sort() bool {
	for _, i := range p.l.items {
		if !p.take(i) {
			return false
		}
	}
	return p.pivot != nil && len(p.merges) > 0 && p.decided()
}

// take says when node i runs, and notes what it has to do then.
func (p *loopPlanner) take(i int32) bool {
	it, n := &p.items[i], p.order[i]
	if it.async != nil {
		return false
	}
	if it.heavy {
		p.plan.heavy = append(p.plan.heavy, i)
	}
	if it.kind == merge {
		return p.merge(it, n)
	}
	at, ok := p.when(n)
	if !ok {
		return false
	}
	p.parts[i] = at
	switch it.kind {
	case switching:
		return at == always && p.choose(it, n)
	case exit:
		p.plan.exits = append(p.plan.exits, planned{item: i, in: p.sources(it)})
		return at == beyond
	case next:
		return at == inside
	case ordinary, trigger:
		return at != beyond && p.run(i, at)
	}
	return false
}

// when is the part that all inputs of n allow.
func (p *loopPlanner) when(n *graph.Node) (at part, ok bool) {
	for _, e := range n.In {
		q := p.partOf(e)
		if at != always && q != always && q != at {
			return 0, false // both at once: never
		}
		at = max(at, q)
	}
	for _, c := range n.Control {
		q := p.parts[p.place[c.ID]]
		if q == beyond || at == beyond && q == inside {
			return 0, false
		}
		at = max(at, q)
	}
	return at, true
}

// partOf says when an output is there.
func (p *loopPlanner) partOf(e graph.Edge) part {
	i := p.place[e.Node.ID]
	if it := &p.items[i]; it.kind == switching {
		return beyond - part(e.Out)
	}
	return p.parts[i]
}

// merge takes up a loop variable: what was entered, or comes from the
// iteration before.
func (p *loopPlanner) merge(it *item, n *graph.Node) bool {
	if len(n.In) != 2 || len(n.Control) > 0 || n.OutTypes[0].IsRef() || p.l.readers[it.out+1] > 0 {
		return false
	}
	first, again := p.item(n.In[0].Node), p.item(n.In[1].Node)
	k := 1
	if first.kind == next {
		first, again, k = again, first, 0
	}
	if first.kind != enter || again.kind != next || p.kept[first.out] || len(first.wakes) != 1 {
		return false
	}
	p.merges[it.out] = true
	p.from[it.out] = again.in[0]
	p.plan.entered = append(p.plan.entered, [2]int32{it.in[1-k], it.out})
	return true
}

// choose takes up a Switch: both its outputs are what it reads.
func (p *loopPlanner) choose(it *item, n *graph.Node) bool {
	if !n.Chooses() || it.deref != nil || it.refs || n.In[1].Node.Role() != core.Continues {
		return false
	}
	if p.pivot == nil {
		p.pivot = n.In[1].Node
	}
	in := p.sources(it)
	p.slot[it.out], p.slot[it.out+1] = in[0], in[0]
	p.plan.pred, p.plan.decides = in[1], planned{item: p.place[n.ID], in: in}
	return n.In[1].Node == p.pivot
}

// run takes up a node that computes something, or passes its input on.
func (p *loopPlanner) run(i int32, at part) bool {
	it, n := &p.items[i], p.order[i]
	st := planned{item: i, in: p.sources(it)}
	switch {
	case passes(it, n):
		p.slot[it.out] = st.in[0]
	case n.Role() == core.Constant:
		p.kept[it.out] = true
		p.plan.once = append(p.plan.once, st)
	case at == always:
		p.plan.cond = append(p.plan.cond, st)
	default:
		p.plan.body = append(p.plan.body, st)
	}
	return true
}

// passes reports whether a node's output is its input.
func passes(it *item, n *graph.Node) bool {
	return (n.Def.Has(core.Passthrough) || n.Role() == core.Continues) && it.deref == nil && !it.refs
}

// decided reports whether there is one decision, made in each iteration.
func (p *loopPlanner) decided() bool {
	return p.parts[p.place[p.pivot.ID]] == always
}

// sources are the slots where the inputs of it really are.
func (p *loopPlanner) sources(it *item) []int32 {
	in := make([]int32, len(it.in))
	for k, s := range it.in {
		in[k] = p.source(s)
	}
	return in
}

func (p *loopPlanner) source(s int32) int32 {
	if t, ok := p.slot[s]; ok {
		return t
	}
	return s
}

// comesBack reports whether something that comes into the loop depends on what
// leaves it: then not all of it can be awaited. Items are in an order in which
// each follows what it depends on, so that nothing behind the last Enter matters.
func (p *loopPlanner) comesBack() bool {
	latest, seen := slices.Max(p.plan.enters), map[int32]bool{}
	var todo []int32 // graphs are deeper than stacks
	for _, e := range p.plan.exits {
		todo = append(todo, e.item)
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		it := &p.items[i]
		if seen[i] || i > latest || it.kind == next {
			continue
		}
		seen[i] = true
		if it.kind == enter && &p.frames[it.target] == p.l {
			return true
		}
		for _, w := range it.wakes {
			todo = append(todo, w.to)
		}
	}
	return false
}

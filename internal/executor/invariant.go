package executor

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// What a loop computes from its constants is the same in all iterations. A plan has it
// computed in the first one only, where the body says, so that a loop that never runs its
// body computes none of it, and what fails does so where it would have failed before.

// settle finds the nodes of a plan that give the same in each iteration. Their values
// are kept.
func (p *loopPlanner) settle() {
	for to, from := range p.from {
		if p.source(from) == to {
			p.kept[to] = true // a variable that no iteration changes
		}
	}
	for _, list := range [][]planned{p.plan.cond, p.plan.body} {
		for k := range list {
			if st := &list[k]; p.settles(st) {
				st.settled = true
				it := &p.items[st.item]
				for o := range it.node.OutTypes {
					p.kept[it.out+int32(o)] = true
				}
			}
		}
	}
}

// settles reports whether a node does nothing but compute, and from nothing but what is
// kept.
func (p *loopPlanner) settles(st *planned) bool {
	it := &p.items[st.item]
	n := it.node
	if n.Def.Stateful || it.refs || it.deref != nil || len(st.in) == 0 || len(n.OutTypes) == 0 {
		return false
	}
	object := func(d core.DType) bool { return d == core.Resource || d == core.Variant || d.IsRef() }
	if slices.ContainsFunc(n.InTypes, object) || slices.ContainsFunc(n.OutTypes, object) {
		return false
	}
	return !slices.ContainsFunc(st.in, func(s int32) bool { return !p.kept[s] })
}

// unsettled returns the nodes of a list that are run in each iteration.
func unsettled(list []planned) []planned {
	return slices.DeleteFunc(slices.Clone(list), func(st planned) bool { return st.settled })
}

// lists returns the nodes to run in an iteration: what decides whether the loop goes on,
// and the body.
func (p *loopPlan) lists(iteration int64) (cond, body []planned) {
	if iteration == 0 {
		return p.cond, p.body
	}
	return p.condAgain, p.bodyAgain
}

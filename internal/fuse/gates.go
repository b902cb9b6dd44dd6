package fuse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// The gradients of one operation wait for each other, so that no variable changes while
// another gradient is computed from it: each goes through an Identity that waits for a
// group of all of them. In backward passes that is nearly every edge. Where others of a group
// are not needed the Identity waits for what those would have been computed from.
//
//	dx ─▶ Identity ─▶ user        dx ─────▶ user
//	dx, dy ┄▶ group ┄▶ Identity   becomes   dy ┄▶ user

// maxGate bounds the gradients of a group whose users are made to wait for them.
const maxGate = 8

// openGates lets the users of such an Identity read the gradient itself, if that can be in
// a cluster, and wait for the group's others. What follows from a user waits as before.
func openGates(g *graph.Graph, kernel func(*graph.Node) core.Kernel) error {
	if !slices.ContainsFunc(g.Nodes, func(n *graph.Node) bool { return heldFor(n) != nil }) {
		return nil
	}
	order, err := g.Sorted()
	if err != nil {
		return err
	}
	uses, open, groups := g.Uses(), map[*graph.Node]bool{}, map[*graph.Node]bool{}
	for _, n := range order {
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		others := heldFor(n)
		if others == nil || len(uses[n.ID]) == 0 || memberOf(n.In[0].Node, kernel) == nil || slices.ContainsFunc(uses[n.ID], merges) {
			continue
		}
		for _, u := range uses[n.ID] {
			openGate(u, n, others)
		}
		if open[n] = true; gateOf(n) != nil {
			groups[gateOf(n)] = true
		}
	}
	dropGates(g, open, groups)
	return nil
}

// merges reports whether n takes what comes first: one that waits for others says
// nothing of when its value is there.
func merges(n *graph.Node) bool { return n.Role() == core.Merges }

// gateOf returns the group that n holds its value back for, nil if it is no gate.
func gateOf(n *graph.Node) *graph.Node {
	if !n.Def.Has(core.Passthrough) || hasRef(n) || len(n.Control) != 1 {
		return nil
	}
	group := n.Control[0]
	if !onlyWaits(group) || len(group.Control) > maxGate || !slices.Contains(group.Control, n.In[0].Node) {
		return nil
	}
	return group
}

// heldFor returns what n holds its value back for, nil if it is no gate.
func heldFor(n *graph.Node) []*graph.Node {
	if group := gateOf(n); group != nil {
		return group.Control
	}
	if !n.Def.Has(core.Passthrough) || hasRef(n) || len(n.Control) == 0 || len(n.Control) > maxGate || n.In[0].Node.Role().DirectsFlow() {
		return nil
	}
	return n.Control
}

// openGate makes user u of a gate read what lies behind it.
func openGate(u, gate *graph.Node, others []*graph.Node) {
	for k, e := range u.In {
		if e.Node == gate {
			u.In[k] = gate.In[0]
		}
	}
	if i := slices.Index(u.Control, gate); i >= 0 {
		u.Control = slices.Delete(u.Control, i, i+1)
		others = append(slices.Clone(others), gate.In[0].Node) // u may not read it: it waits for the value all the same
	}
	for _, p := range others {
		if !slices.ContainsFunc(u.In, func(e graph.Edge) bool { return e.Node == p }) {
			u.AddControl(p)
		}
	}
}

// dropGates removes gates that are open, and groups that nothing waits for any more.
func dropGates(g *graph.Graph, open, groups map[*graph.Node]bool) {
	for _, n := range g.Nodes {
		if open[n] {
			continue
		}
		for _, c := range n.Control {
			delete(groups, c)
		}
	}
	g.Keep(func(n *graph.Node) bool { return !open[n] && !groups[n] })
}

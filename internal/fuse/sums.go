package fuse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf/core"
)

// A variable that a network uses again and again, as the cell of one that is unrolled, has
// as many gradients, which one node adds up. To keep all of them takes as much memory as
// they have, and reads it once more. So they are added one after the other, each where its
// product is computed (product.go):
//
//	p₁, p₂, p₃, p₄ ─▶ AddN      becomes      p₁ + p₂ = s;  s += p₃;  s += p₄
//
// The bits are the same: AddN adds in the order of its inputs. That has to be the order in
// which they can be computed, too, so that none waits for another one. Nothing waits for
// a sum that has not waited for AddN before.

// leastProducts is how many products of a sum are worth it.
const leastProducts = 3

// splitSums puts additions in the place of such nodes.
func splitSums(g *graph.Graph) error {
	if !slices.ContainsFunc(g.Nodes, isSum) {
		return nil
	}
	order, err := g.Sorted()
	if err != nil {
		return err
	}
	uses, place, by := g.Uses(), make([]int, len(order)), map[*graph.Node]*graph.Node{}
	open, groups := map[*graph.Node]bool{}, map[*graph.Node]bool{}
	for i, n := range order {
		place[n.ID] = i
	}
	for _, n := range order {
		terms := termsOf(n, uses)
		if terms == nil || !slices.IsSortedFunc(terms, func(a, b term) int { return place[a.product.Node.ID] - place[b.product.Node.ID] }) {
			continue
		}
		sum, err := addUp(g, n, terms)
		if err != nil {
			return err
		}
		by[n] = sum
		for _, t := range terms {
			if t.group != nil {
				open[t.gate], groups[t.group] = true, true
			}
		}
	}
	if len(by) > 0 {
		putSums(g, by)
		dropGates(g, open, groups)
	}
	return nil
}

// putSums puts sums in the place of the nodes that they stand for.
func putSums(g *graph.Graph, by map[*graph.Node]*graph.Node) {
	for _, n := range g.Nodes {
		useProducts(n, by)
	}
	g.Keep(func(n *graph.Node) bool { return by[n] == nil })
}

// isSum reports whether n may be such a node.
func isSum(n *graph.Node) bool {
	return n.Def.Has(core.Adds) && len(n.In) >= leastProducts && (n.OutTypes[0] == core.Float32 || n.OutTypes[0] == core.Float64)
}

// A term is a product that is added, which may be held back for others.
type term struct {
	product graph.Edge
	gate    *graph.Node   // what holds it back, which nothing else reads; nil: nothing
	group   *graph.Node   // of gradients of one operation, the product among them; nil: none
	others  []*graph.Node // of the group, which the sum waits for
}

// termsOf returns the products that n adds up, nil if it does not, or they had better be
// added all at once.
func termsOf(n *graph.Node, uses [][]*graph.Node) []term {
	if !isSum(n) {
		return nil
	}
	terms := make([]term, 0, len(n.In))
	for _, e := range n.In {
		t, ok := termOf(n, e, uses)
		if !ok || !addsSums(t.product.Node) {
			return nil
		}
		terms = append(terms, t)
	}
	return terms
}

// termOf returns the product that n reads, by itself or through a gate (gates.go).
func termOf(n *graph.Node, e graph.Edge, uses [][]*graph.Node) (t term, ok bool) {
	if len(uses[e.Node.ID]) != 1 {
		return t, false
	}
	if !e.Node.Def.Has(core.Passthrough) {
		return term{product: e}, e.Node.Def.Has(core.MatrixProduct)
	}
	group := gateOf(e.Node)
	if group == nil {
		return t, false
	}
	m := e.Node.In[0].Node
	ok = m.Def.Has(core.MatrixProduct) && len(uses[m.ID]) == 2 && slices.Contains(uses[m.ID], group) && !slices.ContainsFunc(m.In, func(x graph.Edge) bool { return x.Type().IsRef() })
	return term{e.Node.In[0], e.Node, group, slices.DeleteFunc(slices.Clone(group.Control), func(c *graph.Node) bool { return c == m })}, ok
}

// leaveGroup takes a product that is added from the group that waits for it: what it is
// computed from are values, which no update changes. The last one of a group stays: a group
// that waits for nothing is in no loop.
func leaveGroup(t term) {
	if t.group != nil && len(t.group.Control) > 1 {
		t.group.Control = slices.DeleteFunc(t.group.Control, func(c *graph.Node) bool { return c == t.product.Node })
	}
}

// addsSums reports whether a product of known shape can be added to a sum as it is computed.
func addsSums(n *graph.Node) bool {
	s, a := n.OutShape(0), n.In[0].Node.OutShape(n.In[0].Out)
	if len(s) != 2 || !s.Known() || len(a) != 2 || !a.Known() {
		return false
	}
	k := a[1]
	if n.Bool("transpose_a") {
		k = a[0]
	}
	d := gemm.NewGemm(s[0], s[1], k, n.Bool("transpose_a"), n.Bool("transpose_b"))
	if n.OutTypes[0] == core.Float64 {
		return gemm.AddsSums[float64](d)
	}
	return gemm.AddsSums[float32](d)
}

// addUp adds the nodes that add terms one after the other, and returns the last one.
func addUp(g *graph.Graph, n *graph.Node, terms []term) (sum *graph.Node, err error) {
	for _, t := range terms {
		leaveGroup(t)
	}
	added := func(n *graph.Node) bool {
		return slices.ContainsFunc(terms, func(t term) bool { return t.product.Node == n })
	}
	for i := range terms { // the last sum waits for all products
		terms[i].others = slices.DeleteFunc(terms[i].others, added)
	}
	all := terms[0].product
	for _, t := range terms[1:] {
		sum, err = g.AddNew(n.Name+"/sum", "AddV2", core.Attrs{"T": n.OutTypes[0]}, n.Device, all, t.product)
		if err != nil {
			return nil, err
		}
		sum.Shapes = n.Shapes
		sum.CopyPos(&n.Node)
		sum.AddControls(t.others...)
		all = graph.Edge{Node: sum}
	}
	sum.AddControls(terms[0].others...)
	sum.AddControls(n.Control...)
	return sum, nil
}

package graph

import "slices"

// past is what a graph's nodes read before they were made to read past those that only
// hand on values: a step that feeds such a value has them read it again.
type past struct {
	hands map[*Node]bool   // nodes that hand on
	in    map[*Node][]Edge // inputs of nodes that read past them
}

// ReadPast makes nodes read what the nodes in hands, each of which hands on input k as
// output k, hand on.
func (g *Graph) ReadPast(hands map[*Node]bool) {
	p := &past{hands: hands, in: map[*Node][]Edge{}}
	for _, n := range g.Nodes {
		var in []Edge
		for k, x := range n.In {
			for hands[x.Node] {
				x = p.input(x)
			}
			if x != n.In[k] {
				if in == nil {
					in = slices.Clone(n.In)
				}
				in[k] = x
			}
		}
		if in != nil {
			p.in[n], n.In = n.In, in
		}
	}
	if len(p.in) > 0 {
		g.past = p
	}
}

// input returns what a node that hands on takes x from.
func (p *past) input(x Edge) Edge {
	if in := p.in[x.Node]; in != nil {
		return in[x.Out]
	}
	return x.Node.In[x.Out]
}

// Forget drops what nodes read in the past: nothing is going to be fed.
func (g *Graph) Forget() { g.past = nil }

// ReadsOfFed returns the inputs of the nodes that read past what is fed, as they are if
// they read it.
func (g *Graph) ReadsOfFed(fed map[Edge]bool) map[*Node][]Edge {
	if g.past == nil || !g.past.handsOn(fed) {
		return nil
	}
	reads := map[*Node][]Edge{}
	for n, in := range g.past.in {
		for k, x := range in {
			for g.past.hands[x.Node] && !fed[x] {
				x = g.past.input(x)
			}
			if !fed[x] || x == n.In[k] {
				continue
			}
			if reads[n] == nil {
				reads[n] = slices.Clone(n.In)
			}
			reads[n][k] = x
		}
	}
	return reads
}

// handsOn reports whether any of the fed values is handed on.
func (p *past) handsOn(fed map[Edge]bool) bool {
	for x := range fed {
		if p.hands[x.Node] {
			return true
		}
	}
	return false
}

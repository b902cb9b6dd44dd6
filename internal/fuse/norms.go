package fuse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A normalization by given moments is elementwise but for what it computes for each channel.
// Where it reads what a convolution computes, it becomes two nodes, of which the second one
// can be the convolution's epilogue:
//
//	scale, offset, mean, variance ──▶ FusedBatchNormV3     becomes   scale, variance ─▶ _NormFactor ─▶ f
//	                       Conv2D ─▶                                 Conv2D, mean, f, offset ─▶ _NormApply

var (
	normFactorDef = core.OpDef{Name: "_NormFactor", NoGrad: core.NoGradientDefined}
	normApplyDef  = core.OpDef{Name: "_NormApply", Traits: core.Elementwise, NoGrad: core.NoGradientDefined}
)

// splitNorms puts two nodes in the place of each such normalization, and returns what finds
// the kernels of all nodes.
func splitNorms(g *graph.Graph, kernelOf func(*graph.Node) core.Kernel, r *Report) (func(*graph.Node) core.Kernel, error) {
	if !slices.ContainsFunc(g.Nodes, func(n *graph.Node) bool { return n.Def.Has(core.NormalizesChannels) }) {
		return kernelOf, nil
	}
	g.Renumber()
	uses, by := g.Uses(), map[*graph.Node]*graph.Node{}
	for _, n := range g.Nodes[:len(g.Nodes):len(g.Nodes)] {
		k := splittable(n, uses, kernelOf)
		if k == nil {
			continue
		}
		factor, apply := factorNode(g, n), applyNode(g, n)
		if err := g.Add(factor); err != nil {
			return nil, err
		}
		apply.In[2] = graph.Edge{Node: factor} // scale may be any output of its node
		if err := g.Add(apply); err != nil {
			return nil, err
		}
		by[n] = apply
		r.Kernels[&factor.Node], r.Kernels[&apply.Node] = k.Factor, k.Apply
	}
	if len(by) == 0 {
		return kernelOf, nil
	}
	g.Keep(func(n *graph.Node) bool { return by[n] == nil })
	for _, n := range g.Nodes {
		useProducts(n, by)
	}
	return func(n *graph.Node) core.Kernel {
		if k := r.Kernels[&n.Node]; k != nil {
			return k
		}
		return kernelOf(n)
	}, nil
}

// splittable returns the kernel of a normalization that may become two nodes, nil if n is
// none: what it reads is computed in parts and read by nothing else, or what reads it is
// elementwise, too; its inputs are known to fit, and only its first output is used.
func splittable(n *graph.Node, uses [][]*graph.Node, kernelOf func(*graph.Node) core.Kernel) *core.ChannelKernel {
	if !n.Def.Has(core.NormalizesChannels) || len(n.In) != 5 {
		return nil
	}
	k, ok := kernelOf(n).(*core.ChannelKernel)
	if !ok {
		return nil
	}
	_, parts := kernelOf(n.In[0].Node).(*core.PartsKernel)
	if !(parts && len(uses[n.In[0].Node.ID]) == 1) && !slices.ContainsFunc(uses[n.ID], func(u *graph.Node) bool { return u.Def.Has(core.Elementwise) }) {
		return nil
	}
	x := n.In[0].Node.OutShape(n.In[0].Out)
	if len(x) != 4 && len(x) != 5 || x[len(x)-1] < 0 || smallFor(n.In[0]) {
		return nil
	}
	for _, e := range n.In[1:] {
		if !equalShapes(e.Node.OutShape(e.Out), core.Shape{x[len(x)-1]}) || e.Type().IsRef() {
			return nil
		}
	}
	for _, u := range uses[n.ID] {
		if slices.ContainsFunc(u.In, func(e graph.Edge) bool { return e.Node == n && e.Out > 0 }) {
			return nil
		}
	}
	return k
}

// factorNode returns the node that computes the factors of n.
func factorNode(g *graph.Graph, n *graph.Node) *graph.Node {
	f := part(g, n, n.Name+"/factor", &normFactorDef, n.In[1:])
	f.Shapes = []core.Shape{n.In[1].Node.OutShape(n.In[1].Out)}
	return f
}

// applyNode returns the node that computes the first output of n. Its input 2 is not set.
func applyNode(g *graph.Graph, n *graph.Node) *graph.Node {
	a := part(g, n, n.Name+"/apply", &normApplyDef, []graph.Edge{n.In[0], n.In[3], n.In[1], n.In[2]})
	a.Shapes = []core.Shape{n.OutShape(0)}
	return a
}

// part returns a node of one output that waits for what n waits for.
func part(g *graph.Graph, n *graph.Node, name string, def *core.OpDef, in []graph.Edge) *graph.Node {
	p := &graph.Node{Node: core.Node{Name: g.Unused(name), Def: def, Device: n.Device, Attrs: n.Attrs}, In: slices.Clone(in)}
	p.CopyPos(&n.Node)
	for _, e := range p.In {
		p.InTypes = append(p.InTypes, e.Type())
	}
	p.OutTypes = n.OutTypes[:1]
	p.AddControls(n.Control...)
	return p
}

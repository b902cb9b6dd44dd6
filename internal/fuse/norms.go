package fuse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A normalization is elementwise but for what it computes for each channel. Where it reads what a
// convolution computes, or elementwise nodes read it, it becomes two nodes, of which the second
// one can be the convolution's epilogue, or a part of a cluster:
//
//	scale, offset, mean, variance ──▶ FusedBatchNormV3     becomes   scale, variance ─▶ _NormFactor ─▶ f
//	                       Conv2D ─▶                                 Conv2D, mean, f, offset ─▶ _NormApply
//
// In training a node before them computes the moments, and all other outputs of the normalization.

var (
	normMomentsDef = core.OpDef{Name: "_NormMoments", NoGrad: core.NoGradientDefined}
	normFactorDef  = core.OpDef{Name: "_NormFactor", NoGrad: core.NoGradientDefined}
	normApplyDef   = core.OpDef{Name: "_NormApply", Traits: core.Elementwise, NoGrad: core.NoGradientDefined}
)

// splitNorms puts these nodes in the place of each such normalization, and returns what finds
// the kernels of all nodes.
func splitNorms(g *graph.Graph, kernelOf func(*graph.Node) core.Kernel, r *Report) (func(*graph.Node) core.Kernel, error) {
	if !slices.ContainsFunc(g.Nodes, func(n *graph.Node) bool { return n.Def.Has(core.NormalizesChannels) }) {
		return kernelOf, nil
	}
	g.Renumber()
	uses, by := g.Uses(), map[*graph.Node]norm{}
	for _, n := range g.Nodes[:len(g.Nodes):len(g.Nodes)] {
		k := splittable(n, uses, kernelOf)
		if k == nil {
			continue
		}
		s, err := splitNorm(g, n, k, r)
		if err != nil {
			return nil, err
		}
		by[n] = s
	}
	if len(by) == 0 {
		return kernelOf, nil
	}
	g.Keep(func(n *graph.Node) bool { return by[n].apply == nil })
	for _, n := range g.Nodes {
		useNorms(n, by)
	}
	return r.kernels(kernelOf), nil
}

// A norm is what stands for a normalization: moments is nil where they are given.
type norm struct{ moments, apply *graph.Node }

// splitNorm adds the nodes that stand for n.
func splitNorm(g *graph.Graph, n *graph.Node, k *core.ChannelKernel, r *Report) (s norm, err error) {
	in := slices.Clone(n.In)
	if k.Moments != nil {
		s.moments = momentsNode(g, n)
		if err := g.Add(s.moments); err != nil {
			return s, err
		}
		r.Kernels[&s.moments.Node] = about(&n.Node, k.Moments)
		in[3], in[4] = graph.Edge{Node: s.moments, Out: 2}, graph.Edge{Node: s.moments, Out: 3}
	}
	factor := factorNode(g, n, in[1:])
	if err := g.Add(factor); err != nil {
		return s, err
	}
	s.apply = applyNode(g, n, []graph.Edge{in[0], in[3], {Node: factor}, in[2]})
	r.Kernels[&factor.Node], r.Kernels[&s.apply.Node] = unlisted(&n.Node, k.Factor), applyKernel(&n.Node, k.Apply)
	return s, g.Add(s.apply)
}

// about returns a kernel whose errors are those of node n.
func about(n *core.Node, k core.Compute) core.Compute {
	return func(c *core.OpContext) error {
		if err := k(c); err != nil {
			return core.AtNode(err, n, c.Describe())
		}
		return nil
	}
}

// unlisted is about for kernels that read something else than n: no inputs are listed.
func unlisted(n *core.Node, k core.Compute) core.Compute {
	return func(c *core.OpContext) error {
		if err := k(c); err != nil {
			return core.AtNode(err, n, nil)
		}
		return nil
	}
}

// applyKernel returns k with the errors of node n.
func applyKernel(n *core.Node, k *core.ElementKernel) *core.ElementKernel {
	a := *k
	a.Compute = unlisted(n, k.Compute)
	a.Shape = func(of *core.Node, in []core.Shape) (core.Shape, error) {
		s, err := k.Shape(of, in)
		if err != nil {
			return nil, core.AtNode(err, n, nil)
		}
		return s, nil
	}
	return &a
}

// useNorms makes n use what stands for normalizations.
func useNorms(n *graph.Node, by map[*graph.Node]norm) {
	for k, e := range n.In {
		switch s := by[e.Node]; {
		case s.apply == nil:
		case e.Out == 0:
			n.In[k].Node = s.apply
		default:
			n.In[k] = graph.Edge{Node: s.moments, Out: e.Out - 1}
		}
	}
	for k, c := range n.Control {
		if s := by[c]; s.apply != nil {
			n.Control[k] = s.apply
		}
	}
}

// splittable returns the kernel of a normalization that may become several nodes, nil if n is
// none: what reads it is elementwise, too, or what it reads is computed in parts and read by
// nothing else; its inputs fit.
func splittable(n *graph.Node, uses [][]*graph.Node, kernelOf func(*graph.Node) core.Kernel) *core.ChannelKernel {
	if !n.Def.Has(core.NormalizesChannels) || len(n.In) != 5 {
		return nil
	}
	k, ok := kernelOf(n).(*core.ChannelKernel)
	if !ok || !fits(n, k) || k.Moments == nil && readsMoments(n, uses) {
		return nil
	}
	_, parts := kernelOf(n.In[0].Node).(*core.PartsKernel)
	if k.Moments == nil && parts && len(uses[n.In[0].Node.ID]) == 1 || slices.ContainsFunc(uses[n.ID], func(u *graph.Node) bool { return u.Def.Has(core.Elementwise) }) {
		return k
	}
	return nil
}

// fits reports whether what a normalization reads is known to fit: images, not too small, and
// vectors of a number for each channel. Moments looks at that itself when it runs. None is a
// variable: that may be assigned what follows from the moments before the other nodes read it.
func fits(n *graph.Node, k *core.ChannelKernel) bool {
	if smallFor(n.In[0]) || slices.ContainsFunc(n.In, func(e graph.Edge) bool { return e.Type().IsRef() }) {
		return false
	}
	if k.Moments != nil {
		return true
	}
	x := n.In[0].Node.OutShape(n.In[0].Out)
	return (len(x) == 4 || len(x) == 5) && x[len(x)-1] >= 0 && !slices.ContainsFunc(n.In[1:], func(e graph.Edge) bool {
		return !equalShapes(e.Node.OutShape(e.Out), core.Shape{x[len(x)-1]})
	})
}

// readsMoments reports whether another output of n than the first one is used.
func readsMoments(n *graph.Node, uses [][]*graph.Node) bool {
	return slices.ContainsFunc(uses[n.ID], func(u *graph.Node) bool {
		return slices.ContainsFunc(u.In, func(e graph.Edge) bool { return e.Node == n && e.Out > 0 })
	})
}

// momentsNode returns the node that computes all outputs of n but the first one.
func momentsNode(g *graph.Graph, n *graph.Node) *graph.Node {
	m := part(g, n, n.Name+"/moments", &normMomentsDef, n.In)
	m.OutTypes = n.OutTypes[1:]
	for i := range m.OutTypes {
		m.Shapes = append(m.Shapes, n.OutShape(1+i))
	}
	return m
}

// factorNode returns the node that computes the factors of n from the scale, the offset and the
// moments.
func factorNode(g *graph.Graph, n *graph.Node, in []graph.Edge) *graph.Node {
	f := part(g, n, n.Name+"/factor", &normFactorDef, in)
	f.Shapes = []core.Shape{n.In[1].Node.OutShape(n.In[1].Out)}
	return f
}

// applyNode returns the node that computes the first output of n.
func applyNode(g *graph.Graph, n *graph.Node, in []graph.Edge) *graph.Node {
	a := part(g, n, n.Name+"/apply", &normApplyDef, in)
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

package fuse

import (
	"maps"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// The gradient of maxima over windows takes in the gradient of the rectifier that the images come
// from: whether it lets the gradient of a maximum pass follows from the maximum.
//
//	z, dp ─▶ MaxPoolGrad ─▶ d         becomes    z, dp ─▶ _RectifiedGrad ─▶ dy
//	d, z ─▶ ReluGrad ─▶ dy

var rectifiedDef = core.OpDef{Name: "_RectifiedGrad", Expensive: true, NoGrad: core.NoGradientDefined}

// takeInRectifiers puts a node in the place of each gradient that can take in the gradient of a
// rectifier, and of that.
func takeInRectifiers(g *graph.Graph, kernelOf func(*graph.Node) core.Kernel, r *Report) (func(*graph.Node) core.Kernel, error) {
	g.Renumber()
	uses, by, gone := g.Uses(), map[*graph.Node]*graph.Node{}, map[*graph.Node]bool{}
	for _, n := range g.Nodes[:len(g.Nodes):len(g.Nodes)] {
		if !n.Def.Has(core.Elementwise) || len(n.In) != 2 {
			continue
		}
		e := rectifies(n, 2, kernelOf)
		if e == nil {
			continue
		}
		of, at := n.In[0].Node, n
		f, err := rectify(g, n, e, uses, kernelOf, r)
		if err == nil && f == nil {
			f, of, err = gateNorm(g, n, e, uses, kernelOf, r)
			at = of
		}
		if err != nil {
			return nil, err
		}
		if f != nil {
			by[at], gone[n], gone[of] = f, true, true
		}
	}
	if len(by) == 0 {
		return kernelOf, nil
	}
	g.Keep(func(n *graph.Node) bool { return !gone[n] })
	for _, n := range g.Nodes {
		useProducts(n, by)
	}
	return r.kernels(kernelOf), nil
}

// rectify adds the node that stands for n, the gradient of a rectifier, and for the gradient that n
// reads. It returns nil if that gradient cannot take n in.
func rectify(g *graph.Graph, n *graph.Node, e *core.ElementKernel, uses [][]*graph.Node, kernelOf func(*graph.Node) core.Kernel, r *Report) (*graph.Node, error) {
	of := n.In[0].Node
	if len(uses[of.ID]) != 1 || n.In[1].Type().IsRef() {
		return nil, nil
	}
	k, ok := kernelOf(of).(*core.RectifiedKernel)
	if !ok || n.In[1] != of.In[0] {
		return nil, nil
	}
	f := gatedNode(g, of, n, &rectifiedDef, of.In, of.InTypes)
	f.Shapes, f.OutTypes = n.Shapes, n.OutTypes
	r.addGated(f, about(&of.Node, func(c *core.OpContext) error { return k.Rectified(c, *e.Rectifies) }))
	return f, g.Add(f)
}

// gatedNode returns a node that stands for n and the gradient of a rectifier, and is declared to
// read the given types: a reference variable may be read as a value.
func gatedNode(g *graph.Graph, n, gate *graph.Node, def *core.OpDef, in []graph.Edge, types []core.DType) *graph.Node {
	attrs := maps.Clone(n.Attrs)
	attrs[nodesAttr] = []string{gate.Name + " = " + gate.OpName(), n.Name + " = " + n.OpName()}
	f := &graph.Node{Node: core.Node{Name: g.Unused(n.Name + "/gated"), Def: def, Device: n.Device, Attrs: attrs}, In: in, Shapes: n.Shapes}
	f.OutTypes = n.OutTypes
	f.CopyPos(&n.Node)
	f.InTypes = types
	f.AddControls(gate.Control...)
	f.AddControls(n.Control...)
	return f
}

// addGated notes a pair and its kernel.
func (r *Report) addGated(f *graph.Node, k core.Compute) {
	r.Kernels[&f.Node] = k
	r.Clusters = append(r.Clusters, Cluster{Node: f.Name, Nodes: f.Strs(nodesAttr)})
}

// kernels finds those that the pass has added, and all others.
func (r *Report) kernels(kernelOf func(*graph.Node) core.Kernel) func(*graph.Node) core.Kernel {
	return func(n *graph.Node) core.Kernel {
		if k := r.Kernels[&n.Node]; k != nil {
			return k
		}
		return kernelOf(n)
	}
}

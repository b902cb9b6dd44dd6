package fuse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// The gradient of a normalization that a rectifier follows takes in the gradient of the
// rectifier. Whether that lets a gradient pass is computed again from what was normalized, which
// the gradient of the normalization reads anyway:
//
//	x ─▶ FusedBatchNormV3 ─▶ Relu ─▶ z                dz, z ─▶ ReluGrad ─▶ dy
//	                                                  dy, x ─▶ FusedBatchNormGradV3 ─▶ dx
//
//	                                      becomes     dz, x, offset ─▶ _GatedNormGrad ─▶ dx
//
// dy is never in memory, and z is not read.

// A gatedNorm is such a gradient.
type gatedNorm struct {
	grad, gate *core.Node
	kernel     *core.ChannelGradKernel
	element    *core.ElementKernel // of gate
}

var gatedNormDef = core.OpDef{Name: "_GatedNormGrad", Expensive: true, NoGrad: core.NoGradientDefined}

// gateNorm adds the node that stands for gate, the gradient of a rectifier, and the gradient of a
// normalization that alone reads it. It returns nil if there is none, else that gradient, too.
func gateNorm(g *graph.Graph, gate *graph.Node, e *core.ElementKernel, uses [][]*graph.Node, kernelOf func(*graph.Node) core.Kernel, r *Report) (f, n *graph.Node, err error) {
	if len(uses[gate.ID]) != 1 || gate.In[0].Type().IsRef() {
		return nil, nil, nil
	}
	n = uses[gate.ID][0]
	k, ok := kernelOf(n).(*core.ChannelGradKernel)
	if !ok || len(n.In) < 5 || n.In[0].Node != gate {
		return nil, nil, nil
	}
	z := gate.In[1].Node
	of := rectifies(z, 1, kernelOf)
	if of == nil || !sameRectifier(*of.Rectifies, *e.Rectifies) || !isGradOf(n, z.In[0], kernelOf) {
		return nil, nil, nil
	}
	p := &gatedNorm{grad: &n.Node, gate: &gate.Node, kernel: k, element: e}
	f = p.join(g, gate, n, z.In[0].Node.In[2])
	r.addGated(f, p.compute)
	return f, n, g.Add(f)
}

// rectifies returns the kernel of a rectifier, or of the gradient of one, which have as many
// operands; nil if n is none.
func rectifies(n *graph.Node, operands int, kernelOf func(*graph.Node) core.Kernel) *core.ElementKernel {
	if e, ok := kernelOf(n).(*core.ElementKernel); ok && e.Rectifies != nil && len(n.In) == operands {
		return e
	}
	return nil
}

// sameRectifier reports whether two have the same bound, or none.
func sameRectifier(a, b core.Rectifier) bool {
	return a.Most == b.Most || a.Most != a.Most && b.Most != b.Most
}

// isGradOf reports whether n is the gradient of y, the result of a normalization by the moments of
// what it reads, and reads the same values as that.
func isGradOf(n *graph.Node, y graph.Edge, kernelOf func(*graph.Node) core.Kernel) bool {
	f := y.Node
	if y.Out != 0 || !f.Def.Has(core.NormalizesChannels) || len(f.In) != 5 {
		return false
	}
	k, ok := kernelOf(f).(*core.ChannelKernel)
	if !ok || k.Moments == nil || f.Float("epsilon") != n.Float("epsilon") || f.Str("data_format") != n.Str("data_format") {
		return false
	}
	if slices.ContainsFunc(f.In[:3], func(e graph.Edge) bool { return e.Type().IsRef() }) {
		return false // what a variable holds may have changed
	}
	return slices.Equal(n.In[1:5], []graph.Edge{f.In[0], f.In[1], {Node: f, Out: 3}, {Node: f, Out: 4}})
}

// join returns the node that stands for both.
func (p *gatedNorm) join(g *graph.Graph, gate, n *graph.Node, offset graph.Edge) *graph.Node {
	in := append(slices.Clone(n.In), offset)
	in[0] = gate.In[0]
	f := gatedNode(g, n, gate, &gatedNormDef, in, append(slices.Clone(n.InTypes), offset.Type()))
	f.AddControls(gate.In[1].Node.Control...) // of z, which gate waited for
	return f
}

// compute is the kernel of both. Where the gradient does not fit, the error is the rectifier's. Of
// what the error says of inputs, z is as x is, and dy as dz.
func (p *gatedNorm) compute(c *core.OpContext) error {
	dz, x := c.Input(0).Shape(), c.Input(1).Shape()
	if !dz.Equal(x) {
		if _, err := p.element.Shape(p.gate, []core.Shape{dz, x}); err != nil {
			return core.AtNode(err, p.gate, c.Describe()[:len(p.gate.InTypes)])
		}
	}
	if err := p.kernel.Gated(c, *p.element.Rectifies); err != nil {
		return core.AtNode(err, p.grad, c.Describe()[:len(p.grad.InTypes)])
	}
	return nil
}

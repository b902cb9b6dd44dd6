package graph

import "github.com/gorge-tf/gorge/tf/core"

// InferShapes works out what can be known of the shapes of all outputs, as for
// a graph that came without them. What is known already is kept.
func (g *Graph) InferShapes() error {
	order, err := g.Sorted()
	if err != nil {
		return err
	}
	for _, n := range order {
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		if n.Shapes != nil {
			continue
		}
		if err := n.inferShapes(); err != nil {
			return core.AtNode(err, &n.Node, nil)
		}
	}
	return nil
}

func (n *Node) inferShapes() (err error) {
	in := make([]core.Shape, len(n.In))
	for k, e := range n.In {
		in[k] = e.Node.OutShape(e.Out)
	}
	n.Shapes, err = core.InferShapes(&n.Node, in, n.inputValue)
	return err
}

// inputValue returns the value of input k if it is constant.
func (n *Node) inputValue(k int) *core.Tensor {
	src := n.In[k].Node
	for src.Def.Has(core.Passthrough) {
		src = src.In[0].Node
	}
	if src.Role() != core.Constant {
		return nil
	}
	return src.TensorAttr("value")
}

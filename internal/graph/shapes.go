package graph

import "github.com/gorge-tf/gorge/tf"

// InferShapes works out what can be known of the shapes of all outputs, as for
// a graph that came without them. What is known already is kept.
func (g *Graph) InferShapes() error {
	order, err := g.Sorted()
	if err != nil {
		return err
	}
	for _, n := range order {
		if n.Shapes != nil {
			continue
		}
		if err := n.inferShapes(); err != nil {
			return tf.AtNode(err, &n.Node, nil)
		}
	}
	return nil
}

func (n *Node) inferShapes() (err error) {
	in := make([]tf.Shape, len(n.In))
	for k, e := range n.In {
		in[k] = e.Node.OutShape(e.Out)
	}
	n.Shapes, err = tf.InferShapes(&n.Node, in, n.inputValue)
	return err
}

// inputValue returns the value of input k if it is constant.
func (n *Node) inputValue(k int) *tf.Tensor {
	src := n.In[k].Node
	for src.OpName() == "Identity" {
		src = src.In[0].Node
	}
	if src.OpName() != "Const" {
		return nil
	}
	return src.TensorAttr("value")
}

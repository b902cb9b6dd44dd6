package pass

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// inferShapes finds out more about shapes than the graph came with: constants
// have been found since, or it came from a GraphDef and knows nothing. It
// changes no node, so that it never asks for another round.
func inferShapes(e *editor) (bool, error) {
	order, err := e.Sorted()
	if err != nil {
		return false, err
	}
	if vars := loopVariables(order); len(vars) > 0 {
		return false, inferLoops(e, order, vars)
	}
	return false, inferAll(e, order)
}

// inferAll infers the shapes of nodes from those of nodes before them.
func inferAll(e *editor, order []*graph.Node) error {
	for _, n := range order {
		if err := e.Budget.Visit(1); err != nil {
			return err
		}
		refineShapes(n)
	}
	return nil
}

// refineShapes adds what follows from the inputs of n. What is contradictory
// is left to the step, which will fail.
func refineShapes(n *graph.Node) {
	if allKnown(n) {
		return
	}
	in := make([]core.Shape, len(n.In))
	for k, x := range n.In {
		in[k] = x.Node.OutShape(x.Out)
	}
	value := func(k int) *core.Tensor {
		if src := n.In[k].Node; src.Role() == core.Constant {
			return src.TensorAttr("value")
		}
		return nil
	}
	shapes, _, err := n.Infer(in, core.Known{Value: value, Handle: func(k int) core.HandleInfo { return variableBehind(n.In[k]) }})
	if err != nil {
		return
	}
	for k := range shapes {
		if m, ok := n.OutShape(k).Merge(shapes[k]); ok {
			shapes[k] = m
		}
	}
	n.Shapes = shapes
}

// variableBehind returns what is known of the variable that a handle stands for, as the node
// that makes the handle says.
func variableBehind(x graph.Edge) (h core.HandleInfo) {
	src := x.Node
	for len(src.In) > 0 && (src.Def.Has(core.Passthrough) || src.Role() == core.Enters) {
		src = src.In[0].Node
	}
	if !src.Def.Has(core.HoldsVariable) || len(src.In) > 0 || src.OutTypes[0] != core.Resource {
		return h
	}
	if _, handles, err := src.Infer(nil, core.Known{}); err == nil && len(handles) > 0 {
		h = handles[0]
	}
	return h
}

func allKnown(n *graph.Node) bool {
	for k := range n.OutTypes {
		if !n.OutShape(k).Known() {
			return false
		}
	}
	return true
}

// shapeValues returns the values of a node that describes shapes, if they are
// known.
func shapeValues(n *graph.Node) []*core.Tensor {
	var value func(s core.Shape) *core.Tensor
	switch n.OpName() {
	case "Shape", "ShapeN":
		value = func(s core.Shape) *core.Tensor { return ints(n.Type("out_type"), core.Shape{len(s)}, s) }
	case "Size":
		value = func(s core.Shape) *core.Tensor { return ints(n.Type("out_type"), core.Shape{}, []int{s.NumElements()}) }
	case "Rank":
		return rankValue(n)
	default:
		return nil
	}
	out := make([]*core.Tensor, len(n.In))
	for k, x := range n.In {
		s := x.Node.OutShape(x.Out)
		if !s.Known() || cannotAwait(x) {
			return nil
		}
		if out[k] = value(s); out[k] == nil {
			return nil
		}
	}
	return out
}

func rankValue(n *graph.Node) []*core.Tensor {
	x := n.In[0]
	s := x.Node.OutShape(x.Out)
	if s == nil || cannotAwait(x) || x.Type().IsRef() {
		return nil // a reference may be to a variable without a value, which is an error
	}
	return []*core.Tensor{core.Scalar(int32(len(s)))}
}

// ints returns v as a tensor of type d, nil if d cannot hold it.
func ints(d core.DType, s core.Shape, v []int) *core.Tensor {
	t := core.NewTensor(d, s)
	for i, x := range v {
		switch {
		case d == core.Int64:
			core.Data[int64](t)[i] = int64(x)
		case x >= 0 && x <= math.MaxInt32:
			core.Data[int32](t)[i] = int32(x)
		default:
			return nil
		}
	}
	return t
}

// cannotAwait reports whether nothing can come after x alone: a node that waits for a
// choice does not wait for one of its outputs, and may not read one that is a reference.
func cannotAwait(x graph.Edge) bool {
	return x.Node.Role() == core.Receives || chooses(x.Node) && x.Type().IsRef()
}

// afterShape returns what the known shape of n's input must come after. The
// input itself need not be computed, unless that has effects or it might be
// dead.
func (f *folder) afterShape(n *graph.Node) ([]*graph.Node, error) {
	after := slices.Clone(n.Control)
	for _, x := range n.In {
		if f.plain[x.Node.ID] {
			continue
		}
		y, err := f.awaited(n, x)
		if err != nil {
			return nil, err
		}
		after = append(after, y)
	}
	return after, nil
}

// awaited returns what runs if x is alive, for n: of a choice an Identity.
func (f *folder) awaited(n *graph.Node, x graph.Edge) (*graph.Node, error) {
	if !chooses(x.Node) {
		return x.Node, nil
	}
	y, err := f.AddNew(n.Name+"/alive", "Identity", core.Attrs{"T": x.Type()}, x.Node.Device, x)
	if err != nil {
		return nil, err
	}
	y.CopyPos(&n.Node)
	y.Shapes = []core.Shape{x.Node.OutShape(x.Out)}
	f.plain = append(f.plain, false)
	return y, nil
}

// plainNodes finds the nodes that can be left out when nothing needs their
// values: all that they depend on is without effects, always runs, and checks nothing. To read a
// variable that has no value is an error.
func plainNodes(order []*graph.Node) []bool {
	plain := make([]bool, len(order))
	for _, n := range order {
		checks := n.Def.Has(core.Awaited) && len(n.In) > 0
		ok := !n.Role().DirectsFlow() && !hasEffects(n) && !n.Def.Has(core.ReadsVariable) && !checks
		for _, x := range n.In {
			ok = ok && plain[x.Node.ID] && !x.Type().IsRef()
		}
		for _, c := range n.Control {
			ok = ok && plain[c.ID]
		}
		plain[n.ID] = ok
	}
	return plain
}

package fuse

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// joinable are the ops of which nodes can be in clusters.
const joinable = core.Elementwise | core.Reduction | core.Rowwise

// maxRow is how many bytes a row has at most that is folded within a cluster: with
// longer ones nothing was gained when it was measured.
const maxRow = 16 << 10

// A member is what has to be known of a node that can be in a cluster: either is nil.
type member struct {
	element *core.ElementKernel
	fold    *fold
}

// compute returns the kernel of the node by itself.
func (m *member) compute() core.Compute {
	if m.fold != nil {
		return m.fold.compute
	}
	return m.element.Compute
}

// A fold is a reduction along the last axes of its operand, or what makes of each row
// along the last axis another one.
type fold struct {
	compute core.Compute // of all rows
	rows    func(z, x []byte, n int)
	rank    int // of the operand
	axes    int // how many of the last axes are reduced
	width   int // the elements of a row
	keep    bool
	wide    bool // it gives rows
}

// shape returns the shape of the result, and the elements of a row.
func (f *fold) shape(x core.Shape) (core.Shape, int) {
	at := len(x) - f.axes
	if f.wide {
		return x, x[at]
	}
	out := x[:at].Clone()
	for range f.axes {
		if f.keep {
			out = append(out, 1)
		}
	}
	return out, x[at:].NumElements()
}

// memberOf returns what a node is in clusters, nil if it can be in none.
func memberOf(n *graph.Node, kernel func(*graph.Node) core.Kernel) *member {
	if barredByNode(n) != "" {
		return nil
	}
	switch k := kernel(n).(type) {
	case *core.ElementKernel:
		if k.Loop != nil && k.Shape != nil {
			return &member{element: k}
		}
	case *core.RowKernel:
		if f, _ := foldOf(n); f != nil {
			f.compute, f.rows = k.Compute, k.Rows
			return &member{fold: f}
		}
	}
	return nil
}

// foldOf returns what a reduction folds, or why it can be in no cluster.
func foldOf(n *graph.Node) (*fold, string) {
	axes, ok := axesOf(n)
	x := n.In[0].Node.OutShape(n.In[0].Out)
	switch {
	case !ok:
		return nil, "its axes are not constant"
	case x == nil:
		return nil, "size unknown: that of its rows, the rank of what it reads is not known"
	case !lastAxes(axes, len(x)):
		return nil, "it does not reduce the last axes"
	}
	f := &fold{rank: len(x), axes: len(axes), width: 1, keep: n.Bool("keep_dims"), wide: n.Def.Has(core.Rowwise)}
	for _, d := range x[len(x)-f.axes:] {
		if d < 0 {
			return nil, "size unknown: that of its rows"
		}
		f.width *= d
	}
	if size := n.InTypes[0].Size(); f.width < 2 || f.width > maxRow/size {
		return nil, fmt.Sprintf("its rows have %d elements: it must be 2 to %d", f.width, maxRow/size)
	}
	return f, ""
}

// axesOf returns the axes that make up a row, if the graph says which.
func axesOf(n *graph.Node) ([]int, bool) {
	if n.Def.Has(core.Rowwise) {
		return []int{-1}, true
	}
	t := n.In[1].Node.TensorAttr("value")
	if n.In[1].Node.Role() != core.Constant || t == nil {
		return nil, false
	}
	axes, err := t.Ints()
	return axes, err == nil
}

// lastAxes reports whether axes are the last ones of this rank, and which, in any order.
func lastAxes(axes []int, rank int) bool {
	if len(axes) == 0 || len(axes) > rank {
		return false
	}
	seen := make([]bool, len(axes))
	for _, a := range axes {
		if a < 0 {
			a += rank
		}
		i := a - (rank - len(axes))
		if i < 0 || i >= len(axes) || seen[i] {
			return false
		}
		seen[i] = true
	}
	return true
}

// operands returns the inputs that are computed with: not the axes of a reduction.
func operands(n *graph.Node, m *member) []graph.Edge {
	if m != nil && m.fold != nil {
		return n.In[:1]
	}
	return n.In
}

// barred says why a node that is no member is none.
func barred(n *graph.Node, kernel func(*graph.Node) core.Kernel) string {
	if why := barredByNode(n); why != "" {
		return why
	}
	if kernel(n) == nil {
		return "there is no kernel for it"
	}
	return fmt.Sprintf("dtype: its kernel for %v has no loop that computes a part", n.InTypes[0])
}

// barredByNode says why a node, whatever its kernel, can be in no cluster, "" if it
// can.
func barredByNode(n *graph.Node) string {
	switch {
	case !n.Def.Has(joinable):
		return n.OpName() + " is not elementwise"
	case n.Def.Stateful:
		return "it has state"
	case n.Role() != core.Computes:
		return "it is part of control flow"
	case len(n.OutTypes) != 1 || len(n.In) == 0:
		return "it has no input, or not one output"
	case n.OutTypes[0].Size() == 0:
		return fmt.Sprintf("dtype: elements of %v are not plain memory", n.OutTypes[0])
	}
	for k, e := range n.In {
		switch {
		case e.Type().IsRef() || n.InTypes[k].IsRef():
			return "it reads a reference to a variable, from " + e.Node.Name
		case e.Type().Size() == 0:
			return fmt.Sprintf("dtype: elements of %v are not plain memory", e.Type())
		}
	}
	if n.Def.Has(core.Reduction | core.Rowwise) {
		_, why := foldOf(n)
		return why
	}
	return ""
}

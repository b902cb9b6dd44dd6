package fuse

import (
	"maps"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf/core"
)

// A product in a loop by the transpose of a matrix that the loop does not change packs the
// matrix in each iteration: the gradient of a recurrent cell's state is one. The matrix is
// transposed once, before the loop, and read where it lies then:
//
//	w ─▶ Enter ─▶ MatMul(x, wᵀ)   becomes   w ─▶ _Transposed ─▶ Enter ─▶ MatMul(x, ·)
//
// The bits are the same: each element is the sum over k in the same order.

var transposedDef = core.OpDef{Name: "_Transposed", NoGrad: core.NoGradientDefined}

const (
	// fewestRows is how many rows the other operand has at least: a single one is multiplied
	// by rows of the matrix as it lies, and for few the matrix is read row by row.
	fewestRows = 4
	// mostRows repay packing.
	mostRows = 256
)

// turnConstants transposes such matrices before loops.
func turnConstants(g *graph.Graph, r *Report) error {
	var uses [][]*graph.Node
	for _, n := range g.Nodes[:len(g.Nodes):len(g.Nodes)] {
		if !turns(n) {
			continue
		}
		if uses == nil {
			g.Renumber()
			uses = g.Uses()
		}
		enter := n.In[1].Node
		if len(uses[enter.ID]) != 1 || count(n, enter) != 1 {
			continue
		}
		if err := turn(g, n, enter, r); err != nil {
			return err
		}
		uses = nil
	}
	return nil
}

// turns reports whether n is a product by the transpose of what a loop does not change, of
// shapes that the graph says.
func turns(n *graph.Node) bool {
	if !n.Def.Has(core.MatrixProduct) || !n.Bool("transpose_b") || n.Bool("transpose_a") {
		return false
	}
	enter, d := n.In[1].Node, n.In[1].Type()
	if enter.Role() != core.Enters || !enter.Bool("is_constant") || hasRef(enter) || d != core.Float32 && d != core.Float64 {
		return false
	}
	a, b := n.In[0].Node.OutShape(n.In[0].Out), enter.OutShape(0)
	return a.Known() && b.Known() && len(a) == 2 && len(b) == 2 && a[1] == b[1] && a[0] >= fewestRows && a[0] <= mostRows && b[0] > 1 && b[1] > 1
}

// turn has a node transpose what enters the loop for n.
func turn(g *graph.Graph, n, enter *graph.Node, r *Report) error {
	b := enter.OutShape(0)
	s := core.Shape{b[1], b[0]}
	t := &graph.Node{Node: core.Node{Name: g.Unused(enter.Name + "/transposed"), Def: &transposedDef, Device: enter.Device, Attrs: core.Attrs{}}, In: []graph.Edge{enter.In[0]}, Shapes: []core.Shape{s}}
	t.CopyPos(&n.Node)
	t.InTypes, t.OutTypes = []core.DType{enter.In[0].Type()}, []core.DType{enter.In[0].Type()}
	if err := g.Add(t); err != nil {
		return err
	}
	r.Kernels[&t.Node] = core.Compute(transposed)
	enter.In[0], enter.Shapes = graph.Edge{Node: t}, []core.Shape{s}
	n.Attrs = maps.Clone(n.Attrs)
	n.Attrs["transpose_b"] = false
	return nil
}

// transposed is the kernel that transposes a matrix. What is none, though the graph says so, is left
// to the product, which refuses it if it runs at all.
func transposed(c *core.OpContext) error {
	x := c.Input(0)
	s := x.Shape()
	if len(s) != 2 {
		c.Forward(0, 0)
		return nil
	}
	z, err := c.Alloc(0, x.DType(), core.Shape{s[1], s[0]})
	if err != nil {
		return err
	}
	move := layout.NewTransposition(s, []int{1, 0})
	if x.DType() == core.Float32 {
		layout.TransposeNumbers(c.ParallelFor, move, core.Data[float32](z), core.Data[float32](x))
	} else {
		layout.TransposeNumbers(c.ParallelFor, move, core.Data[float64](z), core.Data[float64](x))
	}
	return nil
}

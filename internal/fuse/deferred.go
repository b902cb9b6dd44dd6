package fuse

import (
	"maps"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A loop that adds up products, and reads the sum only when it has ended, need not add
// each at once: so are the gradients of weights computed. Operands are kept for some
// iterations, and their products are then added in one go, which several threads share
// better than one small product after the other, and for which the sum is in their
// caches once. Other threads add while the loop goes on (deferredsums.go). Each element is the same sum in the same order.
//
//	zero ─▶ Enter ─▶ Merge ─▶ Switch ─▶ _FusedProduct ─▶ NextIteration ─▶ Merge
//	                             └─▶ Exit ─▶ the sum
//
// becomes a loop whose variable is the handle of a sums, which _BeginSum makes of the
// zero, each product adds to, and _EndSum turns into the tensor again.

var (
	beginSumDef = core.OpDef{Name: "_BeginSum", NoGrad: core.NoGradientDefined}
	endSumDef   = core.OpDef{Name: "_EndSum", NoGrad: core.NoGradientDefined}
)

// A sumLoop is a loop variable that products are added to.
type sumLoop struct {
	enter, merge, choose, add, next, exit *graph.Node
}

// deferSums looks for such variables among the fused products, and rewrites them.
func deferSums(g *graph.Graph, products map[*graph.Node]*product, r *Report) error {
	var uses [][]*graph.Node
	for _, n := range g.Nodes[:len(g.Nodes):len(g.Nodes)] {
		p := products[n]
		if p == nil {
			continue
		}
		if uses == nil {
			g.Renumber()
			uses = g.Uses()
		}
		if l, ok := sumLoopOf(n, p, uses); ok {
			if err := l.rewrite(g, p, uses, r); err != nil {
				return err
			}
			uses = nil // what leaves this loop may enter the next one
		}
	}
	return nil
}

// sumLoopOf finds the variable that n adds a product to, if nothing else reads it.
func sumLoopOf(n *graph.Node, p *product, uses [][]*graph.Node) (l sumLoop, ok bool) {
	l.add, l.choose = n, n.In[2].Node
	if !p.sum.Def.Has(core.Commutative) || l.choose.Role() != core.Switches || !l.choose.Chooses() || n.In[2].Out != 1 || n.In[2].Type().IsRef() {
		return l, false
	}
	l.merge = l.choose.In[0].Node
	if l.merge.Role() != core.Merges || l.choose.In[0].Out != 0 || len(l.merge.In) != 2 {
		return l, false
	}
	l.enter, l.next = l.merge.In[0].Node, l.merge.In[1].Node
	if l.enter.Role() == core.Repeats {
		l.enter, l.next = l.next, l.enter
	}
	if l.enter.Role() != core.Enters || l.enter.Bool("is_constant") || l.next.Role() != core.Repeats || l.next.In[0].Node != n {
		return l, false
	}
	for _, u := range uses[l.choose.ID] {
		switch {
		case u == n || waitsOnly(u, l.choose):
		case u.Role() == core.Exits && l.exit == nil:
			l.exit = u
		default:
			return l, false
		}
	}
	return l, count(n, l.choose) == 1 && l.exit != nil && only(uses, l.enter, l.merge) && only(uses, l.next, l.merge) && only(uses, n, l.next) && only(uses, l.merge, l.choose)
}

// count returns how many inputs of n come from x.
func count(n, x *graph.Node) (k int) {
	for _, e := range n.In {
		if e.Node == x {
			k++
		}
	}
	return k
}

// waitsOnly reports whether u does not read a value of n.
func waitsOnly(u, n *graph.Node) bool { return count(u, n) == 0 }

// only reports whether nothing but reader reads values of n.
func only(uses [][]*graph.Node, n, reader *graph.Node) bool {
	for _, u := range uses[n.ID] {
		if u != reader && !waitsOnly(u, n) {
			return false
		}
	}
	return true
}

// rewrite makes the variable a handle.
func (l *sumLoop) rewrite(g *graph.Graph, p *product, uses [][]*graph.Node, r *Report) error {
	first, last := l.enter.In[0], l.exit.OutShape(0)
	begin, err := addSumNode(g, l.enter, &beginSumDef, first, core.Resource, core.Shape{})
	if err != nil {
		return err
	}
	r.Kernels[&begin.Node] = core.Compute(beginSum)
	l.enter.In[0] = graph.Edge{Node: begin}
	l.add.InTypes = append([]core.DType{}, l.add.InTypes...)
	l.add.InTypes[2] = core.Resource
	r.Kernels[&l.add.Node] = core.Compute(p.deferred)
	r.noteSum(l)
	for _, n := range []*graph.Node{l.enter, l.merge, l.choose, l.next, l.exit} {
		carryHandle(n)
	}
	l.add.OutTypes, l.add.Shapes = []core.DType{core.Resource}, []core.Shape{{}}
	end, err := addSumNode(g, l.exit, &endSumDef, graph.Edge{Node: l.exit}, first.Type(), last)
	if err != nil {
		return err
	}
	r.Kernels[&end.Node] = core.Compute(p.ended)
	for _, u := range uses[l.exit.ID] {
		for k, e := range u.In {
			if e.Node == l.exit {
				u.In[k].Node = end
			}
		}
	}
	return nil
}

// noteSum tells in a pair's cluster where the sum leaves the loop.
func (r *Report) noteSum(l *sumLoop) {
	for i := range r.Clusters {
		if c := &r.Clusters[i]; c.Node == l.add.Name {
			c.Nodes = append(c.Nodes, l.exit.Name+" = "+l.exit.OpName())
		}
	}
}

// addSumNode adds a node with one input and one output, where like is.
func addSumNode(g *graph.Graph, like *graph.Node, def *core.OpDef, in graph.Edge, out core.DType, s core.Shape) (*graph.Node, error) {
	n := &graph.Node{Node: core.Node{Name: g.Unused(like.Name + "/sum"), Def: def, Device: like.Device, Attrs: core.Attrs{}}, In: []graph.Edge{in}, Shapes: []core.Shape{s}}
	n.CopyPos(&like.Node)
	n.InTypes, n.OutTypes = []core.DType{in.Type()}, []core.DType{out}
	return n, g.Add(n)
}

// carryHandle makes n, which passes on a value, pass on a handle.
func carryHandle(n *graph.Node) {
	n.Attrs = maps.Clone(n.Attrs)
	n.Attrs["T"] = core.Resource
	in, out, shapes := make([]core.DType, len(n.InTypes)), make([]core.DType, len(n.OutTypes)), make([]core.Shape, len(n.OutTypes))
	copy(in, n.InTypes)
	copy(out, n.OutTypes)
	for k := range in {
		if n.Role() != core.Switches || k == 0 {
			in[k] = core.Resource
		}
	}
	for k := range out {
		shapes[k] = core.Shape{}
		if n.Role() != core.Merges || k == 0 {
			out[k] = core.Resource
		}
	}
	n.InTypes, n.OutTypes, n.Shapes = in, out, shapes
}

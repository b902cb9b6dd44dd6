package rowblocks

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

var def = core.OpDef{Name: "_RowBlocks", Expensive: true, NoGrad: core.NoGradientDefined}

// An input is what the node of a region reads: the same value may be read in several ways.
type input struct {
	edge graph.Edge
	reading
	rank int // of what is repeated, if it is not broadcast
}

// A builder makes the node of a region, and its program.
type builder struct {
	*region
	*program
	node   *graph.Node
	known  map[input]int      // numbers of inputs
	values map[graph.Edge]int // numbers of what nodes within compute
	outs   map[graph.Edge]int // the outputs of the new node
}

// replace puts a node in the place of the region.
func (r *region) replace(found *Regions) error {
	b := &builder{region: r, program: &program{}, known: map[input]int{}, values: map[graph.Edge]int{}, outs: map[graph.Edge]int{}}
	first := r.nodes[0]
	b.node = &graph.Node{Node: core.Node{Name: r.g.Unused(first.Name + "/rows"), Def: &def, Device: first.Device, Attrs: core.Attrs{}}}
	b.node.CopyPos(&first.Node)
	for _, n := range r.nodes {
		if err := b.addNode(n); err != nil {
			return err
		}
	}
	owed, err := b.partNeeded()
	if err != nil {
		return err
	}
	b.plan()
	if err := r.g.Add(b.node); err != nil {
		return err
	}
	found.note(b.node, r) // before it is not known any more what is read outside
	for _, n := range r.g.Nodes {
		if !r.has(n) && n != b.node {
			b.rewire(n)
		}
	}
	if err := r.keepOrder(owed); err != nil {
		return err
	}
	r.postpone(b.node)
	r.g.Keep(func(n *graph.Node) bool { return !r.has(n) })
	found.Kernels[&b.node.Node] = core.Compute(b.program.compute)
	return nil
}

// partNeeded makes nodes independent of the region that it needs. It returns what they followed.
func (b *builder) partNeeded() (followed map[*graph.Node][]*graph.Node, err error) {
	needed := b.needed()
	followed = map[*graph.Node][]*graph.Node{}
	for _, n := range b.apart {
		if !needed[n] {
			continue
		}
		followed[n] = b.followed(n, b.node)
		if err := b.part(n); err != nil {
			return nil, err
		}
	}
	return followed, nil
}

// addNode adds what a node within computes to the program.
func (b *builder) addNode(n *graph.Node) error {
	compute, _ := core.AsCompute(b.kernel(n))
	p := &part{node: &n.Node, compute: compute, kind: b.kinds[n], product: n.Def.Has(core.MatrixProduct), asked: n.Def.Has(core.Reshapes), first: len(b.vals)}
	for i, e := range n.In {
		s, err := b.source(n, i, e)
		if err != nil {
			return err
		}
		p.in = append(p.in, s)
	}
	for o, t := range n.OutTypes {
		e, v := graph.Edge{Node: n, Out: o}, value{part: len(b.parts), out: -1, sum: p.kind == sum}
		if s := n.OutShape(o); len(s) > 0 {
			v.tail = s[1:].Clone()
		}
		v.size = bytesOf(n, o, 1) / max(1, first(n.OutShape(o)))
		if v.sum || b.leaves(n, o) {
			v.out = len(b.node.OutTypes)
			b.outs[e] = v.out
			b.node.OutTypes = append(b.node.OutTypes, t)
			b.node.Shapes = append(b.node.Shapes, n.OutShape(o))
		}
		b.values[e] = len(b.vals)
		b.vals = append(b.vals, v)
	}
	p.outs = len(n.OutTypes)
	b.parts = append(b.parts, p)
	b.awaitOutside(b.node, n.Control)
	return nil
}

func first(s core.Shape) int {
	if len(s) == 0 {
		return 1
	}
	return s[0]
}

// source returns where input i of n comes from.
func (b *builder) source(n *graph.Node, i int, e graph.Edge) (source, error) {
	if v, ok := b.values[e]; ok {
		return source{value: v}, nil
	}
	in := input{edge: e, reading: b.reads[n][i]}
	if in.reading == repeated {
		in.rank = len(n.OutShape(0))
	}
	if b.outer[e.Node] { // a constant that waits for what is within
		c, err := b.g.AddNew(e.Node.Name+"/once", "Const", e.Node.Attrs, e.Node.Device)
		if err != nil {
			return source{}, err
		}
		c.Shapes = e.Node.Shapes
		in.edge = graph.Edge{Node: c}
	}
	at, ok := b.known[in]
	if !ok {
		at = len(b.node.In)
		b.known[in] = at
		b.node.In = append(b.node.In, in.edge)
		b.node.InTypes = append(b.node.InTypes, e.Type())
		b.program.inputs = append(b.program.inputs, in)
	}
	s := source{outside: true, value: at}
	if n.OpName() == slice && i == 2 {
		s.instead = allRows(e)
	}
	return s, nil
}

// allRows returns the sizes that a Slice takes, with all rows that there are.
func allRows(e graph.Edge) *core.Tensor {
	t := e.Node.TensorAttr("value").Clone()
	switch t.DType() {
	case core.Int32:
		core.Data[int32](t)[0] = -1
	case core.Int64:
		core.Data[int64](t)[0] = -1
	}
	return t
}

// rewire makes n, a node outside, use the new node.
func (b *builder) rewire(n *graph.Node) {
	for k, e := range n.In {
		if out, ok := b.outs[e]; ok {
			n.In[k] = graph.Edge{Node: b.node, Out: out}
		}
	}
	if !slices.ContainsFunc(n.Control, b.has) {
		return
	}
	before := n.Control
	n.Control = nil
	for _, c := range before {
		if b.has(c) {
			c = b.node
		}
		n.AddControl(c)
	}
}

package fuse

import (
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf/core"
)

// A product is a MatMul and the addition that alone reads its result: of a bias, or of
// a sum that it is part of, as the gradients of weights are in loops. The addition is
// done while the result is in the cache or in registers.
type product struct {
	mul, sum       *core.Node
	times, plus    core.Compute
	at             int // which operand of the addition the product is
	transA, transB bool
	join           func(p *product, c *core.OpContext) (bool, error)
}

var productDef = core.OpDef{Name: "_FusedProduct", Expensive: true, NoGrad: core.NoGradientDefined}

// joinProducts puts a node in the place of each such pair.
func joinProducts(g *graph.Graph, kernelOf func(*graph.Node) core.Kernel, r *Report) error {
	g.Renumber()
	uses, gone, by := g.Uses(), map[*graph.Node]bool{}, map[*graph.Node]*graph.Node{}
	products, in := map[*graph.Node]*product{}, &standIns{g: g, kernelOf: r.kernels(kernelOf)}
	for _, n := range g.Nodes[:len(g.Nodes):len(g.Nodes)] {
		i, err := ungroup(n, uses, in)
		if err != nil {
			return err
		}
		if i != nil {
			gone[i] = true
		}
		at := productIn(n, uses)
		if at < 0 {
			continue
		}
		if p := newProduct(n, at, kernelOf); p != nil {
			gone[n.In[at].Node], gone[n], by[n] = true, true, p.node(g, n)
			if err := g.Add(by[n]); err != nil {
				return err
			}
			products[by[n]] = p
			r.addProduct(by[n], p)
		}
	}
	if len(by) == 0 {
		return nil
	}
	g.Keep(func(n *graph.Node) bool { return !gone[n] })
	for _, n := range g.Nodes {
		useProducts(n, by)
	}
	return deferSums(g, products, r)
}

// productIn returns which operand of n is a product that nothing else reads, or -1.
func productIn(n *graph.Node, uses [][]*graph.Node) int {
	if !addsTwo(n) || n.Str("data_format") == "NCHW" {
		return -1
	}
	for k, e := range n.In {
		x := n.In[1-k]
		if k > 0 && !n.Def.Has(core.Commutative) || !e.Node.Def.Has(core.MatrixProduct) || len(uses[e.Node.ID]) != 1 || x.Node == e.Node {
			continue
		}
		// Two products had better be computed at once.
		if !x.Node.Def.Expensive && !x.Type().IsRef() && addable(x.Node.OutShape(x.Out)) {
			return k
		}
	}
	return -1
}

// chainedProducts finds pairs of additions y = (a·b + c) + d·e, the gates of a recurrent cell. It
// returns both additions of each pair. They stay outside of clusters, so that the second product
// and the sum are computed in the memory of the first product.
func chainedProducts(nodes []*graph.Node, uses [][]*graph.Node) map[*graph.Node]bool {
	chained := map[*graph.Node]bool{}
	for _, n := range nodes {
		at := productIn(n, uses)
		if at < 0 {
			continue
		}
		if x := n.In[1-at].Node; len(uses[x.ID]) == 1 && productIn(x, uses) >= 0 {
			chained[n], chained[x] = true, true
		}
	}
	return chained
}

// addsTwo reports whether n adds two values, and not as a list of any length.
func addsTwo(n *graph.Node) bool { return n.Def.Has(core.Adds) && n.Int("N") == 0 }

// ungroup lets n, which adds a product to a loop's variable, read the product itself,
// if it reads an Identity that waits for a group of which the product is one: the
// gradients of one operation are grouped so. It returns the Identity, which nothing
// needs any more, or nil. n waits for the group's other nodes, and the group for n: the
// variable is there from the beginning of an iteration on, so that n holds up nothing.
func ungroup(n *graph.Node, uses [][]*graph.Node, in *standIns) (*graph.Node, error) {
	if !addsTwo(n) {
		return nil, nil
	}
	for k, e := range n.In {
		i := e.Node
		if n.In[1-k].Node.Role() != core.Switches || !i.Def.Has(core.Passthrough) || hasRef(i) || len(i.Control) == 0 || len(uses[i.ID]) != 1 || !i.In[0].Node.Def.Has(core.MatrixProduct) {
			continue
		}
		m, group := i.In[0].Node, gateOf(i)
		switch {
		case group != nil && len(uses[m.ID]) == 2:
			if ok, err := in.mayAdd(n, group, n.In[1-k]); err != nil || !ok {
				return nil, err
			}
			standIn(n, m, group, uses)
		case group == nil && len(uses[m.ID]) == 1 && len(i.Control) <= maxGate:
			n.AddControls(i.Control...)
		default:
			continue
		}
		n.In[k] = i.In[0]
		uses[m.ID] = []*graph.Node{n}
		return i, nil
	}
	return nil, nil
}

// standIn has n stand for product m, which it adds, in a group of gradients. Another product
// of the group stays a node: n waits for it, and what adds it would wait for n.
func standIn(n, m, group *graph.Node, uses [][]*graph.Node) {
	for j, c := range group.Control {
		if c == m {
			group.Control[j] = n
		} else {
			n.AddControl(c)
			uses[c.ID] = append(uses[c.ID], n)
		}
	}
}

// onlyWaits reports whether n does nothing but wait for others.
func onlyWaits(n *graph.Node) bool {
	return n.Role() == core.Computes && len(n.In) == 0 && len(n.OutTypes) == 0 && !n.Def.Stateful
}

func hasRef(n *graph.Node) bool { return n.In[0].Type().IsRef() || n.OutTypes[0].IsRef() }

// addable reports whether what has a shape may be added to all of a matrix, or to each
// of its rows.
func addable(s core.Shape) bool { return s == nil || len(s) == 2 || len(s) == 1 }

func newProduct(n *graph.Node, at int, kernelOf func(*graph.Node) core.Kernel) *product {
	m := n.In[at].Node
	times, ok1 := core.AsCompute(kernelOf(m))
	plus, ok2 := core.AsCompute(kernelOf(n))
	p := &product{mul: &m.Node, sum: &n.Node, times: times, plus: plus, at: at, transA: m.Bool("transpose_a"), transB: m.Bool("transpose_b")}
	switch m.OutTypes[0] {
	case core.Float32:
		p.join = (*product).together32
	case core.Float64:
		p.join = (*product).together64
	}
	if !ok1 || !ok2 || p.join == nil {
		return nil
	}
	return p
}

// node returns the node that stands for both. Its inputs are the operands of the
// product, and what is added.
func (p *product) node(g *graph.Graph, sum *graph.Node) *graph.Node {
	m := sum.In[p.at].Node
	n := &graph.Node{
		Node: core.Node{Name: g.Unused(sum.Name + "/fused"), Def: &productDef, Device: sum.Device,
			Attrs: core.Attrs{nodesAttr: []string{m.Name + " = " + m.OpName(), sum.Name + " = " + sum.OpName()}}},
		In: []graph.Edge{m.In[0], m.In[1], sum.In[1-p.at]}, Shapes: sum.Shapes,
	}
	n.CopyPos(&sum.Node)
	n.InTypes = []core.DType{m.InTypes[0], m.InTypes[1], sum.InTypes[1-p.at]}
	n.OutTypes = sum.OutTypes
	n.AddControls(m.Control...)
	n.AddControls(sum.Control...)
	return n
}

// useProducts makes n use the nodes that were added.
func useProducts(n *graph.Node, by map[*graph.Node]*graph.Node) {
	for k, e := range n.In {
		if p := by[e.Node]; p != nil {
			n.In[k].Node = p
		}
	}
	for k, c := range n.Control {
		if p := by[c]; p != nil {
			n.Control[k] = p
		}
	}
}

// addProduct notes a pair and its kernel.
func (r *Report) addProduct(n *graph.Node, p *product) {
	r.Kernels[&n.Node] = core.Compute(p.compute)
	r.Clusters = append(r.Clusters, Cluster{Node: n.Name, Nodes: n.Strs(nodesAttr)})
}

// compute is the kernel of a pair. What does not fit, or has to be rounded in another
// order, is computed as by the two nodes.
func (p *product) compute(c *core.OpContext) error {
	if done, err := p.join(p, c); done || err != nil {
		return err
	}
	return p.apart(c)
}

func (p *product) together32(c *core.OpContext) (bool, error) { return inOne[float32](p, c) }
func (p *product) together64(c *core.OpContext) (bool, error) { return inOne[float64](p, c) }

// inOne computes both at once, if the bits are those of one after the other.
func inOne[T interface{ float32 | float64 }](p *product, c *core.OpContext) (bool, error) {
	g, ok := p.gemm(c.Input(0).Shape(), c.Input(1).Shape())
	x, d := c.Input(2), c.Input(0).DType()
	if !ok {
		return false, nil
	}
	a, b := core.Data[T](c.Input(0)), core.Data[T](c.Input(1))
	switch s := x.Shape(); {
	case len(s) == 1 && s[0] == g.N:
		z, err := c.Alloc(0, d, core.Shape{g.M, g.N})
		if err != nil {
			return true, core.AtNode(err, p.mul, nil)
		}
		gemm.MatMul(c.ParallelFor, g, core.Data[T](z), a, b, gemm.Epilogue[T]{Bias: core.Data[T](x)})
		return true, nil
	case len(s) == 2 && s[0] == g.M && s[1] == g.N && p.sum.Def.Has(core.Commutative) && gemm.AddsSums[T](g):
		z, err := c.AllocFrom(2, 0, d, s)
		if err != nil {
			return true, core.AtNode(err, p.sum, nil)
		}
		out := core.Data[T](z)
		if from := core.Data[T](x); &out[0] != &from[0] {
			c.ParallelFor(len(out), kernel.ElementGrain, func(lo, hi int) { copy(out[lo:hi], from[lo:hi]) })
		}
		g.Accumulate = true
		gemm.MatMul(c.ParallelFor, g, out, a, b, gemm.Epilogue[T]{})
		return true, nil
	}
	return false, nil
}

// gemm describes the product of matrices of some shapes; not ok: it is none, or empty.
func (p *product) gemm(a, b core.Shape) (g gemm.Gemm, ok bool) {
	if len(a) != 2 || len(b) != 2 {
		return g, false
	}
	m, k, k2, n := a[0], a[1], b[0], b[1]
	if p.transA {
		m, k = k, m
	}
	if p.transB {
		k2, n = n, k2
	}
	return gemm.NewGemm(m, n, k, p.transA, p.transB), k == k2 && m > 0 && n > 0 && k > 0
}

// apart computes one node after the other.
func (p *product) apart(c *core.OpContext) error {
	var out [1]core.Slot
	var header core.Tensor
	mul := core.OpContext{Step: c.Step, Node: p.mul, In: c.In[:2:2], Out: out[:], FrameID: c.FrameID, Iteration: c.Iteration, Scratch: []*core.Tensor{&header}, Pool: c.Pool}
	if err := p.times.Run(&mul); err != nil {
		return core.AtNode(err, p.mul, mul.Describe())
	}
	t := out[0].T
	defer t.Release()
	in, last := make([]core.Slot, 2), make([]bool, 2)
	in[p.at], in[1-p.at] = core.Slot{T: t}, c.In[2]
	last[p.at], last[1-p.at] = true, c.Last != nil && c.Last[2]
	sum := core.OpContext{Step: c.Step, Node: p.sum, In: in, Out: c.Out, FrameID: c.FrameID, Iteration: c.Iteration, Scratch: c.Scratch, Pool: c.Pool, Last: last}
	if err := p.plus.Run(&sum); err != nil {
		return core.AtNode(err, p.sum, sum.Describe())
	}
	return nil
}

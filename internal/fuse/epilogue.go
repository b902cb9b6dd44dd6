package fuse

import (
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A cluster that alone reads what a convolution or a product of matrices computes is run
// for each stretch of that as soon as it is computed:
//
//	           memory            the cache                               memory
//	x, w ─▶ Conv2D ─▶ c ─▶ becomes  x, w ─▶ Conv2D c[0:n] ─▶ Add, Relu ─▶ y[0:n]
//	                  _Fused        ─────▶ Conv2D c[n:2n] ─▶ …
//
// The result of the first is computed in the memory of an output of the cluster, which takes
// its place stretch by stretch.

// An epilogue is such a cluster, with what it follows.
type epilogue struct {
	node    *core.Node // what computes stretches
	kernel  *core.PartsKernel
	program *program
	at      int // which input of the program node's output is
	runs    sync.Pool
}

var epilogueDef = core.OpDef{Name: "_FusedEpilogue", Expensive: true, NoGrad: core.NoGradientDefined}

// joinEpilogues puts a node in the place of each such pair.
func joinEpilogues(g *graph.Graph, kernelOf func(*graph.Node) core.Kernel, r *Report) error {
	if len(r.programs) == 0 {
		return nil
	}
	order, err := g.Sorted()
	if err != nil {
		return err
	}
	uses, place, by, gone := g.Uses(), make([]int, len(order)), map[*graph.Node]*graph.Node{}, map[*graph.Node]bool{}
	for i, n := range order {
		place[n.ID] = i
	}
	for _, n := range order {
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		e := epilogueOf(n, r.programs[n], uses, place, kernelOf)
		if e == nil {
			continue
		}
		from := n.In[e.at].Node
		by[n] = e.join(g, from, n)
		if err := g.Add(by[n]); err != nil {
			return err
		}
		gone[n], gone[from] = true, true
		r.replace(n, by[n], core.Compute(e.compute))
	}
	if len(by) == 0 {
		return nil
	}
	g.Keep(func(n *graph.Node) bool { return !gone[n] })
	for _, n := range g.Nodes {
		useProducts(n, by)
	}
	return nil
}

// follows reports whether n by itself may be an epilogue of what nothing else reads.
func (l *levels) follows(n *graph.Node, kernelOf func(*graph.Node) core.Kernel) bool {
	return l.members[n.ID].element != nil && slices.ContainsFunc(n.In, func(e graph.Edge) bool {
		return isParts(e, kernelOf) && len(l.uses[e.Node.ID]) == 1
	})
}

// readsParts reports whether n reads what may be computed in stretches.
func readsParts(n *graph.Node, kernelOf func(*graph.Node) core.Kernel) bool {
	return slices.ContainsFunc(n.In, func(e graph.Edge) bool { return isParts(e, kernelOf) })
}

// isParts reports whether a result may be computed in stretches, and is no product of
// matrices: of what adds to these alone joinProducts takes care.
func isParts(e graph.Edge, kernelOf func(*graph.Node) core.Kernel) bool {
	_, ok := kernelOf(e.Node).(*core.PartsKernel)
	return ok && !smallFor(e) && !e.Node.Def.Has(core.MatrixProduct)
}

// epilogueOf returns n, a cluster with program p, as the epilogue of one of its inputs: of
// the last one in order, so that no other node has to wait longer for it. It returns nil if
// n is none.
func epilogueOf(n *graph.Node, p *program, uses [][]*graph.Node, place []int, kernelOf func(*graph.Node) core.Kernel) *epilogue {
	if p == nil {
		return nil
	}
	folds := slices.ContainsFunc(p.code, func(in instr) bool { return in.fold != nil })
	var e *epilogue
	last := -1
	for k, x := range n.In {
		parts, ok := kernelOf(x.Node).(*core.PartsKernel)
		if ok && (parts.Rows || !folds) && !smallFor(x) && place[x.Node.ID] > last && len(uses[x.Node.ID]) == 1 && p.mayReplace(k, x.Type(), x.Node.OutShape(0), n) {
			e, last = &epilogue{node: &x.Node.Node, kernel: parts, program: p, at: k}, place[x.Node.ID]
		}
	}
	return e
}

// smallFor reports whether x is known to be too small for stretches.
func smallFor(x graph.Edge) bool {
	s := x.Node.OutShape(x.Out)
	return s.Known() && s.NumElements()*x.Type().Size() < leastStretched
}

// mayReplace reports whether an output of a cluster's node n may have the type and, as far
// as is known, the size of input k.
func (p *program) mayReplace(k int, d core.DType, s core.Shape, n *graph.Node) bool {
	for o, t := range n.OutTypes {
		if out := n.OutShape(o); t == d && (!s.Known() || !out.Known() || s.NumElements() == out.NumElements()) {
			return true
		}
	}
	return false
}

// join returns the node that stands for both. Its inputs are those of the first one, and
// what else the cluster reads.
func (e *epilogue) join(g *graph.Graph, from, n *graph.Node) *graph.Node {
	f := &graph.Node{
		Node: core.Node{Name: n.Name, Def: &epilogueDef, Device: n.Device, Attrs: core.Attrs{nodesAttr: append([]string{from.Name + " = " + from.OpName()}, n.Strs(nodesAttr)...)}},
		In:   append(slices.Clone(from.In), slices.Delete(slices.Clone(n.In), e.at, e.at+1)...), Shapes: n.Shapes,
	}
	f.Name = g.Unused(n.Name)
	f.CopyPos(&n.Node)
	// What they are declared to read: a reference variable may be read as a value.
	f.InTypes = append(slices.Clone(from.InTypes), slices.Delete(slices.Clone(n.InTypes), e.at, e.at+1)...)
	f.OutTypes = n.OutTypes
	f.AddControls(from.Control...)
	f.AddControls(n.Control...)
	return f
}

// replace notes that a node stands for a cluster's.
func (r *Report) replace(n, by *graph.Node, k core.Kernel) {
	r.Kernels[&by.Node] = k
	for i := range r.Clusters {
		if c := &r.Clusters[i]; c.Node == n.Name {
			c.Node, c.Nodes = by.Name, by.Strs(nodesAttr)
		}
	}
}

// compute is the kernel of both.
func (e *epilogue) compute(c *core.OpContext) error {
	r, _ := e.runs.Get().(*epilogueRun)
	if r == nil {
		r = new(epilogueRun)
	}
	defer e.release(r)
	e.setFirst(&r.first, c)
	s, err := e.kernel.Shape(&r.first)
	if err != nil {
		return core.AtNode(err, e.node, r.first.Describe())
	}
	r.between.Reuse(e.node.OutTypes[0], s, nil, nil)
	r.setThen(e, c, &r.between)
	pl, err := e.program.plan(&r.then)
	if err != nil {
		return err
	}
	if o, st := pl.replaces(e.at, e.node.OutTypes[0], e.program); o != none {
		return e.together(r, pl, o, st)
	}
	return e.apart(r, c)
}

// An epilogueRun is what one run needs.
type epilogueRun struct {
	first, then core.OpContext
	in          []core.Slot
	last        []bool
	between     core.Tensor // what the cluster reads: a shape only, where nothing is computed apart
}

// release gives r back without what it refers to.
func (e *epilogue) release(r *epilogueRun) {
	clear(r.in)
	r.first.GiveBack()
	*r = epilogueRun{in: r.in[:0], last: r.last[:0]}
	e.runs.Put(r)
}

// setFirst makes f the context in which what the epilogue follows is computed.
func (e *epilogue) setFirst(f, c *core.OpContext) {
	n := len(e.node.InTypes)
	*f = core.OpContext{Step: c.Step, Node: e.node, In: c.In[:n:n], FrameID: c.FrameID, Iteration: c.Iteration, Pool: c.Pool}
}

// setThen makes r.then the context in which the cluster is run, which reads x.
func (r *epilogueRun) setThen(e *epilogue, c *core.OpContext, x *core.Tensor) {
	in := c.In[len(e.node.InTypes):]
	r.in = append(append(append(r.in[:0], in[:e.at]...), core.Slot{T: x}), in[e.at:]...)
	r.then = core.OpContext{Step: c.Step, Node: c.Node, In: r.in, Out: c.Out, FrameID: c.FrameID, Iteration: c.Iteration, Scratch: c.Scratch, Pool: c.Pool}
	if c.Last != nil {
		last := c.Last[len(e.node.InTypes):]
		r.last = append(append(append(r.last[:0], last[:e.at]...), true), last[e.at:]...)
		r.then.Last = r.last
	}
}

// replaces returns the output that takes the place of input v, which has a type, and the
// stage that computes it; none if there is no such output.
func (pl *plan) replaces(v int, d core.DType, p *program) (out, stage int) {
	if pl.apart {
		return none, none
	}
	for o, k := range p.outs {
		at := pl.at[k]
		if at == none || p.code[k].node.OutTypes[0] != d || !slices.Contains(pl.reuse[o], v) {
			continue
		}
		if st := &pl.stages[at]; !st.whole && st.dividesRows(pl.inputs[v]) {
			return o, at
		}
	}
	return none, none
}

// dividesRows reports whether whole rows of a value, along its last axis, are whole rows of the
// stage, which together are as large.
func (st *stage) dividesRows(s core.Shape) bool {
	n := s.NumElements()
	per := n / st.n
	return per*st.n == n && (per == 1 || s[len(s)-1]%per == 0)
}

// leastStretched is how many bytes a result has that is worth stretches: smaller ones stay in
// the second-level cache as a whole. Tests lower it.
var leastStretched = 512 << 10

// together runs a stage of the cluster stretch by stretch, for all of which input e.at is
// where output o is going to be.
func (e *epilogue) together(r *epilogueRun, pl *plan, o, stage int) error {
	p, then := e.program, &r.then
	f := p.frame()
	defer f.release()
	if err := f.allocate(then, p, pl, o); err != nil {
		return err
	}
	for i := range stage {
		p.run(then, &pl.stages[i], f)
	}
	st, z := &pl.stages[stage], then.Out[o].T
	f.memory[e.at] = bytesOf(z)
	if z.NumBytes() < leastStretched {
		e.kernel.Into(&r.first, z, nil)
		p.run(then, st, f)
	} else {
		f.fillRows(st)
		per := z.Len() / st.n
		e.kernel.Into(&r.first, z, func(lo, hi int) { p.runRange(st, f, lo/per, hi/per) })
	}
	for i := stage + 1; i < len(pl.stages); i++ {
		p.run(then, &pl.stages[i], f)
	}
	return nil
}

// apart computes one after the other.
func (e *epilogue) apart(r *epilogueRun, c *core.OpContext) error {
	var out [1]core.Slot
	r.first.Out, r.first.Scratch = out[:], []*core.Tensor{&r.between}
	if err := core.Compute(e.kernel.Compute).Run(&r.first); err != nil {
		return core.AtNode(err, e.node, r.first.Describe())
	}
	defer out[0].T.Release()
	r.setThen(e, c, out[0].T)
	return e.program.compute(&r.then)
}

package fuse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf/core"
)

// The gradient of a weight is a product as large as the weight, which an optimizer reads
// once. It is applied part by part, as it is computed, and never in memory as a whole:
//
//	dY, X ─▶ MatMul ─▶ Identity ─▶ ApplyAdam      becomes   dY, X ─▶ _FusedUpdate
//	           group ┄┄┄▲                                    group's others ┄▲
//
// The gradients of one operation wait for each other, by a group: none is applied before
// the others have been computed (gates.go). So the new node waits for the group's others,
// and the group for the new node.

// An update is a product that is the gradient of a variable, and what applies it.
type update struct {
	product
	apply    *core.Node
	kernel   *core.UpdateKernel
	gradient int // which input of apply the product is
}

var updateDef = core.OpDef{Name: "_FusedUpdate", Stateful: true, Expensive: true, NoGrad: core.NoGradientDefined}

// leastGradient is how many elements a gradient has that is applied in parts: 4 MiB of float32.
// Smaller ones are in a cache when they are read, and were applied faster as a whole when it was
// measured: a product of 784 by 512 and Adam took 0.86 ms so, and 0.94 in parts.
const leastGradient = 1 << 20

// leastGradientKept is the same where memory counts for more than time.
const leastGradientKept = 1 << 14

// applyParts puts a node in the place of each product and what alone applies it.
func applyParts(g *graph.Graph, o Options, r *Report) error {
	all, err := updatesIn(g, o, r)
	if err != nil || len(all) == 0 {
		return err
	}
	by, gone := map[*graph.Node]*graph.Node{}, map[*graph.Node]bool{}
	for _, u := range all {
		f := u.node(g)
		if err := g.Add(f); err != nil {
			return err
		}
		for _, x := range u.nodes() {
			gone[x], by[x] = true, f
		}
		r.Kernels[&f.Node] = core.Compute(u.compute)
		r.Clusters = append(r.Clusters, Cluster{Node: f.Name, Nodes: f.Strs(nodesAttr)})
	}
	g.Keep(func(n *graph.Node) bool { return !gone[n] })
	for _, n := range g.Nodes {
		waitFor(n, by)
	}
	return nil
}

// updatesIn returns the updates that can be nodes.
func updatesIn(g *graph.Graph, o Options, r *Report) (all []*found, err error) {
	kernelOf, least := o.Kernel, leastGradient
	if o.SaveMemory {
		least = leastGradientKept
	}
	if !slices.ContainsFunc(g.Nodes, func(n *graph.Node) bool { return updates(n, kernelOf) != nil }) {
		return nil, nil
	}
	order, err := g.Sorted()
	if err != nil {
		return nil, err
	}
	uses, place, taken := g.Uses(), make([]int, len(order)), map[*graph.Node]bool{}
	in := &standIns{g: g, kernelOf: r.kernels(kernelOf)}
	for i, n := range order {
		place[n.ID] = i
	}
	for _, n := range order {
		if err := g.Budget.Visit(1); err != nil {
			return nil, err
		}
		u := updateOf(n, uses, place, kernelOf, least)
		if u == nil || taken[u.group] {
			continue // two of one group would wait for each other
		}
		if ok, err := u.mayStandIn(in); err != nil || !ok {
			if err != nil {
				return nil, err
			}
			continue
		}
		if all = append(all, u); u.group != nil {
			taken[u.group] = true
		}
	}
	return all, nil
}

// waitFor makes n wait for the nodes that were added.
func waitFor(n *graph.Node, by map[*graph.Node]*graph.Node) {
	if !slices.ContainsFunc(n.Control, func(c *graph.Node) bool { return by[c] != nil }) {
		return
	}
	before := n.Control
	n.Control = nil
	for _, c := range before {
		if f := by[c]; f != nil {
			c = f
		}
		if c != n {
			n.AddControl(c)
		}
	}
}

// found is a product, the Identity that holds it back, if there is one, and what applies it.
type found struct {
	mul, gate, apply *graph.Node
	group            *graph.Node // that gate waits for, of which mul is one; nil: none
	update
}

// nodes returns what the new node stands for.
func (u *found) nodes() []*graph.Node {
	if u.gate == nil {
		return []*graph.Node{u.mul, u.apply}
	}
	return []*graph.Node{u.mul, u.gate, u.apply}
}

// updates returns the kernel of a node that can apply a gradient in parts, nil if it cannot.
func updates(n *graph.Node, kernelOf func(*graph.Node) core.Kernel) *core.UpdateKernel {
	if !n.Def.Stateful || !n.Def.Expensive || len(n.OutTypes) > 0 {
		return nil
	}
	if k, ok := kernelOf(n).(*core.UpdateKernel); ok && k.Parts != nil {
		return k
	}
	return nil
}

// updateOf returns the update that n ends, nil if there is none.
func updateOf(n *graph.Node, uses [][]*graph.Node, place []int, kernelOf func(*graph.Node) core.Kernel, least int) *found {
	k := updates(n, kernelOf)
	if k == nil {
		return nil
	}
	u := &found{mul: n.In[k.Gradient].Node, apply: n}
	if u.mul.Def.Has(core.Passthrough) && !hasRef(u.mul) && len(uses[u.mul.ID]) == 1 {
		u.gate, u.mul = u.mul, u.mul.In[0].Node
	}
	m := u.mul
	times, ok := core.AsCompute(kernelOf(m))
	s := m.OutShape(0)
	if !ok || !m.Def.Has(core.MatrixProduct) || m.OutTypes[0] != core.Float32 || !s.Known() || s.NumElements() < least || !u.ownsProduct(uses) || !u.savesMemory() || !u.inOrder(k, place) {
		return nil
	}
	u.update = update{apply: &n.Node, kernel: k, gradient: k.Gradient,
		product: product{mul: &m.Node, times: times, transA: m.Bool("transpose_a"), transB: m.Bool("transpose_b")}}
	return u
}

// ownsProduct reports whether nothing but u reads the product, and finds the group.
func (u *found) ownsProduct(uses [][]*graph.Node) bool {
	reads := 0
	for _, x := range uses[u.mul.ID] {
		switch {
		case x == u.gate || u.gate == nil && x == u.apply:
			reads++
		case u.gate != nil && (u.group == nil || u.group == x) && onlyWaits(x) && slices.Contains(u.gate.Control, x):
			u.group = x
		default:
			return false
		}
	}
	return reads == 1
}

// savesMemory reports whether the gradient is not smaller than the activations that it is
// computed from, as far as sizes are known. Those are kept until the gradients of the group
// have been computed, and could be given back before, were this one computed first.
func (u *found) savesMemory() bool {
	x := u.mul.In[0].Node.OutShape(u.mul.In[0].Out)
	return u.group == nil || !x.Known() || x.NumElements() <= u.mul.OutShape(0).NumElements()
}

// inOrder reports whether the new node may stand right before the first node that waits for
// the product: all that it waits for comes before that. So the order of the graph stays
// one, whatever has been replaced before.
func (u *found) inOrder(k *core.UpdateKernel, place []int) bool {
	limit := place[u.mul.ID]
	switch {
	case u.group != nil:
		limit = place[u.group.ID]
	case u.gate != nil:
		limit = place[u.gate.ID]
	}
	before := func(n *graph.Node) bool { return place[n.ID] < limit }
	for i, e := range u.apply.In {
		if i != k.Gradient && !before(e.Node) {
			return false
		}
	}
	for _, c := range u.apply.Control {
		if !before(c) {
			return false
		}
	}
	if u.gate == nil {
		return true
	}
	return !slices.ContainsFunc(u.gate.Control, func(c *graph.Node) bool { return c != u.group && !before(c) })
}

// mayStandIn reports whether the group, if there is one, may wait for all that the new node needs.
func (u *found) mayStandIn(in *standIns) (bool, error) {
	if u.group == nil {
		return true, nil
	}
	waits := slices.DeleteFunc(slices.Concat(u.apply.Control, u.gate.Control), func(c *graph.Node) bool { return c == u.group })
	return in.gives(u.group, slices.Delete(slices.Clone(u.apply.In), u.gradient, u.gradient+1), waits)
}

// node returns the new node. Its inputs are the operands of the product, and those of what
// applies it without the gradient.
func (u *found) node(g *graph.Graph) *graph.Node {
	var names []string
	for _, n := range u.nodes() {
		names = append(names, n.Name+" = "+n.OpName())
	}
	n := &graph.Node{
		Node: core.Node{Name: g.Unused(u.apply.Name + "/fused"), Def: &updateDef, Device: u.apply.Device, Attrs: core.Attrs{nodesAttr: names}},
		In:   append([]graph.Edge{u.mul.In[0], u.mul.In[1]}, slices.Delete(slices.Clone(u.apply.In), u.gradient, u.gradient+1)...),
	}
	n.CopyPos(&u.apply.Node)
	n.InTypes = append(slices.Clone(u.mul.InTypes), slices.Delete(slices.Clone(u.apply.InTypes), u.gradient, u.gradient+1)...)
	n.AddControls(u.mul.Control...)
	n.AddControls(u.apply.Control...)
	if u.gate != nil {
		u.await(n, u.gate.Control)
	}
	if u.group != nil {
		u.await(n, u.group.Control)
	}
	return n
}

// await makes the new node wait for others, but not for what waits for it.
func (u *found) await(n *graph.Node, controls []*graph.Node) {
	for _, c := range controls {
		if c != u.group && c != u.mul {
			n.AddControl(c)
		}
	}
}

// compute is the kernel. What does not fit is computed as by the nodes one after the other.
func (u *update) compute(c *core.OpContext) error {
	g, ok := u.gemm(c.Input(0).Shape(), c.Input(1).Shape())
	if !ok || !gemm.HasParts(g) {
		return u.apart(c)
	}
	a, b := core.Data[float32](c.Input(0)), core.Data[float32](c.Input(1))
	apply := u.context(c, core.Slot{T: core.TensorOf(core.Float32, core.Shape{g.M, g.N}, nil)})
	err := u.kernel.Parts(apply, core.Shape{g.M, g.N}, func(worker func() core.UpdatePart) {
		gemm.Parts(c.ParallelFor, g, a, b, func() func(at int, part []float32) { return worker() })
	})
	if err != nil {
		return core.AtNode(err, u.apply, apply.Describe())
	}
	return nil
}

// context returns what apply runs in.
func (u *update) context(c *core.OpContext, gradient core.Slot) *core.OpContext {
	in := slices.Insert(slices.Clone(c.In[2:]), u.gradient, gradient)
	return &core.OpContext{Step: c.Step, Node: u.apply, In: in, FrameID: c.FrameID, Iteration: c.Iteration, Pool: c.Pool}
}

// apart computes the product, and then applies it.
func (u *update) apart(c *core.OpContext) error {
	var out [1]core.Slot
	var header core.Tensor
	mul := core.OpContext{Step: c.Step, Node: u.mul, In: c.In[:2:2], Out: out[:], FrameID: c.FrameID, Iteration: c.Iteration, Scratch: []*core.Tensor{&header}, Pool: c.Pool}
	if err := u.times.Run(&mul); err != nil {
		return core.AtNode(err, u.mul, mul.Describe())
	}
	defer out[0].T.Release()
	apply := u.context(c, out[0])
	if err := core.Compute(u.kernel.Compute).Run(apply); err != nil {
		return core.AtNode(err, u.apply, apply.Describe())
	}
	return nil
}

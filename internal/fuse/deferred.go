package fuse

import (
	"maps"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

// A loop that adds up products, and reads the sum only when it has ended, need not add
// each at once: so are the gradients of weights computed. Operands are kept for some
// iterations, and their products are then added in one go, which several threads share
// better than one small product after the other, and for which the sum is in their
// caches once. Each element is the same sum in the same order.
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

const (
	// mostKept pairs of operands are kept.
	mostKept = 16
	// mostBytes of operands are kept, so that they are still in a cache.
	mostBytes = 2 << 20
	// sharedFlops are enough for threads to share a single product well.
	sharedFlops = 32 << 20
)

// sums is a sum to which products are still to be added. It belongs to the iteration of
// the loop that has its handle; mu guards it against the end of the step.
type sums struct {
	mu    sync.Mutex
	total *core.Tensor // nil when closed
	g     gemm.Gemm
	a, b  []*core.Tensor // operands of products that are to be added
	bytes int            // of them
}

var _ = resource.Declare[*sums]("gorge::Sums")

// Close gives up all memory.
func (s *sums) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
	if s.total != nil {
		s.total.Release()
		s.total = nil
	}
}

// HeldMemory tells, for reports, what the sum and its operands hold.
func (s *sums) HeldMemory() (kind string, bytes int) {
	if s.mu.TryLock() {
		defer s.mu.Unlock()
		if bytes = s.bytes; s.total != nil {
			bytes += s.total.HeldBytes()
		}
	}
	return "sums", bytes
}

// drop forgets the operands.
func (s *sums) drop() {
	for i := range s.a {
		s.a[i].Release()
		s.b[i].Release()
	}
	s.a, s.b, s.bytes = s.a[:0], s.b[:0], 0
}

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

var sumsMade atomic.Int64

// beginSum makes input 0 a sum, which lives no longer than the step.
func beginSum(c *core.OpContext) error {
	s := &sums{total: c.Input(0).Share()}
	h := core.ResourceHandle{Name: "sum_" + strconv.FormatInt(sumsMade.Add(1), 10), Object: s}
	if h.Container = c.Container(); h.Container != "" && c.Resources != nil {
		if err := resource.Create(c.Resources, h.Container, h.Name, s); err != nil {
			s.Close()
			return err
		}
	}
	c.Set(0, core.HandleTensor(h))
	return nil
}

// sumAt returns the sum that input i holds.
func sumAt(c *core.OpContext, i int) *sums {
	s, _ := c.Input(i).Handles()[0].Object.(*sums)
	return s
}

// deferred is the kernel of a pair whose result is only read after the loop.
func (p *product) deferred(c *core.OpContext) error {
	s := sumAt(c, 2)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total == nil {
		return core.Errorf(core.Canceled, "the step has ended")
	}
	if !p.keep(s, c) {
		if err := p.flush(s, c); err != nil {
			return err
		}
		if err := p.addNow(s, c); err != nil {
			return err
		}
	} else if len(s.a) == mostKept || s.bytes >= mostBytes {
		if err := p.flush(s, c); err != nil {
			return err
		}
	}
	c.Forward(2, 0)
	return nil
}

// keep puts the operands by, if their product can be added later as well as now.
func (p *product) keep(s *sums, c *core.OpContext) bool {
	a, b := c.Input(0), c.Input(1)
	g, ok := p.gemm(a.Shape(), b.Shape())
	g.Accumulate = true
	t := s.total.Shape()
	switch {
	case !ok || c.Container() == "" || len(t) != 2 || t[0] != g.M || t[1] != g.N || len(s.a) > 0 && s.g != g:
		return false
	case 2*g.M*g.N*g.K >= sharedFlops || a.NumBytes()+b.NumBytes() >= mostBytes/2:
		return false
	case a.DType() == core.Float32 && !gemm.AddsSums[float32](g) || a.DType() == core.Float64 && !gemm.AddsSums[float64](g):
		return false
	}
	s.g, s.a, s.b = g, append(s.a, a.Share()), append(s.b, b.Share())
	s.bytes += a.NumBytes() + b.NumBytes()
	return true
}

// addNow adds a product at once.
func (p *product) addNow(s *sums, c *core.OpContext) error {
	var out [1]core.Slot
	var header core.Tensor
	now := core.OpContext{Step: c.Step, Node: c.Node, In: []core.Slot{c.In[0], c.In[1], {T: s.total}}, Out: out[:], FrameID: c.FrameID, Iteration: c.Iteration, Scratch: []*core.Tensor{&header}, Pool: c.Pool, Last: []bool{false, false, true}}
	if err := p.compute(&now); err != nil {
		return err
	}
	old := s.total
	s.total = out[0].T.Share()
	out[0].T.Release()
	old.Release()
	return nil
}

// flush adds what has been put by.
func (p *product) flush(s *sums, c *core.OpContext) error {
	if len(s.a) == 0 {
		return nil
	}
	if err := s.own(c); err != nil {
		return err
	}
	if s.total.DType() == core.Float32 {
		addKept[float32](s, c)
	} else {
		addKept[float64](s, c)
	}
	s.drop()
	return nil
}

// own makes the total memory that nothing else reads.
func (s *sums) own(c *core.OpContext) error {
	if s.total.Buffer().Sole() {
		return nil
	}
	t, err := c.Temp(s.total.DType(), s.total.Shape())
	if err != nil {
		return err
	}
	to, from := t.Buffer().Bytes(), s.total.Buffer().Bytes()
	c.ParallelFor(len(to), 4*kernel.ElementGrain, func(lo, hi int) { copy(to[lo:hi], from[lo:hi]) })
	s.total.Release()
	s.total = t
	return nil
}

func addKept[T interface{ float32 | float64 }](s *sums, c *core.OpContext) {
	a, b := make([][]T, len(s.a)), make([][]T, len(s.a))
	for i := range a {
		a[i], b[i] = core.Data[T](s.a[i]), core.Data[T](s.b[i])
	}
	gemm.AddAll(c.ParallelFor, s.g, core.Data[T](s.total), a, b)
}

// ended is the kernel that turns a sum into its tensor.
func (p *product) ended(c *core.OpContext) error {
	s, h := sumAt(c, 0), c.Input(0).Handles()[0]
	s.mu.Lock()
	if s.total == nil {
		s.mu.Unlock()
		return core.Errorf(core.Canceled, "the step has ended")
	}
	err := p.flush(s, c)
	if err == nil {
		c.Set(0, s.total.Share())
	}
	s.mu.Unlock()
	if h.Container != "" && c.Resources != nil {
		_ = resource.Delete[*sums](c.Resources, h.Container, h.Name) // it may have been the step's end
	} else {
		s.Close()
	}
	return err
}

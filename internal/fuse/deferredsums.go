package fuse

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	// mostKept pairs of operands are kept.
	mostKept = 16
	// mostBytes of operands are kept, so that they are still in a cache.
	mostBytes = 2 << 20
	// lentMore is how many times as much is kept while other threads add what was kept before:
	// they may be held up.
	lentMore = 3
	// lentFlops are worth handing to another thread.
	lentFlops = 4 << 20
	// sharedFlops are enough for threads to share a single product well.
	sharedFlops = 32 << 20
)

// sums is a sum to which products are still to be added. It belongs to the iteration of
// the loop that has its handle; mu guards it against the end of the step.
//
// Other threads add, if there are any, while the loop goes on: its iterations follow each
// other, and leave little else for a second thread to do.
type sums struct {
	mu    sync.Mutex
	total *core.Tensor // nil when closed
	g     gemm.Gemm
	kept  factors              // of products that are to be added
	lent  factors              // of those that other threads add
	ended func(wait bool) bool // whether they have done so; nil: there are none
}

// factors are the operands of some products of one kind.
type factors struct {
	a, b  []*core.Tensor
	bytes int
}

var _ = resource.Declare[*sums]("gorge::Sums")

// Close gives up all memory.
func (s *sums) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.await() // the step has failed by now
	s.kept.drop()
	if s.total != nil {
		s.total.Release()
		s.total = nil
	}
}

// HeldMemory tells, for reports, what the sum and its operands hold.
func (s *sums) HeldMemory() (kind string, bytes int) {
	if s.mu.TryLock() {
		defer s.mu.Unlock()
		if bytes = s.kept.bytes + s.lent.bytes; s.total != nil {
			bytes += s.total.HeldBytes()
		}
	}
	return "sums", bytes
}

// add keeps the operands of one more product.
func (o *factors) add(a, b *core.Tensor) {
	o.a, o.b = append(o.a, a.Share()), append(o.b, b.Share())
	o.bytes += a.NumBytes() + b.NumBytes()
}

// drop forgets the operands.
func (o *factors) drop() {
	for i := range o.a {
		o.a[i].Release()
		o.b[i].Release()
	}
	o.a, o.b, o.bytes = o.a[:0], o.b[:0], 0
}

// full reports whether enough is kept to be added. While other threads are still at what
// was kept before more may come.
func (s *sums) full() bool {
	most := 1
	if s.ended != nil && !s.ended(false) {
		most = lentMore
	}
	return len(s.kept.a) >= most*mostKept || s.kept.bytes >= most*mostBytes
}

// await returns when no other thread adds any more.
func (s *sums) await() (err error) {
	if s.ended == nil {
		return nil
	}
	defer core.Recover(&err, "adding products")
	ended := s.ended
	s.ended = nil
	defer s.lent.drop()
	ended(true)
	return nil
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
		if err := s.flush(c); err != nil {
			return err
		}
		if err := p.addNow(s, c); err != nil {
			return err
		}
	} else if s.full() {
		if err := s.lend(c); err != nil {
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
	case !ok || c.Container() == "" || len(t) != 2 || t[0] != g.M || t[1] != g.N || s.busy() && s.g != g:
		return false
	case 2*g.M*g.N*g.K >= sharedFlops || a.NumBytes()+b.NumBytes() >= mostBytes/2:
		return false
	case a.DType() == core.Float32 && !gemm.AddsSums[float32](g) || a.DType() == core.Float64 && !gemm.AddsSums[float64](g):
		return false
	}
	s.g = g
	s.kept.add(a, b)
	return true
}

// busy reports whether there are products that have not been added.
func (s *sums) busy() bool { return len(s.kept.a) > 0 || s.ended != nil }

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
func (s *sums) flush(c *core.OpContext) error {
	if err := s.await(); err != nil || len(s.kept.a) == 0 {
		return err
	}
	if err := s.own(c); err != nil {
		return err
	}
	s.addKept(c.ParallelFor)
	s.kept.drop()
	return nil
}

// lend has other threads add what has been put by, if there are any.
func (s *sums) lend(c *core.OpContext) error {
	if c.Begin == nil || !s.addsApart() || 2*s.g.M*s.g.N*s.g.K*len(s.kept.a) < lentFlops {
		return s.flush(c)
	}
	if err := s.await(); err != nil {
		return err
	}
	if err := s.own(c); err != nil {
		return err
	}
	s.addKept(func(n, grain int, f func(lo, hi int)) {
		if s.ended = c.Begin(n, grain, f); s.ended == nil {
			c.ParallelFor(n, grain, f)
		}
	})
	s.lent, s.kept = s.kept, s.lent
	if s.ended == nil {
		s.lent.drop()
	}
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

// addKept adds the products of the operands that are kept, by par.
func (s *sums) addKept(par kernel.Par) {
	if s.total.DType() == core.Float32 {
		addAll[float32](s, par)
	} else {
		addAll[float64](s, par)
	}
}

func addAll[T interface{ float32 | float64 }](s *sums, par kernel.Par) {
	a, b := make([][]T, len(s.kept.a)), make([][]T, len(s.kept.a))
	for i := range a {
		a[i], b[i] = core.Data[T](s.kept.a[i]), core.Data[T](s.kept.b[i])
	}
	gemm.AddAll(par, s.g, core.Data[T](s.total), a, b)
}

// addsApart reports whether addKept may return while products are being added.
func (s *sums) addsApart() bool {
	if s.total.DType() == core.Float32 {
		return gemm.AddsApart[float32](s.g)
	}
	return gemm.AddsApart[float64](s.g)
}

// ended is the kernel that turns a sum into its tensor.
func (p *product) ended(c *core.OpContext) error {
	s, h := sumAt(c, 0), c.Input(0).Handles()[0]
	s.mu.Lock()
	if s.total == nil {
		s.mu.Unlock()
		return core.Errorf(core.Canceled, "the step has ended")
	}
	err := s.flush(c)
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

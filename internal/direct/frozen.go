package direct

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
)

// frozen is a graph that has the values of variables as constants. Constants share the
// memory of variables, and cells hold it: a write of a variable gives it other memory.
// That tells whether the graph is current.
type frozen struct {
	graph *step.Graph
	cells []cell
	homes []*home
	spare *atomic.Int64 // bytes that computed constants take beside the variables; 0 once they are given back
	runs  atomic.Int64  // steps that have used it
}

// cell is a variable and the value that the graph has.
type cell struct {
	ref   *core.Ref
	value *core.Tensor
}

// home counts the writes to the variables of one device.
type home struct {
	m    *resource.Manager
	seen atomic.Int64 // the count at which all values were current
}

// current reports whether the variables have the values that f has. A write that ended
// before is seen. It costs a load as long as nothing is written to any variable. f may
// be nil.
func (f *frozen) current() bool {
	if f == nil {
		return false
	}
	for _, h := range f.homes {
		if h.m.Writes() != h.seen.Load() {
			return f.compare()
		}
	}
	return true
}

// compare is current after writes, perhaps to other variables. The counts are read
// before the values: what is written meanwhile is seen next time.
func (f *frozen) compare() bool {
	counts := make([]int64, len(f.homes))
	for i, h := range f.homes {
		counts[i] = h.m.Writes()
	}
	for i := range f.cells {
		if !f.cells[i].ref.Holds(f.cells[i].value) {
			return false
		}
	}
	for i, h := range f.homes {
		h.seen.Store(counts[i])
	}
	return true
}

// freezer takes the values of variables for a graph.
type freezer struct {
	ctx  context.Context
	rt   *step.Runtime
	out  *frozen
	seen map[*graph.Node]*core.Tensor
	size int // bytes of the values
}

// value returns the value of the variable that a node stands for, nil if it has to be
// read by each step.
func (f *freezer) value(n *graph.Node) *core.Tensor {
	if t, ok := f.seen[n]; ok {
		return t
	}
	f.seen[n] = nil
	r, err := f.rt.Variable(f.ctx, n)
	if err != nil || r == nil {
		return nil
	}
	f.live(r.Home)
	t := r.Load()
	if t == nil || t.Buffer() == nil {
		return nil // none yet, or one of Go objects, whose memory does not tell writes
	}
	f.size += t.NumBytes()
	f.out.cells = append(f.out.cells, cell{r, t})
	f.seen[n] = t
	return t
}

// live notes the count of a device's writes before the first value is read.
func (f *freezer) live(m *resource.Manager) {
	for _, h := range f.out.homes {
		if h.m == m {
			return
		}
	}
	h := &home{m: m}
	h.seen.Store(m.Writes())
	f.out.homes = append(f.out.homes, h)
}

// What constants may take that are computed of variables, which stay in memory: of all
// frozen graphs of a session together. Small models may take maxSpare. The larger the
// variables are, the less is left of that, down to a part of the variables: beside them
// the memory has to hold the graph and what runs compute, too. Small weights come first,
// so that large models keep most of what they gain.
const (
	maxSpare  = 32 << 20
	lossRate  = 3   // a third of the variables reduces maxSpare,
	spareRate = 128 // a 128th of them is left in any case
)

// garbageRate is the part of large variables, its inverse, that steps may leave to the collector.
const garbageRate = 256

// spareFor returns how many bytes computed constants may take beside variables of size
// bytes.
func spareFor(size int) int { return max(maxSpare-size/lossRate, size/spareRate) }

// freeze builds the graph for a signature with the values of variables as constants. It
// returns nil if there are none.
func (c *graphs) freeze(b *graph.Budget, sig pass.Signature, log func(string)) (*frozen, error) {
	g, err := c.needed(b, sig, inFrame)
	if err != nil {
		return nil, err
	}
	f := &freezer{ctx: b.Context(), rt: c.rt, out: &frozen{spare: &atomic.Int64{}}, seen: map[*graph.Node]*core.Tensor{}}
	if err := pass.Freeze(g, f.value); err != nil || len(f.out.cells) == 0 {
		return nil, err
	}
	o := c.cfg.Build
	o.LogFusion, o.FoldNorms = log, c.cfg.FoldNorms
	spare := max(0, spareFor(f.size)-int(c.folded.Load()))
	left := spare
	o.Spare = &left
	if f.out.graph, err = c.rt.Build(g, o); err != nil {
		return nil, err
	}
	c.take(f.out, int64(spare-left))
	// The collector runs when the heap has doubled: it would leave what planning does beside what steps need.
	if f.size >= memory.Much() {
		if err := c.forget(b); err != nil {
			c.drop(f.out)
			return nil, err
		}
		c.rt.Pool.Save()
		c.rt.Pool.Trim()
		debug.FreeOSMemory()
		c.sweeper.Store(memory.NewSweeper(f.size / garbageRate))
	}
	return f.out, nil
}

// sweep collects what steps have left if that is much beside large variables. The caller is counted by c.steps.
func (c *graphs) sweep() {
	if s := c.sweeper.Load(); s != nil && s.Due() {
		c.steps.Go(s.Sweep)
	}
}

// take counts the bytes of f's constants until drop is called, or until f is garbage: a
// program drops a Callable without a call.
func (c *graphs) take(f *frozen, bytes int64) {
	if bytes == 0 {
		return
	}
	c.folded.Add(bytes)
	f.spare.Store(bytes)
	runtime.AddCleanup(f, c.giveBack, f.spare)
}

func (c *graphs) giveBack(bytes *atomic.Int64) { c.folded.Add(-bytes.Swap(0)) }

// drop notes that f is not used any more.
func (c *graphs) drop(f *frozen) {
	if f != nil {
		c.giveBack(f.spare)
	}
}

package rowblocks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/liveness"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/core"
)

// Regions are what Rewrite has found: the nodes that stand for them, and their kernels.
type Regions struct {
	Kernels map[*core.Node]core.Kernel
	text    strings.Builder
}

// String lists the nodes of each region.
func (s *Regions) String() string { return s.text.String() }

const (
	// mostRegions, and mostSeeds for each of them, bound what is tried.
	mostRegions = 8
	mostSeeds   = 32
	// someRows stands for as many rows as a step will have, where the graph does not say.
	someRows = 256
)

// leastSaved is how many bytes a region keeps from memory at least.
var leastSaved = 1 << 20

// Rewrite puts a node in the place of each region of g, the part of one device, that
// keeps enough from memory. kernel returns the kernel of a node, nil if it has none.
func Rewrite(g *graph.Graph, kernel func(*graph.Node) core.Kernel) (found *Regions, err error) {
	defer core.Recover(&err, "the search for blocks of rows")
	found = &Regions{Kernels: map[*core.Node]core.Kernel{}}
	if !slices.ContainsFunc(g.Nodes, begins) {
		return found, nil
	}
	known := func(n *graph.Node) core.Kernel {
		if k := found.Kernels[&n.Node]; k != nil {
			return k
		}
		return kernel(n)
	}
	for range mostRegions {
		r, err := best(g, known)
		if err != nil || r == nil {
			return found, err
		}
		if err := r.replace(found); err != nil {
			return nil, err
		}
		if err := pass.Check(g); err != nil {
			return nil, core.Errorf(core.Internal, "pass %s (it can be disabled) failed: %s", pass.RowBlocks, core.AsError(err).Message())
		}
	}
	return found, nil
}

// begins reports whether a region may begin at n, or at what n reads.
func begins(n *graph.Node) bool { return n.Def.Has(core.MatrixProduct) }

// A finder knows a graph as it is before a region is replaced.
type finder struct {
	g      *graph.Graph
	order  []*graph.Node
	place  []int // by node ID: where it is in order
	uses   [][]*graph.Node
	live   *liveness.Sets
	kernel func(*graph.Node) core.Kernel
}

func newFinder(g *graph.Graph, kernel func(*graph.Node) core.Kernel) (*finder, error) {
	order, err := g.Sorted()
	if err != nil {
		return nil, err
	}
	live, err := liveness.Find(g, order, func(n *graph.Node) bool {
		if n.Role() == core.Constant {
			return false
		}
		_, ok := core.AsCompute(kernel(n))
		return !ok
	})
	if err != nil {
		return nil, err
	}
	f := &finder{g: g, order: order, place: make([]int, len(order)), uses: g.Uses(), live: live, kernel: kernel}
	for i, n := range order {
		f.place[n.ID] = i
	}
	return f, nil
}

// best returns the region that keeps most from memory, nil if none keeps enough.
func best(g *graph.Graph, kernel func(*graph.Node) core.Kernel) (*region, error) {
	f, err := newFinder(g, kernel)
	if err != nil {
		return nil, err
	}
	var most *region
	for _, n := range f.seeds() {
		r := f.regionFrom(n)
		if r == nil {
			continue
		}
		if err := r.grow(); err != nil {
			return nil, err
		}
		if r.saved() >= leastSaved && (most == nil || r.saved() > most.saved()) {
			most = r
		}
	}
	return most, nil
}

// seeds returns the nodes that regions are tried from, the largest products first. Where such
// a product reads what is joined of others, the region begins there.
func (f *finder) seeds() []*graph.Node {
	var all []*graph.Node
	for _, n := range f.order {
		if f.live.Frame(n) == 0 && begins(n) && !n.Bool("transpose_a") {
			all = append(all, n)
		}
	}
	slices.SortStableFunc(all, func(a, b *graph.Node) int { return bytesOf(b, 0, someRows) - bytesOf(a, 0, someRows) })
	all = all[:min(len(all), mostSeeds)]
	for _, n := range all[:len(all):len(all)] {
		if x := n.In[0].Node; x.OpName() == concat && !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	return all
}

// bytesOf returns the size of a value. Where the graph does not say how many rows it has,
// it has so many; other dimensions that are not known count as one.
func bytesOf(n *graph.Node, out, rows int) int {
	const most = 1 << 40
	size := max(n.OutTypes[out].Size(), 1)
	for i, d := range n.OutShape(out) {
		if i == 0 && d < 0 {
			d = rows
		}
		if d > 0 {
			size *= min(d, most/size) // most at most, whatever the dimensions are
		}
	}
	return size
}

// saved returns how many bytes of values the region keeps from memory, less those that it has
// in memory as a whole. What elementwise ops and views compute takes the memory of what they read.
func (r *region) saved() (bytes int) {
	for _, n := range r.nodes {
		inPlace := n.Def.Has(core.Elementwise|core.Rowwise) || r.kinds[n] == view
		for o := range n.OutTypes {
			switch {
			case r.kinds[n] == sum || r.leaves(n, o):
				bytes -= bytesOf(n, o, someRows)
			case !inPlace:
				bytes += bytesOf(n, o, someRows)
			}
		}
	}
	return bytes
}

// note lists the nodes of a region.
func (s *Regions) note(n *graph.Node, r *region) {
	fmt.Fprintf(&s.text, "%s: %d nodes in blocks of rows, which keep %d bytes from memory\n", n.Name, len(r.nodes), r.saved())
	for _, m := range r.nodes {
		fmt.Fprintf(&s.text, "\t%s = %s\n", m.Name, m.OpName())
	}
}

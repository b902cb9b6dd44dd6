package pass

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// maxKeptFilters is how many bytes of filters kernels of a graph may keep something of, which
// takes about twice as many bytes.
const maxKeptFilters = 18 << 20

// MarkConstantFilters tells the kernels of convolutions that their filters are constants, by
// core.ConstantFilter: they may keep what they compute of them. TensorFlow's ops for
// oneDNN have such an attribute, is_filter_const. Small filters come first, those of 1×1 are left out:
// kernels take them as they are. g is the part of one device.
func MarkConstantFilters(g *graph.Graph) error {
	var nodes []*graph.Node
	for _, n := range g.Nodes {
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		if n.Def.Has(core.Convolution) && len(n.In) > 1 {
			nodes = append(nodes, n)
		}
	}
	slices.SortStableFunc(nodes, func(a, b *graph.Node) int { return cmp.Compare(filterBytes(a), filterBytes(b)) })
	left := maxKeptFilters
	for _, n := range nodes {
		size := filterBytes(n)
		left -= size
		markFilter(n, size > 0 && left >= 0)
	}
	return nil
}

// filterBytes is the size of the constant that is the filters of n, 0 if it is none or of 1×1.
func filterBytes(n *graph.Node) int {
	t := constantOf(n.In[1])
	if t == nil || t.Rank() < 2 || t.Shape()[:t.Rank()-2].NumElements() < 2 {
		return 0
	}
	return t.NumBytes()
}

// markFilter sets whether kernels may keep something of the filters of n. Graphs of clients may say anything.
func markFilter(n *graph.Node, constant bool) {
	if constant == n.Bool(core.ConstantFilter) {
		return
	}
	n.Attrs = maps.Clone(n.Attrs)
	n.Attrs[core.ConstantFilter] = constant
}

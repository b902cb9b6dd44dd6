package pass

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// What is kept of filters takes about twice their memory. A graph may keep it of filters of
// maxKeptFilters bytes, if its constants are not of memory.Much; the more they exceed that, the less,
// and nothing from half as much again on. Of what little large models could keep, small filters would come first, which
// large images make up for.
const maxKeptFilters = 18 << 20

// keptFilters returns of how many bytes of filters something may be kept beside constants of
// size bytes.
func keptFilters(size int) int {
	much := memory.Much()
	most := max(1, much/2)
	excess := min(max(0, size-much), most)
	return maxKeptFilters - int(maxKeptFilters*float64(excess)/float64(most))
}

// MarkConstantFilters tells the kernels of convolutions that their filters are constants, by
// core.ConstantFilter: they may keep what they compute of them. TensorFlow's ops for
// oneDNN have such an attribute, is_filter_const. Small filters come first, those of 1×1 are left out:
// kernels take them as they are. g is the part of one device.
func MarkConstantFilters(g *graph.Graph) error {
	var nodes []*graph.Node
	constants := 0
	for _, n := range g.Nodes {
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		if t := n.TensorAttr("value"); n.Role() == core.Constant && t != nil {
			constants += t.NumBytes()
		}
		if n.Def.Has(core.Convolution) && len(n.In) > 1 {
			nodes = append(nodes, n)
		}
	}
	slices.SortStableFunc(nodes, func(a, b *graph.Node) int { return cmp.Compare(filterBytes(a), filterBytes(b)) })
	left := keptFilters(constants)
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

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
// maxKeptFilters bytes, if its constants and the variables that it reads are not of memory.Much; the more they
// exceed that, the less, and nothing from half as much again on. Of what little large models could keep, small filters
// would come first, which large images make up for.
const maxKeptFilters = 18 << 20

// keptFilters returns of how many bytes of filters something may be kept beside constants and variables of
// size bytes.
func keptFilters(size int) int {
	much := memory.Much()
	most := max(1, much/2)
	excess := min(max(0, size-much), most)
	return maxKeptFilters - int(maxKeptFilters*float64(excess)/float64(most))
}

// MarkConstantFilters tells the kernels of convolutions that their filters are constants, or variables
// that g does not write, by core.ConstantFilter: they may keep what they compute of them. TensorFlow's ops for
// oneDNN have such an attribute, is_filter_const. Small filters come first, those of 1×1 are left out:
// kernels take them as they are. g is the part of one device.
func MarkConstantFilters(g *graph.Graph) error {
	var nodes []*graph.Node
	m := filterMarker{writes: slices.ContainsFunc(g.Nodes, mayWrite)}
	values := 0
	for _, n := range g.Nodes {
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		if t := n.TensorAttr("value"); n.Role() == core.Constant && t != nil {
			values += t.NumBytes()
		}
		values += bytesHeld(n)
		if n.Def.Has(core.Convolution) && len(n.In) > 1 {
			nodes = append(nodes, n)
		}
	}
	slices.SortStableFunc(nodes, func(a, b *graph.Node) int { return cmp.Compare(m.filterBytes(a), m.filterBytes(b)) })
	left := keptFilters(values)
	for _, n := range nodes {
		size := m.filterBytes(n)
		left -= size
		markFilter(n, size > 0 && left >= 0)
	}
	return nil
}

// filterMarker finds filters that rarely change.
type filterMarker struct {
	writes bool // the graph may write variables
}

// bytesHeld is the size of the variable that n holds, if that is known; 0 for other nodes.
func bytesHeld(n *graph.Node) int {
	if !n.Def.Has(core.HoldsVariable) {
		return 0
	}
	return max(0, n.ShapeAttr("shape").NumElements()) * n.Type("dtype").Size()
}

// filterBytes is the size of the filters of n if they are a constant, or a variable that is only read; 0 if
// they are not, or of 1×1, or of a shape that is not known.
func (m *filterMarker) filterBytes(n *graph.Node) int {
	s := m.filterShape(n.In[1])
	if len(s) < 2 || s[:len(s)-2].NumElements() < 2 {
		return 0
	}
	return max(0, s.NumElements()) * n.InTypes[1].Size()
}

// filterShape is the shape of x, nil if it may change from step to step.
func (m *filterMarker) filterShape(x graph.Edge) core.Shape {
	n := x.Node
	for n.Def.Has(core.Passthrough) && len(n.In) == 1 {
		n = n.In[0].Node
	}
	if t := constantOf(graph.Edge{Node: n}); t != nil {
		return t.Shape()
	}
	if n.Def.Has(core.ReadsVariable) {
		n = n.In[0].Node
	}
	if m.writes || !n.Def.Has(core.HoldsVariable) {
		return nil
	}
	return n.ShapeAttr("shape")
}

// markFilter sets whether kernels may keep something of the filters of n. Graphs of clients may say anything.
func markFilter(n *graph.Node, constant bool) {
	if constant == n.Bool(core.ConstantFilter) {
		return
	}
	n.Attrs = maps.Clone(n.Attrs)
	n.Attrs[core.ConstantFilter] = constant
}

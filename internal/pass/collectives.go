package pass

import (
	"cmp"
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// OrderCollectives makes the CollectiveReduces of each device that could run at
// once run one after the other, those of greater instances first: what
// TensorFlow does for collective_deterministic_sequential_execution. It adds the
// control edges that TensorFlow adds, where its own let the graph run: those that
// would close a cycle are turned around, and reductions within conditionals and
// loops are left out, which what waits for them might wait for in vain. g is placed.
func OrderCollectives(g *graph.Graph) error {
	byDevice := map[string][]*reduction{}
	order, err := g.Sorted()
	if err != nil {
		return err
	}
	for _, r := range reductions(order) {
		byDevice[r.node.Device] = append(byDevice[r.node.Device], r)
	}
	for device, all := range byDevice {
		if twice, ok := repeated(all); ok {
			return core.Errorf(core.Internal, "Unexpected same instance_key %d on 2 nodes with the same device %s", twice, device)
		}
		queueUp(sequence(all))
	}
	return nil
}

// A reduction is a CollectiveReduce that always runs.
type reduction struct {
	node     *graph.Node
	instance int
	after    map[int]bool // instances that it depends on
}

// follows reports whether r comes after o, which is another one of its device,
// in any order.
func (r *reduction) follows(o *reduction) bool { return r.after[o.instance] }

func (r *reduction) concurrent(o *reduction) bool { return !r.follows(o) && !o.follows(r) }

// reductions finds the CollectiveReduces among nodes that stand after their
// inputs, and what they depend on.
func reductions(order []*graph.Node) (out []*reduction) {
	depth, after := make([]int, len(order)), make([]map[int]bool, len(order))
	for _, n := range order {
		depth[n.ID] = nesting(n, depth)
		seen := after[n.ID]
		for _, p := range inputs(n) {
			seen = union(seen, after[p.ID])
			if p.OpName() == "CollectiveReduce" {
				seen = union(seen, map[int]bool{p.Int("instance_key"): true})
			}
		}
		after[n.ID] = seen
		if n.OpName() == "CollectiveReduce" && depth[n.ID] == 0 {
			out = append(out, &reduction{n, n.Int("instance_key"), seen})
		}
	}
	return out
}

// inputs returns what n comes after, without the back edges of loops.
func inputs(n *graph.Node) (out []*graph.Node) {
	for _, x := range n.In {
		if x.Node.Role() != core.Repeats {
			out = append(out, x.Node)
		}
	}
	return append(out, n.Control...)
}

// union returns a set with the elements of both, which it does not change. Most
// nodes have the set of one of their inputs.
func union(a, b map[int]bool) map[int]bool {
	covers := func(a, b map[int]bool) bool {
		for k := range b {
			if !a[k] {
				return false
			}
		}
		return true
	}
	if covers(a, b) {
		return a
	}
	if covers(b, a) {
		return b
	}
	out := make(map[int]bool, len(a)+len(b))
	for _, s := range []map[int]bool{a, b} {
		for k := range s {
			out[k] = true
		}
	}
	return out
}

// nesting returns in how many conditionals and loops n is, given that of its
// inputs. A loop counts twice: its condition is one, too.
func nesting(n *graph.Node, depth []int) int {
	d, before := 0, inputs(n)
	for _, p := range before {
		d = max(d, depth[p.ID])
	}
	switch n.Role() {
	case core.Switches, core.Enters:
		return d + 1
	case core.Merges:
		if len(before) < len(n.In)+len(n.Control) {
			return d // of a loop
		}
		return max(d-1, 0)
	case core.Exits:
		return max(d-2, 0)
	}
	return d
}

// repeated finds an instance that two reductions have.
func repeated(all []*reduction) (instance int, found bool) {
	seen := map[int]bool{}
	for _, r := range all {
		if seen[r.instance] {
			return r.instance, true
		}
		seen[r.instance] = true
	}
	return 0, false
}

// sequence sorts the reductions of a device: of those that depend on none that is
// left, always the one of the greatest instance. Where dependencies between
// devices go around, those that are left keep their order: they cannot run.
func sequence(all []*reduction) []*reduction {
	left, out := slices.Clone(all), make([]*reduction, 0, len(all))
	slices.SortFunc(left, func(a, b *reduction) int { return cmp.Compare(b.instance, a.instance) })
	for len(left) > 0 {
		next := slices.IndexFunc(left, func(r *reduction) bool { return !slices.ContainsFunc(left, r.follows) })
		if next < 0 {
			return append(out, left...)
		}
		out = append(out, left[next])
		left = slices.Delete(left, next, next+1)
	}
	return out
}

// queueUp makes each reduction wait for those before it that it could run together
// with, but for those that others wait for already.
func queueUp(order []*reduction) {
	reached := make([]map[int]bool, len(order)) // by what waits for order[i], by edges added here
	for i := len(order) - 1; i >= 0; i-- {
		reached[i] = map[int]bool{}
		for j := i + 1; j < len(order); j++ {
			if reached[i][j] || !order[i].concurrent(order[j]) {
				continue
			}
			order[j].node.AddControl(order[i].node)
			reached[i] = union(reached[i], reached[j])
			reached[i] = union(reached[i], map[int]bool{j: true})
		}
	}
}

package rowblocks

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
)

// postpone has nodes wait for the region that are only needed after it, if they give no less
// than they read: so what they give is not in memory while the region runs.
func (r *region) postpone(region *graph.Node) {
	late, apart := map[*graph.Node]bool{}, map[*graph.Node]bool{}
	for _, n := range r.apart {
		apart[n] = true
	}
	after := func(u *graph.Node) bool { return r.outer[u] || late[u] }
	for _, n := range slices.Backward(r.order) {
		uses := r.uses[n.ID]
		if len(uses) == 0 || r.dependent(n) || !pure(n) || apart[n] || r.awaited[n] || !r.live.Together(r.nodes[0], n) {
			continue
		}
		late[n] = !slices.ContainsFunc(uses, func(u *graph.Node) bool { return !after(u) }) && makesMore(n)
	}
	for n := range late {
		if late[n] && !slices.ContainsFunc(n.In, func(e graph.Edge) bool { return late[e.Node] }) {
			n.AddControl(region)
		}
	}
}

// little is how many bytes do not count.
const little = 4 << 10

// makesMore reports whether n gives at least as many bytes as it reads, as far as shapes are known.
func makesMore(n *graph.Node) bool {
	given, read := 0, 0
	for o := range n.OutTypes {
		given += bytesOf(n, o, someRows)
	}
	for _, e := range n.In {
		read += bytesOf(e.Node, e.Out, someRows)
	}
	return read <= max(given, little)
}

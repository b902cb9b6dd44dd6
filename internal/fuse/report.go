package fuse

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Report tells what was fused, what was not and why.
type Report struct {
	Kernels  map[*core.Node]core.Kernel // of the nodes of clusters
	Clusters []Cluster

	// The rest is only there if it was asked for.

	Device string         // of the nodes
	Nodes  int            // how many there were
	Alone  []Alone        // nodes that could be in clusters by their ops
	Others map[string]int // how many other nodes there are, by op

	explain  bool
	programs map[*graph.Node]*program // of clusters
}

// A Cluster is a node that was added, with the names and ops of those it stands for.
type Cluster struct {
	Node  string
	Nodes []string // "h/Relu = Relu"
	// Machine is how many of them are simple enough for machine code, which they become
	// where they follow one another, and where the processor and the system allow it.
	Machine int
}

// Alone is a node that is in no cluster, although its op can be in some.
type Alone struct{ Node, Why string }

// survey notes the nodes that cannot be in clusters.
func (r *Report) survey(order []*graph.Node, members []*member, kernel func(*graph.Node) core.Kernel) {
	if !r.explain {
		return
	}
	r.Nodes, r.Others = len(order), map[string]int{}
	for _, n := range order {
		r.Device = cmp.Or(r.Device, n.Device)
		switch {
		case members[n.ID] != nil:
		case n.Def.Has(joinable):
			r.note(n, barred(n, kernel))
		default:
			r.Others[n.OpName()]++
		}
	}
}

func (r *Report) note(n *graph.Node, why string) {
	r.Alone = append(r.Alone, Alone{n.Name + " = " + n.OpName(), why})
}

// add notes a cluster and its kernel.
func (r *Report) add(c *cluster) {
	r.Kernels[&c.node.Node] = core.Compute(c.program.compute)
	r.programs[c.node] = c.program
	r.Clusters = append(r.Clusters, Cluster{c.node.Name, c.node.Strs(nodesAttr), c.program.instructed()})
}

// alone notes a node without a cluster that could be in one.
func (r *Report) alone(l *levels, n *graph.Node) {
	if r.explain {
		r.note(n, l.why(n))
	}
}

// only notes the one node, if there is one, that could be in a cluster.
func (r *Report) only(order []*graph.Node, members []*member) {
	for _, n := range order {
		if r.explain && members[n.ID] != nil {
			r.note(n, "no other node can be in a cluster")
		}
	}
}

// maxReasons bounds what is said of one node: one may be used by thousands.
const maxReasons = 4

// why says why n is in no cluster.
func (l *levels) why(n *graph.Node) string {
	var reasons []string
	more := 0
	note := func(other *graph.Node, why string) {
		if len(reasons) == maxReasons {
			more++
			return
		}
		reasons = append(reasons, other.Name+": "+why)
	}
	for _, d := range l.after[n.ID] {
		p := l.order[l.place[d.id]]
		note(p, l.whyApart(p, n))
	}
	for _, d := range l.uses[n.ID] {
		u := l.order[l.place[d.id]]
		note(u, l.whyApart(n, u))
	}
	if more > 0 {
		reasons = append(reasons, fmt.Sprintf("and %d more neighbours", more))
	}
	return cmp.Or(strings.Join(reasons, "; "), "no node of the graph is its neighbour")
}

// whyApart says why a node is not in one cluster with another that depends on it.
func (l *levels) whyApart(a, b *graph.Node) string {
	switch l.apart(a, b) {
	case firstIsNone:
		return outside(a)
	case secondIsNone:
		return outside(b)
	case otherLoop:
		return "they are not in the same loop"
	case badLoop:
		return "their loop is not well-formed"
	case otherFlow:
		return "control flow: they do not depend on the same branches and values from elsewhere"
	case otherShape:
		return fmt.Sprintf("their shapes differ, %v and %v", a.OutShape(0), b.OutShape(0))
	}
	if l.of[a.ID] == l.of[b.ID] {
		return fmt.Sprintf("a cluster has at most %d nodes", maxCluster)
	}
	return "what else uses " + a.Name + ", or what else " + b.Name + " depends on, makes a path between them that leads outside"
}

// outside says why a node is in no cluster, whatever lies beside it.
func outside(n *graph.Node) string {
	if why := barredByNode(n); why != "" {
		return why
	}
	return "its kernel has no loop that computes a part"
}

// String lists the clusters, the nodes without one, and how many others there are.
func (r *Report) String() string {
	var b strings.Builder
	r.head(&b)
	for _, c := range r.Clusters {
		fmt.Fprintf(&b, "%s: %d nodes%s\n", c.Node, len(c.Nodes), c.machine())
		for _, n := range c.Nodes {
			fmt.Fprintf(&b, "\t%s\n", n)
		}
	}
	for _, a := range r.Alone {
		fmt.Fprintf(&b, "not fused: %s (%s)\n", a.Node, a.Why)
	}
	r.others(&b)
	return b.String()
}

// machine says how many nodes machine code can be made of, which takes two and more.
func (c *Cluster) machine() string {
	if c.Machine < 2 {
		return ""
	}
	return fmt.Sprintf(", %d for machine code", c.Machine)
}

// head says how many nodes are in clusters.
func (r *Report) head(b *strings.Builder) {
	joined := map[string]bool{} // some are in several
	for _, c := range r.Clusters {
		for _, n := range c.Nodes {
			joined[n] = true
		}
	}
	if r.explain {
		fmt.Fprintf(b, "%s: %d nodes, %d of them joined to %d\n", cmp.Or(r.Device, "no device"), r.Nodes, len(joined), len(r.Clusters))
	}
}

// others lists the ops that clusters do not take, the most frequent first.
func (r *Report) others(b *strings.Builder) {
	if len(r.Others) == 0 {
		return
	}
	names := slices.SortedFunc(maps.Keys(r.Others), func(x, y string) int {
		return cmp.Or(cmp.Compare(r.Others[y], r.Others[x]), cmp.Compare(x, y))
	})
	for i, op := range names {
		names[i] = fmt.Sprintf("%d %s", r.Others[op], op)
	}
	fmt.Fprintf(b, "of other kinds: %s\n", strings.Join(names, ", "))
}

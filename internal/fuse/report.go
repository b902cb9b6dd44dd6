package fuse

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Report tells what was fused, what was not and why.
type Report struct {
	Kernels  map[*core.Node]core.Kernel // of the nodes of clusters
	Clusters []Cluster
	Alone    []Alone // only if it was asked for
	explain  bool
}

// A Cluster is a node that was added, with the names and ops of those it stands for.
type Cluster struct {
	Node  string
	Nodes []string // "h/Relu = Relu"
}

// Alone is an elementwise node that is in no cluster.
type Alone struct{ Node, Why string }

// add notes a cluster and its kernel.
func (r *Report) add(c *cluster) {
	r.Kernels[&c.node.Node] = core.Compute(c.program.compute)
	r.Clusters = append(r.Clusters, Cluster{c.node.Name, c.node.Strs(nodesAttr)})
}

// alone notes a node without a cluster.
func (r *Report) alone(l *levels, n *graph.Node) {
	if r.explain {
		r.Alone = append(r.Alone, Alone{n.Name + " = " + n.OpName(), l.why(n)})
	}
}

// why says why n is in no cluster.
func (l *levels) why(n *graph.Node) string {
	var reasons []string
	note := func(other *graph.Node, why string) {
		if why == "" {
			why = "a path between them leads outside"
		}
		if text := other.Name + ": " + why; len(reasons) < 4 {
			reasons = append(reasons, text)
		}
	}
	for _, d := range l.after[n.ID] {
		p := l.flow.g.Nodes[d.id]
		note(p, l.apart(p, n))
	}
	for _, d := range l.uses[n.ID] {
		u := l.flow.g.Nodes[d.id]
		note(u, l.apart(n, u))
	}
	return strings.Join(reasons, "; ")
}

// String lists the clusters and the nodes without one.
func (r *Report) String() string {
	var b strings.Builder
	for _, c := range r.Clusters {
		fmt.Fprintf(&b, "%s: %d nodes\n", c.Node, len(c.Nodes))
		for _, n := range c.Nodes {
			fmt.Fprintf(&b, "\t%s\n", n)
		}
	}
	for _, a := range r.Alone {
		fmt.Fprintf(&b, "not fused: %s (%s)\n", a.Node, a.Why)
	}
	return b.String()
}

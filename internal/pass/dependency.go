package pass

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
)

// dropDetours takes out nodes that only pass something on, and orders that
// hold anyway.
func dropDetours(e *editor) (bool, error) {
	e.Renumber()
	uses, changed := e.Uses(), false
	for _, n := range e.Nodes {
		var did bool
		switch {
		case e.Preserve[n.Name]:
			continue
		case e.roots[n]:
		case n.OpName() == "Identity":
			did = bypassIdentity(n, uses)
		case n.OpName() == "NoOp":
			did = bypassNoOp(n, uses)
		}
		changed = dropOrders(n) || did || changed
	}
	return changed, nil
}

// dropOrders removes the control inputs of n that say nothing: nodes whose
// values n takes, and constants, which are always there.
func dropOrders(n *graph.Node) bool {
	before := len(n.Control)
	n.Control = slices.DeleteFunc(n.Control, func(c *graph.Node) bool {
		if c.OpName() == "Const" && len(c.Control) == 0 && c.Device == n.Device {
			return true
		}
		return !isFlow[c.OpName()] && slices.ContainsFunc(n.In, func(x graph.Edge) bool { return x.Node == c })
	})
	return len(n.Control) < before
}

// bypassIdentity makes the users of n take its input. An Identity reads a
// variable at a point in time, holds its users back, or stands for the branch
// that was chosen: those stay.
func bypassIdentity(n *graph.Node, uses [][]*graph.Node) bool {
	x, users := n.In[0], uses[n.ID]
	if len(n.Control) > 0 || hasRef(n) || x.Node.Device != n.Device || len(users) == 0 {
		return false
	}
	if chooses[x.Node.OpName()] && slices.ContainsFunc(users, func(u *graph.Node) bool { return slices.Contains(u.Control, n) }) {
		return false
	}
	replace(users, n, []graph.Edge{x}, []*graph.Node{x.Node})
	uses[x.Node.ID] = append(uses[x.Node.ID], users...)
	uses[n.ID] = nil
	return true
}

// bypassNoOp makes the users of n wait for what it waits for, unless that makes
// more edges than there were, or more that lead to another device.
func bypassNoOp(n *graph.Node, uses [][]*graph.Node) bool {
	users := uses[n.ID]
	elsewhere := func(m *graph.Node) bool { return m.Device != n.Device }
	switch in, out := len(n.Control), len(users); {
	case out == 0 || in > 1 && out > 1:
		return false
	case in > 1 && (slices.ContainsFunc(users, elsewhere) || slices.ContainsFunc(n.Control, elsewhere)):
		return false
	}
	replace(users, n, nil, append([]*graph.Node{}, n.Control...))
	for _, c := range n.Control {
		uses[c.ID] = append(uses[c.ID], users...)
	}
	uses[n.ID] = nil
	return true
}

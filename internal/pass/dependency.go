package pass

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// dropDetours takes out nodes that only pass something on, and orders that
// hold anyway.
func dropDetours(e *editor) (bool, error) {
	order, err := e.Sorted()
	if err != nil {
		return false, err
	}
	changed, err := dropValues(e)
	if err != nil {
		return false, err
	}
	f, d, uses := newForwards(e.Graph), degreesOf(e.Graph), e.Uses()
	for _, n := range order {
		if err := f.settle(n); err != nil {
			return false, err
		}
		var did bool
		switch {
		case e.Preserve[n.Name]:
			continue
		case e.roots[n]:
		case n.Def.Has(core.Passthrough):
			did = f.bypassIdentity(n, &d)
		case n.OpName() == "NoOp":
			did = f.bypassNoOp(n, uses[n.ID])
		}
		changed = dropOrders(n) || did || changed
	}
	return changed, nil
}

// dropOrders removes the control inputs of n that say nothing: nodes whose
// values n takes, and constants, which are always there.
func dropOrders(n *graph.Node) bool {
	before := len(n.Control)
	if before == 0 {
		return false
	}
	reads := make(map[*graph.Node]bool, len(n.In))
	for _, x := range n.In {
		reads[x.Node] = true
	}
	n.Control = slices.DeleteFunc(n.Control, func(c *graph.Node) bool {
		if c.Role() == core.Constant && len(c.Control) == 0 && c.Device == n.Device {
			return true
		}
		return !c.Role().DirectsFlow() && reads[c]
	})
	return len(n.Control) < before
}

// bypassIdentity makes the users of n take its input. An Identity reads a
// variable at a point in time, holds its users back, or stands for the branch
// that was chosen: those stay.
func (f *forwards) bypassIdentity(n *graph.Node, d *degrees) bool {
	x := n.In[0]
	if len(n.Control) > 0 || hasRef(n) || x.Node.Device != n.Device || !d.used(n) || chooses(x.Node) && d.waits[n.ID] {
		return false
	}
	f.replace(n, []graph.Edge{x}, []*graph.Node{x.Node})
	return true
}

// maxJoined bounds what a node waits for whose users are made to wait for that: a
// chain of such nodes would be joined into ever longer lists.
const maxJoined = 64

// bypassNoOp makes the users of n wait for what it waits for, unless that makes
// more edges than there were, or more that lead to another device.
func (f *forwards) bypassNoOp(n *graph.Node, users []*graph.Node) bool {
	elsewhere := func(m *graph.Node) bool { return m.Device != n.Device }
	switch in, out := len(n.Control), len(users); {
	case out == 0 || in > 1 && out > 1 || in > maxJoined:
		return false
	case in > 1 && (slices.ContainsFunc(users, elsewhere) || slices.ContainsFunc(n.Control, elsewhere)):
		return false
	}
	f.replace(n, nil, append([]*graph.Node{}, n.Control...))
	return true
}

// dropValues makes NoOps of nodes whose values are not read. Bodies of functions
// hand out all their reads to be waited for, also of variables that get their
// first value afterwards.
func dropValues(e *editor) (changed bool, err error) {
	d := degreesOf(e.Graph)
	for _, n := range slices.Backward(e.Nodes) {
		if e.roots[n] || e.Preserve[n.Name] || !onlyComputes(n) || d.reads[n.ID] > 0 {
			continue
		}
		if err := e.Budget.Visit(1); err != nil {
			return false, err
		}
		for _, x := range n.In {
			d.reads[x.Node.ID]--
		}
		if err := dropValue(n); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}

// onlyComputes reports whether n does nothing but to compute values from inputs
// that are there when the nodes are done that make them.
func onlyComputes(n *graph.Node) bool {
	return len(n.OutTypes) > 0 && !hasEffects(n) && !hasRef(n) && !n.Role().DirectsFlow() && !n.Def.Has(core.Awaited) &&
		!slices.ContainsFunc(n.In, func(x graph.Edge) bool { return chooses(x.Node) })
}

// dropValue makes n a NoOp that waits for what n took.
func dropValue(n *graph.Node) error {
	d, err := core.NewNode(n.Name, "NoOp", nil)
	if err != nil {
		return err
	}
	d.Device = n.Device
	d.CopyPos(&n.Node)
	after := make([]*graph.Node, len(n.In))
	for k, x := range n.In {
		after[k] = x.Node
	}
	n.Node, n.In, n.Shapes = *d, nil, nil
	n.AddControls(after...)
	return nil
}

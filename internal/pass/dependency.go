package pass

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// dropDetours takes out nodes that only pass something on, and orders that
// hold anyway.
func dropDetours(e *editor) (bool, error) {
	e.Renumber()
	uses := e.Uses()
	changed, err := dropValues(e, uses)
	if err != nil {
		return false, err
	}
	for _, n := range e.Nodes {
		if err := e.Budget.Visit(1); err != nil {
			return false, err
		}
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

// asked tells the ops without effects that are there to be waited for: they
// fail where something is wrong, or where nothing is fed.
var asked = map[string]bool{
	"CheckNumerics": true, "CheckNumericsV2": true, "EnsureShape": true,
	"Placeholder": true, "PlaceholderV2": true, "PlaceholderWithDefault": true,
	"_Arg": true, "_Retval": true, "_ParallelConcatUpdate": true,
}

// dropValues makes NoOps of nodes whose values nobody takes. Bodies of functions
// hand out all their reads to be waited for, also of variables that get their
// first value afterwards.
func dropValues(e *editor, uses [][]*graph.Node) (changed bool, err error) {
	for _, n := range slices.Backward(e.Nodes) {
		if e.roots[n] || e.Preserve[n.Name] || !onlyComputes(n) || isRead(n, uses[n.ID]) {
			continue
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
	return len(n.OutTypes) > 0 && !hasEffects(n) && !hasRef(n) && !isFlow[n.OpName()] && !asked[n.OpName()] &&
		!slices.ContainsFunc(n.In, func(x graph.Edge) bool { return chooses[x.Node.OpName()] })
}

func isRead(n *graph.Node, users []*graph.Node) bool {
	return slices.ContainsFunc(users, func(u *graph.Node) bool {
		return slices.ContainsFunc(u.In, func(x graph.Edge) bool { return x.Node == n })
	})
}

// dropValue makes n a NoOp that waits for what n took.
func dropValue(n *graph.Node) error {
	d, err := core.NewNode(n.Name, "NoOp", nil)
	if err != nil {
		return err
	}
	d.Device = n.Device
	d.CopyPos(&n.Node)
	in := n.In
	n.Node, n.In, n.Shapes = *d, nil, nil
	for _, x := range in {
		n.AddControl(x.Node)
	}
	return nil
}

package pass

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A loop whose nodes are on several devices needs to be known on each of them:
// a receive within it has to run once in each iteration. For that a device gets
// a loop of its own, without values: Enter, Merge, Switch, NextIteration, which
// goes on as the real one does because its Switch gets the real condition.

// loopPrefix begins the names of the nodes of such loops, by which workers
// know that a master has added them.
const loopPrefix = "_cloop"

// addControlLoops adds what g needs of such loops, and returns g, or a copy if
// anything had to be changed. Nodes that receive come after the Merge of their
// device's loop.
func addControlLoops(g *graph.Graph, newName func(string) string) (*graph.Graph, error) {
	if !hasLoops(g) {
		return g, nil
	}
	g = g.Clone()
	order, err := g.Sorted()
	if err != nil {
		return nil, err
	}
	frames, err := g.Frames(order)
	if err != nil {
		return nil, err
	}
	l := looper{Graph: g, Frames: frames, newName: newName, conds: make([]*graph.Node, len(frames.List)), loops: map[loopKey]*graph.Node{}}
	l.findConds(order)
	l.findInvariant(order)
	moveFlow(order, g.Uses())
	for _, n := range order {
		if err := g.Budget.Visit(1); err != nil {
			return nil, err
		}
		if err := l.add(n); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// hasLoops reports whether g has loops that have not been dealt with.
func hasLoops(g *graph.Graph) bool {
	found := false
	for _, n := range g.Nodes {
		if strings.HasPrefix(n.Name, loopPrefix) {
			return false
		}
		found = found || n.Role() == core.Enters
	}
	return found
}

// isControlLoop tells the Merge of such a loop.
func isControlLoop(n *graph.Node) bool {
	return n.Role() == core.Merges && strings.HasPrefix(n.Name, loopPrefix)
}

type looper struct {
	*graph.Graph
	*graph.Frames
	newName   func(string) string
	conds     []*graph.Node // LoopCond by frame
	invariant []bool        // by node ID: see findInvariant
	loops     map[loopKey]*graph.Node
}

type loopKey struct {
	frame  int
	device string
}

func (l *looper) findConds(order []*graph.Node) {
	for _, n := range order {
		if n.Role() == core.Continues {
			l.conds[l.Of[n.ID]] = n
		}
	}
}

// findInvariant finds the nodes in loops that depend on nothing but constant
// Enters: what those get is there again in each iteration, which the device has
// to know of.
func (l *looper) findInvariant(order []*graph.Node) {
	l.invariant = make([]bool, len(l.Nodes))
	for _, n := range order {
		if n.Role() == core.Enters {
			l.invariant[n.ID] = n.Bool("is_constant")
			continue
		}
		same := l.Of[n.ID] != 0 && !n.Role().DirectsFlow() && len(n.In)+len(n.Control) > 0
		for _, x := range n.In {
			same = same && l.invariant[x.Node.ID]
		}
		for _, c := range n.Control {
			same = same && l.invariant[c.ID]
		}
		l.invariant[n.ID] = same
	}
}

// moveFlow puts the nodes that direct values next to the values. What crosses
// then crosses once in each iteration: not between Enter or NextIteration and
// Merge, where a value comes only now and then.
func moveFlow(order []*graph.Node, uses [][]*graph.Node) {
	for _, n := range order {
		switch n.Role() {
		case core.Switches, core.Exits:
			if n.OpName() == "_SwitchN" {
				break // of a conditional
			}
			n.Device = n.In[0].Node.Device
		case core.Enters, core.Repeats:
			if n.OpName() == "RefEnter" {
				break // stays with its variable
			}
			if u := firstReader(n, uses[n.ID]); u != nil {
				n.Device = u.Device
			}
		}
	}
}

func firstReader(n *graph.Node, users []*graph.Node) *graph.Node {
	for _, u := range users {
		for _, x := range u.In {
			if x.Node == n {
				return u
			}
		}
	}
	return nil
}

// add makes n, if it is in a loop and an input comes from another device, come
// after the Merge of that loop on its own. A device that sends what is the same
// in all iterations needs that loop as well.
func (l *looper) add(n *graph.Node) error {
	var remote []*graph.Node
	for _, x := range n.In {
		if x.Node.Device != n.Device {
			remote = append(remote, x.Node)
		}
	}
	for _, c := range n.Control {
		if c.Device != n.Device {
			remote = append(remote, c)
		}
	}
	frame := l.Of[n.ID]
	if len(remote) == 0 || frame == 0 {
		return nil
	}
	merge, err := l.loop(loopKey{frame, n.Device}, n)
	if err != nil {
		return err
	}
	n.AddControl(merge)
	for _, x := range remote {
		if l.invariant[x.ID] { // nothing else takes its device from one iteration to the next
			if _, err := l.loop(loopKey{frame, x.Device}, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// loop returns the Merge of the loop without values for a frame and device, which user needs.
// Those around it come first: loops may be within one another deeper than stacks are.
func (l *looper) loop(key loopKey, user *graph.Node) (*graph.Node, error) {
	var missing []int
	for f := key.frame; f != 0 && l.loops[loopKey{f, key.device}] == nil; f = l.List[f].Parent {
		if l.conds[f] == nil {
			return nil, core.AtNode(core.Errorf(core.InvalidArgument, "A cross-device loop must have a pivot predicate: %s", l.List[f].Name), &user.Node, nil)
		}
		missing = append(missing, f)
	}
	for _, f := range slices.Backward(missing) {
		if err := l.addLoop(loopKey{f, key.device}, user); err != nil {
			return nil, err
		}
	}
	return l.loops[key], nil
}

// addLoop adds a loop without values, which user needs, within those that are there.
func (l *looper) addLoop(key loopKey, user *graph.Node) error {
	f := l.List[key.frame]
	start, err := l.outside(f, key.device, user)
	if err != nil {
		return err
	}
	b := flowBuilder{l: l, user: user, device: key.device}
	enter := b.node("Enter", core.Attrs{"T": core.Float32, "frame_name": f.Name, "parallel_iterations": f.Enters[0].Attr("parallel_iterations")}, start)
	merge := b.node("Merge", core.Attrs{"T": core.Float32, "N": int64(2)}, enter, graph.Edge{})
	choose := b.node("Switch", core.Attrs{"T": core.Float32}, merge, graph.Edge{Node: l.conds[key.frame]})
	again := b.node("NextIteration", core.Attrs{"T": core.Float32}, graph.Edge{Node: choose.Node, Out: 1})
	if b.err != nil {
		return b.err
	}
	merge.Node.In[1] = again
	choose.Node.AddControl(merge.Node) // the condition is received once in each iteration
	l.loops[key] = merge.Node
	return nil
}

// outside returns what enters a loop without values: that of the frame around
// it, or, outside of all, a constant.
func (l *looper) outside(f graph.Frame, device string, user *graph.Node) (graph.Edge, error) {
	if f.Parent != 0 {
		return graph.Edge{Node: l.loops[loopKey{f.Parent, device}]}, nil
	}
	b := flowBuilder{l: l, user: user, device: device}
	return b.node("Const", core.Attrs{"dtype": core.Float32, "value": core.NewTensor(core.Float32, core.Shape{0})}), b.err
}

// flowBuilder adds nodes to a graph and remembers the first error.
type flowBuilder struct {
	l      *looper
	user   *graph.Node
	device string
	err    error
}

func (b *flowBuilder) node(op string, attrs core.Attrs, in ...graph.Edge) graph.Edge {
	if b.err != nil {
		return graph.Edge{}
	}
	n, err := b.l.AddNew(b.l.newName(loopPrefix+b.user.Name), op, attrs, b.device, in...)
	if err != nil {
		b.err = err
		return graph.Edge{}
	}
	n.CopyPos(&b.user.Node)
	return graph.Edge{Node: n}
}

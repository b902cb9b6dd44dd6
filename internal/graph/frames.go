package graph

import "github.com/gorge-tf/gorge/tf/core"

// A Frame is a loop, or, as the first one, what is outside of all loops.
type Frame struct {
	Name   string // frame_name of the nodes that lead into it
	Parent int    // the frame around it
	Enters []*Node
}

// Frames says which nodes of a graph are in which loop.
type Frames struct {
	List []Frame
	Of   []int // by node ID: where the node runs
	Out  []int // by node ID: where its outputs are used; differs for Enter and Exit
}

// What a node does with the loop that it is in.
const (
	stays = iota
	enters
	exits
	repeats
)

var moves = map[core.Role]int{core.Enters: enters, core.Exits: exits, core.Repeats: repeats}

// Frames finds out in which loop each node runs: that of its inputs, which
// Enter leaves for an inner one and Exit for the outer one. order is what
// Sorted has returned.
func (g *Graph) Frames(order []*Node) (*Frames, error) {
	f := newFramer(len(order))
	for i, n := range order {
		if err := g.Budget.Visit(1); err != nil {
			return nil, err
		}
		f.at[n.ID] = i
		if err := f.visit(n); err != nil {
			return nil, err
		}
	}
	for _, n := range order {
		if err := f.check(n); err != nil {
			return nil, err
		}
	}
	return &f.Frames, nil
}

type framer struct {
	Frames
	done   []bool
	at     []int // by node ID: when the node is visited
	byName map[string]int
}

func newFramer(nodes int) *framer {
	return &framer{
		Frames: Frames{List: make([]Frame, 1), Of: make([]int, nodes), Out: make([]int, nodes)},
		done:   make([]bool, nodes), at: make([]int, nodes), byName: map[string]int{},
	}
}

func (f *framer) visit(n *Node) error {
	if err := f.locate(n); err != nil {
		return err
	}
	f.Out[n.ID], f.done[n.ID] = f.Of[n.ID], true
	switch moves[n.Role()] {
	case enters:
		return f.enter(n)
	case exits:
		if f.Of[n.ID] == 0 {
			return core.AtNode(core.Errorf(core.InvalidArgument, "Invalid Exit op: Cannot find a corresponding Enter op."), &n.Node, nil)
		}
		f.Out[n.ID] = f.List[f.Of[n.ID]].Parent
	case repeats:
		if f.Of[n.ID] == 0 { // see Graph.Straighten
			return core.AtNode(core.Errorf(core.InvalidArgument, "%s must be within a loop: there is no Enter before it", n.OpName()), &n.Node, nil)
		}
	}
	return nil
}

// locate finds the frame in which n's inputs are. The back edges of loops come
// from nodes that have not been visited; see check.
func (f *framer) locate(n *Node) error {
	var first *Node
	for _, src := range n.sources() {
		switch {
		case !f.done[src.ID]:
		case first == nil:
			first = src
			f.Of[n.ID] = f.Out[src.ID]
		case f.Out[src.ID] != f.Out[first.ID]:
			return f.differ(n, first, src)
		}
	}
	return nil
}

// sources returns the nodes that n has as data and control inputs.
func (n *Node) sources() []*Node {
	out := make([]*Node, 0, len(n.In)+len(n.Control))
	for _, e := range n.In {
		out = append(out, e.Node)
	}
	return append(out, n.Control...)
}

// differ names the input first that TensorFlow finds last: one of a loop, or else the
// later one.
func (f *framer) differ(n, x, y *Node) error {
	if f.Out[x.ID] == 0 || f.Out[y.ID] != 0 && f.at[x.ID] < f.at[y.ID] {
		x, y = y, x
	}
	return core.AtNode(core.Errorf(core.InvalidArgument, "{{node %s}} has inputs from different frames. The input {{node %s}} is in frame '%s'. The input {{node %s}} is in frame '%s'.",
		n.Name, x.Name, f.List[f.Out[x.ID]].Name, y.Name, f.List[f.Out[y.ID]].Name), &n.Node, nil)
}

// enter notes the frame that Enter node n leads to.
func (f *framer) enter(n *Node) error {
	name, parent := n.Str("frame_name"), f.Of[n.ID]
	if err := checkEnter(n); err != nil {
		return core.AtNode(err, &n.Node, nil)
	}
	at, ok := f.byName[name]
	if !ok {
		at = len(f.List)
		f.byName[name] = at
		f.List = append(f.List, Frame{Name: name, Parent: parent})
	}
	l := &f.List[at]
	if l.Parent != parent {
		return core.AtNode(core.Errorf(core.Internal, "Invalid loop structure: Mismatched parent frames for \"%s\": \"%s\" vs \"%s\". The node giving this error: {{node %s}}",
			name, f.List[parent].Name, f.List[l.Parent].Name, n.Name), &n.Node, nil)
	}
	l.Enters = append(l.Enters, n)
	f.Out[n.ID] = at
	return nil
}

// checkEnter checks what an Enter node says of its loop.
func checkEnter(n *Node) error {
	parallel := n.Int("parallel_iterations")
	switch {
	case n.Str("frame_name") == "":
		return core.Errorf(core.InvalidArgument, "The Enter {{node %s}} must have a frame name.", n.Name)
	case int(int32(parallel)) != parallel:
		return core.Errorf(core.InvalidArgument, "Attr parallel_iterations has value %d out of range for an int32", parallel)
	case parallel <= 0: // which ends a process of TensorFlow
		return core.Errorf(core.InvalidArgument, "'parallel_iterations' must be a positive integer: %d", parallel)
	}
	return nil
}

// check is about all inputs, back edges included.
func (f *framer) check(n *Node) error {
	for _, src := range n.sources() {
		if f.Out[src.ID] != f.Of[n.ID] {
			return f.differ(n, n.sources()[0], src)
		}
	}
	return nil
}

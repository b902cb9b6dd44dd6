// Package graph holds graphs as the runtime works on them: nodes that passes
// add, rewire and remove, with full input lists and devices. The graph that a
// user builds (tf.Graph) only grows; this one is made from it, or from a
// GraphDef, for each set of feeds and fetches.
package graph

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gorge-tf/gorge/tf/core"
)

// An Edge is one output of a node, as an input of another.
type Edge struct {
	Node *Node
	Out  int
}

// A Node is one node of a Graph. Its description (the embedded core.Node) is
// shared between graphs and not changed but for the device; a pass that wants
// other attributes makes another node.
type Node struct {
	core.Node
	ID      int // position in Graph.Nodes as of the last Renumber
	In      []Edge
	Control []*Node
	Shapes  []core.Shape // what is known of the outputs; nil: nothing
}

// A Graph is a set of nodes with distinct names.
type Graph struct {
	Nodes    []*Node
	Library  *core.Library // functions that nodes may call; nil: none
	Producer int           // version of the graph's producer
	Budget   *Budget       // what the planning of the graph may take; nil: whatever it takes
	byName   map[string]*Node
	suffix   map[string]int // by base: what AddNew has appended last
	past     *past          // nil: no node reads past others
}

// New returns an empty graph.
func New() *Graph { return &Graph{byName: map[string]*Node{}, Producer: core.ProducerVersion} }

// Node returns the node of the given name, or nil.
func (g *Graph) Node(name string) *Node { return g.byName[name] }

// Add adds n, whose name must be new.
func (g *Graph) Add(n *Node) error {
	if g.byName[n.Name] != nil {
		return core.Errorf(core.InvalidArgument, "Node '%s' is not unique", n.Name)
	}
	n.ID = len(g.Nodes)
	g.Nodes = append(g.Nodes, n)
	g.byName[n.Name] = n
	return nil
}

// AddNew adds a node of the given op, its name made unique by a suffix if need
// be, on a device.
func (g *Graph) AddNew(name, op string, attrs core.Attrs, dev string, in ...Edge) (*Node, error) {
	n := &Node{In: in}
	d, err := core.NewNode(g.Unused(name), op, attrs)
	if err != nil {
		return nil, err
	}
	n.Node, n.Device = *d, dev
	return n, g.Add(n)
}

// Unused returns name, with a suffix if it is taken. What has been tried for
// earlier names is not tried again: many may have one base.
func (g *Graph) Unused(name string) string {
	if g.byName[name] == nil {
		return name
	}
	base, i := name, g.suffix[name]
	for g.byName[name] != nil {
		i++
		name = base + "_" + strconv.Itoa(i)
	}
	if g.suffix == nil {
		g.suffix = map[string]int{}
	}
	g.suffix[base] = i
	return name
}

// Keep removes all nodes but those that keep names, which must have no inputs
// from the removed ones.
func (g *Graph) Keep(keep func(*Node) bool) {
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n *Node) bool {
		if keep(n) {
			return false
		}
		delete(g.byName, n.Name)
		return true
	})
	g.Renumber()
}

// Renumber makes the IDs positions in Nodes again.
func (g *Graph) Renumber() {
	for i, n := range g.Nodes {
		if n.ID != i { // a graph in order can be read by many at once
			n.ID = i
		}
	}
}

// Clone returns a graph with nodes of its own.
func (g *Graph) Clone() *Graph {
	c := &Graph{Library: g.Library, Producer: g.Producer, Budget: g.Budget, byName: make(map[string]*Node, len(g.Nodes))}
	c.Nodes = make([]*Node, len(g.Nodes))
	store := make([]Node, len(g.Nodes))
	g.Renumber()
	for i, n := range g.Nodes {
		store[i] = Node{Node: n.Node, ID: i, Shapes: n.Shapes}
		c.Nodes[i] = &store[i]
		c.byName[n.Name] = &store[i]
	}
	for i, n := range g.Nodes {
		c.Nodes[i].In = make([]Edge, len(n.In))
		for k, e := range n.In {
			c.Nodes[i].In[k] = Edge{c.Nodes[e.Node.ID], e.Out}
		}
		if len(n.Control) > 0 {
			c.Nodes[i].Control = make([]*Node, len(n.Control))
		}
		for k, p := range n.Control {
			c.Nodes[i].Control[k] = c.Nodes[p.ID]
		}
	}
	return c
}

// AddControl makes n run after p.
func (n *Node) AddControl(p *Node) {
	if !slices.Contains(n.Control, p) {
		n.Control = append(n.Control, p)
	}
}

// AddControls makes n run after all of ps.
func (n *Node) AddControls(ps ...*Node) {
	const few = 16
	if len(n.Control)+len(ps) <= few {
		for _, p := range ps {
			n.AddControl(p)
		}
		return
	}
	have := make(map[*Node]bool, len(n.Control)+len(ps))
	for _, p := range n.Control {
		have[p] = true
	}
	n.Control = slices.Grow(n.Control, len(ps))
	for _, p := range ps {
		if !have[p] {
			have[p] = true
			n.Control = append(n.Control, p)
		}
	}
}

// OutType returns the type of output k.
func (n *Node) OutType(k int) core.DType { return n.OutTypes[k] }

// OutShape returns what is known of the shape of output k.
func (n *Node) OutShape(k int) core.Shape {
	if k >= len(n.Shapes) {
		return nil
	}
	return n.Shapes[k]
}

// Name returns TensorFlow's name of e: "x:0".
func (e Edge) Name() string { return fmt.Sprintf("%s:%d", e.Node.Name, e.Out) }

// Type returns the type of e.
func (e Edge) Type() core.DType { return e.Node.OutTypes[e.Out] }

// Uses returns for each node, by ID, the nodes that have it as data or control
// input. IDs must be current.
func (g *Graph) Uses() [][]*Node {
	uses := g.roomForUses()
	for _, n := range g.Nodes {
		for _, e := range n.In {
			uses[e.Node.ID] = append(uses[e.Node.ID], n)
		}
		for _, p := range n.Control {
			uses[p.ID] = append(uses[p.ID], n)
		}
	}
	return uses
}

// roomForUses returns empty lists that can hold the users of each node.
func (g *Graph) roomForUses() [][]*Node {
	count, total := make([]int32, len(g.Nodes)), 0
	for _, n := range g.Nodes {
		total += len(n.In) + len(n.Control)
		for _, e := range n.In {
			count[e.Node.ID]++
		}
		for _, p := range n.Control {
			count[p.ID]++
		}
	}
	uses, room := make([][]*Node, len(g.Nodes)), make([]*Node, total)
	for i, c := range count {
		uses[i], room = room[:0:c], room[c:]
	}
	return uses
}

// Sorted returns the nodes so that each stands after its inputs; a loop's
// back edges (into Merge from NextIteration) do not count. It fails when other
// cycles exist.
func (g *Graph) Sorted() ([]*Node, error) {
	out, waiting, err := g.sorted()
	if err != nil {
		return nil, err
	}
	if len(out) != len(g.Nodes) {
		return nil, core.Errorf(core.InvalidArgument, "Graph is invalid, contains a cycle with %d nodes, including: %s", len(g.Nodes)-len(out), g.inCycle(waiting))
	}
	return out, nil
}

// Unsortable is the number of nodes that Sorted finds no place for: those in
// cycles, and what follows them.
func (g *Graph) Unsortable() (int, error) {
	out, _, err := g.sorted()
	return len(g.Nodes) - len(out), err
}

// sorted returns the nodes that can be put in order, and for how many inputs
// each node still waits.
func (g *Graph) sorted() (out []*Node, waiting []int, err error) {
	g.Renumber()
	waiting, out = make([]int, len(g.Nodes)), make([]*Node, 0, len(g.Nodes))
	uses := g.Uses()
	for _, n := range g.Nodes {
		waiting[n.ID] = len(n.In) + len(n.Control) - backEdges(n)
		if waiting[n.ID] == 0 {
			out = append(out, n)
		}
	}
	for done := 0; done < len(out); done++ { // the loop appends to out
		n := out[done]
		if err := g.Budget.Visit(1); err != nil {
			return nil, nil, err
		}
		for _, u := range uses[n.ID] {
			if isBackEdge(n, u) {
				continue
			}
			if waiting[u.ID]--; waiting[u.ID] == 0 {
				out = append(out, u)
			}
		}
	}
	return out, waiting, nil
}

func (g *Graph) inCycle(waiting []int) string {
	for i, w := range waiting {
		if w > 0 {
			return g.Nodes[i].Name
		}
	}
	return ""
}

func isBackEdge(from, to *Node) bool {
	return to.Role() == core.Merges && from.Role() == core.Repeats
}

func backEdges(n *Node) (k int) {
	for _, e := range n.In {
		if isBackEdge(e.Node, n) {
			k++
		}
	}
	return k
}

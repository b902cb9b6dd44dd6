package pass

import (
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// PartitionOptions says how a graph is split. The same split serves twice: by
// task in a master, by device in a worker.
type PartitionOptions struct {
	// NodeToLoc returns the part that a placed node belongs to.
	NodeToLoc func(*graph.Node) string
	// NewName returns a name, not used yet, for a node derived from another.
	NewName func(old string) string
	// Incarnation returns that of a device; 0 if it is not known.
	Incarnation func(device string) uint64
}

// Partition splits g, all of whose nodes are placed, into one graph for each
// location. What crosses from one to another is sent and received by pairs of
// nodes, one pair for each tensor and destination.
func Partition(g *graph.Graph, o PartitionOptions) (parts map[string]*graph.Graph, err error) {
	defer core.Recover(&err, "the partition of a graph")
	g, err = addControlLoops(g, o.NewName)
	if err != nil {
		return nil, err
	}
	p := &partitioner{o: o, g: g, parts: map[string]*graph.Graph{}, copies: make([]*graph.Node, len(g.Nodes)), recvs: map[crossing]*graph.Node{}}
	g.Renumber()
	for _, n := range g.Nodes {
		if err := g.Budget.Visit(1); err != nil {
			return nil, err
		}
		if err := p.copy(n); err != nil {
			return nil, err
		}
	}
	for _, n := range g.Nodes {
		if err := g.Budget.Visit(1); err != nil {
			return nil, err
		}
		if err := p.connect(n); err != nil {
			return nil, err
		}
	}
	return p.parts, nil
}

type partitioner struct {
	o      PartitionOptions
	g      *graph.Graph
	parts  map[string]*graph.Graph
	copies []*graph.Node // by ID in g
	recvs  map[crossing]*graph.Node
	edges  int // counts crossing edges: their names must differ
}

func (p *partitioner) copy(n *graph.Node) error {
	if n.Device == "" {
		return core.Errorf(core.Internal, "node %s must be placed before the graph is partitioned", n.Name)
	}
	loc := p.o.NodeToLoc(n)
	part := p.parts[loc]
	if part == nil {
		part = graph.New()
		part.Library, part.Producer, part.Budget = p.g.Library, p.g.Producer, p.g.Budget
		p.parts[loc] = part
	}
	c := &graph.Node{Node: n.Node, Shapes: n.Shapes}
	p.copies[n.ID] = c
	return part.Add(c)
}

// connect gives the copy of n its inputs.
func (p *partitioner) connect(n *graph.Node) error {
	c, loc := p.copies[n.ID], p.o.NodeToLoc(n)
	var refRecvs []*graph.Node
	for k, e := range n.In {
		if p.o.NodeToLoc(e.Node) == loc {
			c.In = append(c.In, graph.Edge{Node: p.copies[e.Node.ID], Out: e.Out})
			continue
		}
		if e.Type().IsRef() && n.InTypes[k].IsRef() {
			return core.AtNode(core.Errorf(core.InvalidArgument, "a reference cannot leave its device: %s is on %s, %s on %s", e.Name(), e.Node.Device, n.Name, n.Device), &n.Node, nil)
		}
		r, err := p.receive(crossing{e.Node, e.Out, loc}, n)
		if err != nil {
			return err
		}
		if e.Type().IsRef() {
			refRecvs = append(refRecvs, r)
		}
		c.In = append(c.In, graph.Edge{Node: r})
	}
	orderRefReads(c, refRecvs)
	return p.connectControl(n, c, loc)
}

// orderRefReads: a variable that is read elsewhere is read after the other
// inputs are there.
func orderRefReads(c *graph.Node, recvs []*graph.Node) {
	for _, r := range recvs {
		var after []*graph.Node
		for _, e := range c.In {
			if !slices.Contains(recvs, e.Node) {
				after = append(after, e.Node)
			}
		}
		r.AddControls(after...)
	}
}

func (p *partitioner) connectControl(n, c *graph.Node, loc string) error {
	after := make([]*graph.Node, len(n.Control))
	for i, d := range n.Control {
		if after[i] = p.copies[d.ID]; p.o.NodeToLoc(d) == loc {
			continue
		}
		r, err := p.receive(crossing{d, -1, loc}, n)
		if err != nil {
			return err
		}
		after[i] = r
	}
	c.AddControls(after...)
	return nil
}

// Names returns a NewName that appends "_<mark><count>".
func Names(mark string) func(old string) string {
	n := 0
	return func(old string) string {
		n++
		return fmt.Sprintf("%s_%s%d", old, mark, n-1)
	}
}

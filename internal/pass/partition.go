package pass

import (
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf"
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
func Partition(g *graph.Graph, o PartitionOptions) (map[string]*graph.Graph, error) {
	p := &partitioner{o: o, g: g, parts: map[string]*graph.Graph{}, copies: make([]*graph.Node, len(g.Nodes)), recvs: map[crossing]*graph.Node{}}
	g.Renumber()
	for _, n := range g.Nodes {
		if err := p.copy(n); err != nil {
			return nil, err
		}
	}
	for _, n := range g.Nodes {
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

// crossing is a tensor on its way to another location.
type crossing struct {
	src *graph.Node
	out int // -1: only that src has run
	dst string
}

func (p *partitioner) copy(n *graph.Node) error {
	if n.Device == "" {
		return tf.Errorf(tf.Internal, "node %s must be placed before the graph is partitioned", n.Name)
	}
	loc := p.o.NodeToLoc(n)
	part := p.parts[loc]
	if part == nil {
		part = graph.New()
		part.Library, part.Producer = p.g.Library, p.g.Producer
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
			return tf.AtNode(tf.Errorf(tf.InvalidArgument, "a reference cannot leave its device: %s is on %s, %s on %s", e.Name(), e.Node.Device, n.Name, n.Device), &n.Node, nil)
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
		for _, e := range c.In {
			if !slices.Contains(recvs, e.Node) {
				r.AddControl(e.Node)
			}
		}
	}
}

func (p *partitioner) connectControl(n, c *graph.Node, loc string) error {
	for _, d := range n.Control {
		if p.o.NodeToLoc(d) == loc {
			c.AddControl(p.copies[d.ID])
			continue
		}
		r, err := p.receive(crossing{d, -1, loc}, n)
		if err != nil {
			return err
		}
		c.AddControl(r)
	}
	return nil
}

// receive returns the node of destination x.dst that has the value of x,
// adding the pair that brings it there if need be.
func (p *partitioner) receive(x crossing, user *graph.Node) (*graph.Node, error) {
	if r := p.recvs[x]; r != nil {
		return r, nil
	}
	src, err := p.source(x)
	if err != nil {
		return nil, err
	}
	attrs := p.transferAttrs(x.src, user)
	p.edges++
	from := p.parts[p.o.NodeToLoc(x.src)]
	if err := p.add(from, x.src, "_Send", with(attrs, "T", src.Type().Base()), x.src.Device, src); err != nil {
		return nil, err
	}
	to := p.parts[x.dst]
	if err := p.add(to, x.src, "_Recv", with(attrs, "tensor_type", src.Type().Base()), user.Device); err != nil {
		return nil, err
	}
	r := to.Nodes[len(to.Nodes)-1]
	r.Shapes = []tf.Shape{src.Node.OutShape(src.Out)}
	if x.out < 0 {
		if err := p.add(to, x.src, "Identity", tf.Attrs{"T": tf.Float32}, user.Device, graph.Edge{Node: r}); err != nil {
			return nil, err
		}
		r = to.Nodes[len(to.Nodes)-1]
	}
	p.recvs[x] = r
	return r, nil
}

// source returns what is sent for x: for the mere fact that a node has run, an
// empty constant after it.
func (p *partitioner) source(x crossing) (graph.Edge, error) {
	c := p.copies[x.src.ID]
	if x.out >= 0 {
		return graph.Edge{Node: c, Out: x.out}, nil
	}
	part := p.parts[p.o.NodeToLoc(x.src)]
	empty := tf.NewTensor(tf.Float32, tf.Shape{0})
	n, err := part.AddNew(p.o.NewName(x.src.Name+"/ctrl"), "Const", tf.Attrs{"dtype": tf.Float32, "value": empty}, x.src.Device)
	if err != nil {
		return graph.Edge{}, err
	}
	n.AddControl(c)
	n.Shapes = []tf.Shape{{0}}
	return graph.Edge{Node: n}, nil
}

func (p *partitioner) transferAttrs(src, dst *graph.Node) tf.Attrs {
	return tf.Attrs{
		"tensor_name": fmt.Sprintf("edge_%d_%s", p.edges, src.Name), "client_terminated": false,
		"send_device": src.Device, "recv_device": dst.Device, "send_device_incarnation": int64(p.o.Incarnation(src.Device)),
	}
}

func with(a tf.Attrs, k string, v any) tf.Attrs {
	out := tf.Attrs{k: v}
	for k, v := range a {
		out[k] = v
	}
	return out
}

func (p *partitioner) add(part *graph.Graph, old *graph.Node, op string, attrs tf.Attrs, dev string, in ...graph.Edge) error {
	n, err := part.AddNew(p.o.NewName(old.Name), op, attrs, dev, in...)
	if err != nil {
		return err
	}
	n.CopyPos(&old.Node)
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

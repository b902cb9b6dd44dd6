package pass

import (
	"fmt"
	"maps"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// crossing is a tensor on its way to another location.
type crossing struct {
	src *graph.Node
	out int // -1: only that src has run
	dst string
}

func (x crossing) isRef() bool { return x.out >= 0 && x.src.OutTypes[x.out].IsRef() }

// receive returns the node of destination x.dst that has the value of x,
// adding the pair that brings it there if need be.
func (p *partitioner) receive(x crossing, user *graph.Node) (*graph.Node, error) {
	if r := p.recvs[x]; r != nil {
		return r, nil
	}
	r, err := p.transfer(x, user)
	if err == nil && !x.isRef() { // a variable's value may have changed for the next reader
		p.recvs[x] = r
	}
	return r, err
}

// transfer adds a pair of nodes for x and returns the one that has the value.
func (p *partitioner) transfer(x crossing, user *graph.Node) (*graph.Node, error) {
	src, err := p.source(x)
	if err != nil {
		return nil, err
	}
	attrs, typ := p.transferAttrs(x.src, user), src.Type().Base()
	from, to := p.parts[p.o.NodeToLoc(x.src)], p.parts[x.dst]
	if _, err := p.add(from, x.src, "_Send", with(attrs, "T", typ), x.src.Device, src); err != nil {
		return nil, err
	}
	r, err := p.add(to, x.src, "_Recv", with(attrs, "tensor_type", typ), user.Device)
	if err != nil {
		return nil, err
	}
	r.Shapes = []core.Shape{src.Node.OutShape(src.Out)}
	p.repeat(r, user)
	if x.out < 0 {
		return p.add(to, x.src, "Identity", core.Attrs{"T": typ}, user.Device, graph.Edge{Node: r})
	}
	return r, nil
}

// repeat makes a receive for a node in a loop run in each iteration.
func (p *partitioner) repeat(r, user *graph.Node) {
	for _, c := range user.Control {
		if isControlLoop(c) {
			r.AddControl(p.copies[c.ID])
		}
	}
}

// source returns what is sent for x: for the mere fact that a node has run, an
// empty constant after it.
func (p *partitioner) source(x crossing) (graph.Edge, error) {
	c := p.copies[x.src.ID]
	if x.out >= 0 {
		return graph.Edge{Node: c, Out: x.out}, nil
	}
	part := p.parts[p.o.NodeToLoc(x.src)]
	empty := core.NewTensor(core.Float32, core.Shape{0})
	n, err := part.AddNew(p.o.NewName(x.src.Name+"/ctrl"), "Const", core.Attrs{"dtype": core.Float32, "value": empty}, x.src.Device)
	if err != nil {
		return graph.Edge{}, err
	}
	n.AddControl(c)
	n.Shapes = []core.Shape{{0}}
	return graph.Edge{Node: n}, nil
}

// transferAttrs returns what the nodes of a pair have in common. No two pairs
// have the same name.
func (p *partitioner) transferAttrs(src, dst *graph.Node) core.Attrs {
	p.edges++
	return core.Attrs{
		"tensor_name": fmt.Sprintf("edge_%d_%s", p.edges-1, src.Name), "client_terminated": false,
		"send_device": src.Device, "recv_device": dst.Device, "send_device_incarnation": int64(p.o.Incarnation(src.Device)),
	}
}

func with(a core.Attrs, k string, v any) core.Attrs {
	out := maps.Clone(a)
	out[k] = v
	return out
}

// add adds a node that is derived from old.
func (p *partitioner) add(part *graph.Graph, old *graph.Node, op string, attrs core.Attrs, dev string, in ...graph.Edge) (*graph.Node, error) {
	n, err := part.AddNew(p.o.NewName(old.Name), op, attrs, dev, in...)
	if err == nil {
		n.CopyPos(&old.Node)
	}
	return n, err
}

package master

import (
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// layout is what planning needs to know of a session's devices.
type layout struct {
	devices     []pass.DeviceInfo
	client      string            // device where feeds and fetches live
	incarnation map[string]uint64 // by device
	task        map[string]string // by device
	inOrder     bool              // reductions of a device run one after the other
}

// newLayout describes the devices of a session's members.
func newLayout(members []member, client string) (*layout, error) {
	own, err := core.ParseDevice(client)
	if err != nil {
		return nil, err
	}
	l := &layout{client: client, incarnation: map[string]uint64{}, task: map[string]string{}}
	for _, m := range members {
		for _, d := range m.devices {
			if err := l.add(d, m.task, m.task == own.TaskName()); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

func (l *layout) add(d *pb.DeviceAttributes, task string, local bool) error {
	spec, err := core.ParseDevice(d.GetName())
	if err != nil {
		return err
	}
	name := spec.String()
	l.devices = append(l.devices, pass.DeviceInfo{Spec: spec, Incarnation: d.GetIncarnation(), Local: local})
	l.incarnation[name], l.task[name] = d.GetIncarnation(), task
	return nil
}

// place assigns devices to all nodes of g. Nodes with state stay where pinned
// says; where it does not, it is told.
func (l *layout) place(g *graph.Graph, soft bool, pinned map[string]string) error {
	p := pass.Placer{Devices: l.devices, Soft: soft, Pinned: pinned}
	if err := p.Place(g); err != nil {
		return err
	}
	for _, n := range g.Nodes {
		if n.Def.Stateful {
			pinned[n.Name] = n.Device
		}
	}
	return nil
}

// A part is what one task does in a step.
type part struct {
	task    string
	graph   *graph.Graph
	feeds   []terminal // that enter here
	fetches []terminal // that leave here
}

// A terminal is a tensor that a client feeds or fetches, and the key under
// which it passes through the rendezvous.
type terminal struct{ tensor, key string }

// split works out the parts of a step: g, which is placed, reduced to what the
// signature needs, and cut between tasks.
func (l *layout) split(g *graph.Graph, s pass.Signature, optimize func(*graph.Graph, pass.Signature) (*graph.Graph, error)) ([]part, error) {
	g, err := pass.ClientGraph(g, s, pass.Terminals{ClientDevice: l.client, Incarnation: l.incarnation[l.client]})
	if err != nil {
		return nil, err
	}
	if err := pass.CheckCalls(g); err != nil {
		return nil, err
	}
	if optimize != nil {
		if g, err = optimize(g, s); err != nil {
			return nil, err
		}
	}
	if l.inOrder {
		if err := pass.OrderCollectives(g); err != nil {
			return nil, err
		}
	}
	graphs, err := pass.Partition(g, pass.PartitionOptions{
		NodeToLoc:   func(n *graph.Node) string { return l.task[n.Device] },
		NewName:     pass.Names("S"),
		Incarnation: func(device string) uint64 { return l.incarnation[device] },
	})
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, task := range slices.Sorted(maps.Keys(graphs)) {
		parts = append(parts, newPart(task, graphs[task]))
	}
	return parts, nil
}

func newPart(task string, g *graph.Graph) part {
	p := part{task: task, graph: g}
	for _, n := range g.Nodes {
		switch {
		case !n.Bool("client_terminated"):
		case n.Role() == core.Receives:
			p.feeds = append(p.feeds, terminalOf(n))
		case n.Role() == core.Sends:
			p.fetches = append(p.fetches, terminalOf(n))
		}
	}
	return p
}

func terminalOf(n *graph.Node) terminal {
	k := rendezvous.KeyOf(&n.Node)
	return terminal{tensor: k.Edge, key: k.String()}
}

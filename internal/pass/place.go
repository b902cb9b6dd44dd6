package pass

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// DeviceInfo is what placement knows of a device.
type DeviceInfo struct {
	Spec        core.DeviceSpec
	Incarnation uint64
	Local       bool // in the task of the client device
}

// Placer assigns each node of a graph to a device, as TensorFlow's does:
// nodes tied by references, resources or explicit colocation go together.
type Placer struct {
	Devices []DeviceInfo
	Soft    bool // fall back when what is asked for does not exist
	// Pinned, by node name, are devices found by an earlier placement; nodes
	// with state must not move.
	Pinned map[string]string
}

// typePriority orders devices that would all do.
var typePriority = map[string]int{"GPU": 210, "CPU": 70}

// Place assigns devices. Nodes without inputs that make one value go to where
// it is used, if that is one place, so they come last.
func (p *Placer) Place(g *graph.Graph) (err error) {
	defer core.Recover(&err, "the placement of a graph")
	g.Renumber()
	u := newGroups(g, p.Soft)
	if err := u.join(); err != nil {
		return err
	}
	p.pin(u)
	pl := placement{Placer: p, groups: u, device: make([]string, len(g.Nodes)), uses: g.Uses()}
	for _, second := range []bool{false, true} {
		for _, n := range g.Nodes {
			if err := g.Budget.Visit(1); err != nil {
				return err
			}
			if generator(n) != second {
				continue
			}
			if err := pl.assign(n); err != nil {
				return err
			}
		}
	}
	for i, n := range g.Nodes {
		n.Device = pl.device[i]
	}
	return nil
}

// pin assigns the groups of nodes that have been placed before.
func (p *Placer) pin(u *groups) {
	for i, n := range u.g.Nodes {
		if d := p.Pinned[n.Name]; d != "" {
			u.of(i).assigned = d
		}
	}
}

// placement is a graph that is being placed.
type placement struct {
	*Placer
	*groups
	device []string // by node ID, as far as assigned
	uses   [][]*graph.Node
}

func (p *placement) assign(n *graph.Node) error {
	grp := p.of(n.ID)
	if grp.assigned == "" {
		all, err := p.find(n, grp)
		if err != nil {
			return err
		}
		grp.assigned = all[0].Spec.String()
		if want := p.neighbour(n); slices.ContainsFunc(all, func(d DeviceInfo) bool { return d.Spec.String() == want }) {
			grp.assigned = want
		}
	}
	p.device[n.ID] = grp.assigned
	return nil
}

// neighbour returns the device that n had best share, if there is one: that of
// its input, if n reads only the input's description or stands alone between
// nodes that ask for the same; that of its users, if n has no inputs.
func (p *placement) neighbour(n *graph.Node) string {
	switch {
	case generator(n):
		return p.usersDevice(n)
	case n.Def.Has(core.ReadsDescription) || p.between(n):
		return p.device[n.In[0].Node.ID]
	}
	return ""
}

func generator(n *graph.Node) bool {
	return len(n.InTypes) == 0 && len(n.OutTypes) == 1 && !n.OutTypes[0].IsRef()
}

// between reports whether n only passes on a value from one node to another
// one that asks for the same device.
func (p *placement) between(n *graph.Node) bool {
	uses := p.uses[n.ID]
	return n.Def.Has(core.Passthrough) && len(n.Control) == 0 && len(uses) == 1 && uses[0].Device == n.In[0].Node.Device
}

// usersDevice returns the device of all nodes that use n, "" if they differ.
func (p *placement) usersDevice(n *graph.Node) string {
	dev := ""
	for i, u := range p.uses[n.ID] {
		if i > 0 && p.device[u.ID] != dev {
			return ""
		}
		dev = p.device[u.ID]
	}
	return dev
}

// find returns the devices that n's group may go to, the best first.
func (p *placement) find(n *graph.Node, grp *group) ([]DeviceInfo, error) {
	all := p.candidates(grp, grp.spec)
	if len(all) == 0 && p.Soft {
		all = p.candidates(grp, anyDeviceOf(grp.spec, grp.resource))
	}
	if len(all) == 0 && p.Soft {
		all = p.candidates(grp, anyDeviceOf(grp.spec, core.AnyDevice))
	}
	if len(all) == 0 {
		return nil, p.unplaceable(n, grp)
	}
	return all, nil
}

// anyDeviceOf opens type and number of a spec, but for what keep asks for.
func anyDeviceOf(spec, keep core.DeviceSpec) core.DeviceSpec {
	spec.Type, spec.ID = keep.Type, keep.ID
	return spec
}

func (p *Placer) candidates(grp *group, spec core.DeviceSpec) []DeviceInfo {
	var out []DeviceInfo
	for _, d := range p.Devices {
		if spec.Matches(d.Spec) && grp.unsupported(d.Spec.Type) == nil {
			out = append(out, d)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		return cmp.Or(cmp.Compare(typePriority[b.Spec.Type], typePriority[a.Spec.Type]),
			compareBool(b.Local, a.Local), cmp.Compare(a.Spec.String(), b.Spec.String())) < 0
	})
	return out
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// unplaceable says why n cannot be placed: a device that it asks for lacks a
// kernel, or there is no such device.
func (p *Placer) unplaceable(n *graph.Node, grp *group) error {
	for _, d := range p.Devices {
		if !grp.spec.Matches(d.Spec) {
			continue
		}
		if m := grp.unsupported(d.Spec.Type); m != nil {
			return noKernel(d.Spec.Type, &m.Node)
		}
	}
	return core.AtNode(core.Errorf(core.InvalidArgument, "Cannot assign a device for operation %s: {{node %s}} was explicitly assigned to %s but available devices are [ %s ]. Make sure the device specification refers to a valid device.",
		n.Name, n.Name, cmp.Or(n.Device, grp.spec.String()), p.deviceNames()), &n.Node, nil)
}

// noKernel says that n has no kernel on devices of a type. A lookup of the
// kernel gives NOT_FOUND, a graph that needs it INVALID_ARGUMENT.
func noKernel(typ string, n *core.Node) error {
	_, err := core.FindKernel(typ, n)
	var e *core.Error
	if errors.As(err, &e) && e.Code == core.NotFound {
		err = core.Errorf(core.InvalidArgument, "%s", e.Msg)
	}
	return core.AtNode(err, n, nil)
}

func (p *Placer) deviceNames() string {
	names := make([]string, len(p.Devices))
	for i, d := range p.Devices {
		names[i] = d.Spec.String()
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Placement lists the placement, a line for each node, as
// log_device_placement does.
func Placement(g *graph.Graph) string {
	var b strings.Builder
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "%s: (%s): %s\n", n.Name, n.OpName(), n.Device)
	}
	return b.String()
}

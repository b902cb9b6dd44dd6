package pass

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf"
)

// DeviceInfo is what placement knows of a device.
type DeviceInfo struct {
	Spec        tf.DeviceSpec
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

// Place assigns devices. Nodes that have a full device keep it if it exists.
func (p *Placer) Place(g *graph.Graph) error {
	g.Renumber()
	u := newGroups(g)
	if err := u.join(); err != nil {
		return err
	}
	for _, n := range g.Nodes {
		grp := u.find(n.ID)
		if u.assigned[grp] == "" {
			dev, err := p.choose(n, u, grp)
			if err != nil {
				return err
			}
			u.assigned[grp] = dev
		}
		n.Device = u.assigned[grp]
	}
	return nil
}

// choose picks the device of the group that n is the first member of.
func (p *Placer) choose(n *graph.Node, u *groups, grp int) (string, error) {
	for _, m := range u.members(grp) {
		if dev := p.Pinned[u.g.Nodes[m].Name]; dev != "" {
			return dev, nil
		}
	}
	spec := u.spec[grp]
	cands := p.candidates(u, grp, spec)
	if len(cands) == 0 && p.Soft {
		spec.Type, spec.ID = "", -1
		cands = p.candidates(u, grp, spec)
	}
	if len(cands) == 0 {
		return "", p.unplaceable(n, u.spec[grp], u, grp)
	}
	return cands[0].Spec.String(), nil
}

// candidates returns the devices that a group may go to, the best first.
func (p *Placer) candidates(u *groups, grp int, spec tf.DeviceSpec) []DeviceInfo {
	var out []DeviceInfo
	for _, d := range p.Devices {
		if spec.Matches(d.Spec) && u.supported(grp, d.Spec.Type) {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b DeviceInfo) int {
		return cmp.Or(cmp.Compare(typePriority[b.Spec.Type], typePriority[a.Spec.Type]),
			compareBool(b.Local, a.Local), cmp.Compare(a.Spec.String(), b.Spec.String()))
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

func (p *Placer) unplaceable(n *graph.Node, spec tf.DeviceSpec, u *groups, grp int) error {
	for _, d := range p.Devices {
		if !spec.Matches(d.Spec) {
			continue
		}
		for _, m := range u.members(grp) {
			if _, err := tf.FindKernel(d.Spec.Type, &u.g.Nodes[m].Node); err != nil {
				return tf.AtNode(err, &u.g.Nodes[m].Node, nil)
			}
		}
	}
	names := make([]string, len(p.Devices))
	for i, d := range p.Devices {
		names[i] = d.Spec.String()
	}
	slices.Sort(names)
	err := tf.Errorf(tf.InvalidArgument, "Cannot assign a device for operation %s: %s was explicitly assigned to %s but available devices are [ %s ]. Make sure the device specification refers to a valid device.",
		n.Name, n.Name, spec, strings.Join(names, ", "))
	return tf.AtNode(err, &n.Node, nil)
}

// groups is a union-find over nodes that have to be on one device.
type groups struct {
	g        *graph.Graph
	parent   []int
	spec     []tf.DeviceSpec
	assigned []string
	list     [][]int
}

func newGroups(g *graph.Graph) *groups {
	n := len(g.Nodes)
	u := &groups{g: g, parent: make([]int, n), spec: make([]tf.DeviceSpec, n), assigned: make([]string, n), list: make([][]int, n)}
	for i := range u.parent {
		u.parent[i], u.list[i] = i, []int{i}
	}
	return u
}

func (u *groups) find(i int) int {
	for u.parent[i] != i {
		u.parent[i] = u.parent[u.parent[i]]
		i = u.parent[i]
	}
	return i
}

func (u *groups) members(grp int) []int { return u.list[grp] }

// join reads the requested devices and merges groups.
func (u *groups) join() error {
	for i, n := range u.g.Nodes {
		d, err := tf.ParseDevice(n.Device)
		if err != nil {
			return tf.AtNode(err, &n.Node, nil)
		}
		u.spec[i] = d
	}
	for _, n := range u.g.Nodes {
		for k, e := range n.In {
			if e.Type().IsRef() && n.InTypes[k].IsRef() || e.Type() == tf.Resource && !exempt[n.OpName()] {
				if err := u.union(n, e.Node, true); err != nil {
					return err
				}
			}
		}
		for _, name := range n.Strs("_class") {
			if at, ok := strings.CutPrefix(name, "loc:@"); ok && u.g.Node(at) != nil {
				if err := u.union(n, u.g.Node(at), false); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// exempt ops may take resources of other devices.
var exempt = map[string]bool{"IdentityN": true, "PartitionedCall": true, "StatefulPartitionedCall": true, "_Send": true, "_HostSend": true, "_Retval": true}

func (u *groups) union(a, b *graph.Node, resource bool) error {
	i, j := u.find(a.ID), u.find(b.ID)
	if i == j {
		return nil
	}
	m, ok := u.spec[j].Merge(u.spec[i])
	if !ok && resource {
		// The one that holds the state decides where it is.
		return tf.AtNode(tf.Errorf(tf.InvalidArgument, "Cannot colocate nodes {{node %s}} and {{node %s}}: Nodes were connected by a reference or resource connection (requiring them to be on the same device), but the two nodes were assigned two different devices: %s and %s",
			a.Name, b.Name, u.spec[i], u.spec[j]), &a.Node, nil)
	}
	if !ok {
		return tf.AtNode(tf.Errorf(tf.InvalidArgument, "Cannot colocate nodes {{node %s}} and {{node %s}} because no device type supports both of those nodes and the other nodes colocated with them: %s and %s",
			a.Name, b.Name, u.spec[i], u.spec[j]), &a.Node, nil)
	}
	u.parent[i], u.spec[j] = j, m
	u.list[j], u.list[i] = append(u.list[j], u.list[i]...), nil
	return nil
}

// supported reports whether all members have kernels for a device type.
func (u *groups) supported(grp int, typ string) bool {
	for _, m := range u.members(grp) {
		if _, err := tf.FindKernel(typ, &u.g.Nodes[m].Node); err != nil {
			return false
		}
	}
	return true
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

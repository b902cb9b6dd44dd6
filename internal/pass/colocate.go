package pass

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// group is a set of nodes that have to be on one device.
type group struct {
	members  []*graph.Node
	spec     core.DeviceSpec // what they ask for together
	resource core.DeviceSpec // what those ask for that make references or resources
	assigned string
}

// unsupported returns a member that has no kernel for a device type, or nil.
func (g *group) unsupported(typ string) *graph.Node {
	for _, m := range g.members {
		if _, err := core.FindKernel(typ, &m.Node); err != nil {
			return m
		}
	}
	return nil
}

// groups is a union-find over the nodes of a graph.
type groups struct {
	g      *graph.Graph
	soft   bool
	parent []int
	list   []group // by node ID, valid for roots
}

func newGroups(g *graph.Graph, soft bool) *groups {
	u := &groups{g: g, soft: soft, parent: make([]int, len(g.Nodes)), list: make([]group, len(g.Nodes))}
	for i := range u.parent {
		u.parent[i] = i
	}
	return u
}

func (u *groups) root(i int) int {
	for u.parent[i] != i {
		u.parent[i] = u.parent[u.parent[i]]
		i = u.parent[i]
	}
	return i
}

// of returns the group of node i.
func (u *groups) of(i int) *group { return &u.list[u.root(i)] }

// join reads the requested devices and merges groups.
func (u *groups) join() error {
	for i, n := range u.g.Nodes {
		if err := u.g.Budget.Visit(1); err != nil {
			return err
		}
		d, err := core.ParseDevice(n.Device)
		if err != nil {
			return core.AtNode(err, &n.Node, nil)
		}
		u.list[i] = group{members: []*graph.Node{n}, spec: d, resource: core.AnyDevice}
		if makesResource(n) {
			u.list[i].resource = d
		}
	}
	if err := u.joinResources(); err != nil {
		return err
	}
	return u.joinClasses()
}

func makesResource(n *graph.Node) bool {
	return len(n.InTypes) == 0 && len(n.OutTypes) == 1 && (n.OutTypes[0].IsRef() || n.OutTypes[0] == core.Resource)
}

// joinResources ties the users of a reference or resource to the node that makes it.
func (u *groups) joinResources() error {
	for _, n := range u.g.Nodes {
		if err := u.g.Budget.Visit(1); err != nil {
			return err
		}
		for k, e := range n.In {
			if tied(n, k) {
				if err := u.follow(n, e.Node); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func tied(n *graph.Node, k int) bool {
	return n.InTypes[k].IsRef() || n.InTypes[k] == core.Resource && !exempt(n)
}

// exempt ops may take resources of other devices.
func exempt(n *graph.Node) bool {
	r := n.Role()
	return r == core.Calls || r == core.Sends || r == core.Result || n.OpName() == "IdentityN"
}

// follow puts n on the device of src, whose resource it uses. That n asks for
// another device does not matter, unless it is for the sake of another resource.
func (u *groups) follow(n, src *graph.Node) error {
	a, b := u.of(src.ID), u.of(n.ID)
	if a == b {
		return nil
	}
	if _, ok := a.resource.Merge(b.resource); !ok {
		return core.AtNode(core.Errorf(core.InvalidArgument, "Cannot place the graph because a reference or resource edge connects colocation groups with incompatible resource devices: %s vs %s. The edge src node is name='%s' (op='%s'), and the dst node is name='%s' (op='%s').",
			a.resource, b.resource, src.Name, src.OpName(), n.Name, n.OpName()), &n.Node, nil)
	}
	if _, ok := a.spec.Merge(b.spec); !ok {
		b.spec = a.spec
	}
	if err := u.union(n, src); err != nil {
		return core.AtNode(core.Errorf(core.InvalidArgument, "Nodes were connected by a reference or resource connection (requiring them to be on the same device), but the two nodes were assigned two different devices: %s",
			core.AsError(err).Message()), &n.Node, nil)
	}
	return nil
}

// joinClasses ties nodes that name one another in their attribute _class. All
// that give a name go together, whether or not there is a node of that name.
func (u *groups) joinClasses() error {
	first := map[string]*graph.Node{}
	for _, n := range u.g.Nodes {
		if err := u.g.Budget.Visit(1); err != nil {
			return err
		}
		for _, class := range append(slices.Clip(n.Strs("_class")), "loc:@"+n.Name) { // other graphs have the list, too
			name, ok := strings.CutPrefix(class, "loc:@")
			switch {
			case !ok:
			case first[name] == nil:
				first[name] = n
			default:
				if err := u.union(n, first[name]); err != nil && !u.soft {
					return core.AtNode(err, &n.Node, nil)
				}
			}
		}
	}
	return nil
}

// union merges the groups of a and b.
func (u *groups) union(a, b *graph.Node) error {
	i, j := u.root(a.ID), u.root(b.ID)
	if i == j {
		return nil
	}
	x, y := &u.list[i], &u.list[j]
	resource, err := mergeSpecs(x.resource, y.resource, false)
	if err == nil {
		y.spec, err = mergeSpecs(x.spec, y.spec, u.soft)
	}
	if err != nil {
		return core.Errorf(core.InvalidArgument, "Cannot colocate nodes {{colocation_node %s}} and {{colocation_node %s}}: %v", a.Name, b.Name, err)
	}
	y.spec, y.resource = y.spec.Override(resource), resource
	if len(x.members) > len(y.members) { // the larger group takes in the smaller one
		x.spec, x.resource, x.assigned = y.spec, y.resource, y.assigned
		i, j, x, y = j, i, y, x
	}
	y.members, x.members = append(y.members, x.members...), nil
	u.parent[i] = j
	return nil
}

// mergeSpecs returns what x and y ask for together. If soft, types and numbers
// that differ are left open.
func mergeSpecs(x, y core.DeviceSpec, soft bool) (core.DeviceSpec, error) {
	m, ok := x.Merge(y)
	if ok {
		return m, nil
	}
	what := difference(x, y)
	switch {
	case soft && what == "types":
		m.Type, m.ID = "", -1
		return m, nil
	case soft && what == "ids":
		m.ID = -1
		return m, nil
	}
	return y, fmt.Errorf("Cannot merge devices with incompatible %s: '%s' and '%s'", what, x, y)
}

// difference names the first part in which x and y disagree.
func difference(x, y core.DeviceSpec) string {
	clash := func(a, b int) bool { return a >= 0 && b >= 0 && a != b }
	switch {
	case x.Job != "" && y.Job != "" && x.Job != y.Job:
		return "jobs"
	case clash(x.Replica, y.Replica):
		return "replicas"
	case clash(x.Task, y.Task):
		return "tasks"
	case x.Type != "" && y.Type != "" && x.Type != y.Type:
		return "types"
	}
	return "ids"
}

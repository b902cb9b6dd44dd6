package eagerservice

import (
	"fmt"
	"slices"
	"sort"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/core"
)

// A layout is the body of a function that is being placed.
type layout struct {
	*spread
	op      *operation
	g       *graph.Graph
	devices []pass.DeviceInfo
}

// deviceInfos returns the devices of all tasks.
func (c *Context) deviceInfos() (all []pass.DeviceInfo) {
	for _, d := range c.session.Devices().List() {
		all = append(all, pass.DeviceInfo{Spec: d.Spec(), Incarnation: d.Incarnation(), Local: true})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, d := range c.cluster.devices {
		if spec, err := core.ParseDevice(name); err == nil && c.session.Devices().Lookup(name) == nil {
			all = append(all, pass.DeviceInfo{Spec: spec, Incarnation: d.GetIncarnation()})
		}
	}
	others := all[len(c.session.Devices().List()):]
	sort.Slice(others, func(i, j int) bool { return others[i].Spec.String() < others[j].Spec.String() })
	return all
}

// incarnation returns that of a device of any task.
func (c *Context) incarnation(device string) uint64 {
	if d := c.session.Devices().Lookup(device); d != nil {
		return d.Incarnation()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cluster.devices[device].GetIncarnation()
}

// place gives each node a device.
func (l *layout) place(rets int) error {
	if err := l.checkFrame(rets); err != nil {
		return err
	}
	if err := l.ask(); err != nil {
		return err
	}
	if err := l.unpack(); err != nil {
		return err
	}
	if err := l.follow(); err != nil {
		return err
	}
	p := pass.Placer{Soft: true, Devices: l.devices}
	if err := p.Place(l.g); err != nil {
		return err
	}
	if err := l.checkRemote(); err != nil {
		return err
	}
	l.rets = make([]string, rets)
	for _, n := range l.g.Nodes {
		if n.Role() == core.Result { // a result stays where it is made
			n.Device = n.In[0].Node.Device
			l.rets[n.Int("index")] = n.Device
		}
	}
	return nil
}

// checkFrame refuses nodes of arguments and results that the call does not have: a body
// may bring such nodes besides those of its signature.
func (l *layout) checkFrame(rets int) error {
	for _, n := range l.g.Nodes {
		what, have := "Argument", len(l.op.in)
		switch n.Role() {
		case core.Argument:
		case core.Result:
			what, have = "Result", rets
		default:
			continue
		}
		if i := n.Int("index"); i < 0 || i >= have {
			return core.AtNode(core.Errorf(core.InvalidArgument, "%s index %d is out of range: the call has %d", what, i, have), &n.Node, nil)
		}
	}
	return nil
}

// checkRemote refuses arguments of other tasks that have come to a device of this one: a
// client may name a device otherwise than its task does.
func (l *layout) checkRemote() error {
	for _, n := range l.g.Nodes {
		if n.Role() != core.Argument {
			continue
		}
		if in := l.given(l.op, n.Int("index")); in.remote != nil && l.isLocal(n.Device) {
			return core.Errorf(core.InvalidArgument, "an argument of another task must be on a device of that task, argument %d is on %q, which stands for %s here", n.Int("index"), in.place(), n.Device)
		}
	}
	return nil
}

func (l *layout) isLocal(device string) bool {
	return slices.ContainsFunc(l.devices, func(d pass.DeviceInfo) bool { return d.Local && d.Spec.String() == device })
}

// ask notes which device each node asks for; one that does not goes with the call.
func (l *layout) ask() error {
	caller, returned := l.op.device.Spec(), map[*graph.Node]bool{}
	for _, n := range l.g.Nodes {
		if n.Role() == core.Result && n.In[0].Node.Def.Has(core.Passthrough) {
			returned[n.In[0].Node] = true
		}
	}
	for _, n := range l.g.Nodes {
		own, err := core.ParseDevice(n.Device)
		if err != nil {
			return core.AtNode(err, &n.Node, nil)
		}
		switch {
		case n.Role() == core.Argument:
			n.Device = l.op.in[n.Int("index")].place()
		case n.Role() == core.Result || n.Device == "" && (len(n.Strs("_class")) > 0 || returned[n]):
			n.Device = ""
		default:
			n.Device = caller.Override(own).String()
		}
	}
	for i := range l.op.in {
		l.args = append(l.args, argument{i, -1})
	}
	return nil
}

// unpack gives the users of a packed argument that of their device. Who only waits for it
// need not: arguments are there before all nodes.
func (l *layout) unpack() error {
	copies := map[argument]*graph.Node{}
	for _, n := range slices.Clone(l.g.Nodes) {
		n.Control = slices.DeleteFunc(n.Control, l.isPacked)
		for k, e := range n.In {
			if !l.isPacked(e.Node) {
				continue
			}
			a := argument{e.Node.Int("index"), l.packedFor(e.Node, n)}
			if copies[a] == nil {
				var err error
				if copies[a], err = l.addArg(a, e.Node); err != nil {
					return err
				}
			}
			n.In[k].Node = copies[a]
		}
	}
	l.g.Keep(func(n *graph.Node) bool { return !l.isPacked(n) })
	return nil
}

// isPacked reports whether n is an argument of the call that is packed, and no copy.
func (l *layout) isPacked(n *graph.Node) bool {
	return n.Role() == core.Argument && n.Int("index") < len(l.op.in) && len(l.op.in[n.Int("index")].packed) > 0
}

// packedFor returns which of the values of a packed argument a node sees: that of
// its device, or else the first one.
func (l *layout) packedFor(arg, user *graph.Node) int {
	for i, p := range l.op.in[arg.Int("index")].packed {
		if p.place() == user.Device {
			return i
		}
	}
	return 0
}

func (l *layout) addArg(a argument, like *graph.Node) (*graph.Node, error) {
	index := len(l.args)
	l.args = append(l.args, a)
	return l.g.AddNew(fmt.Sprintf("%s_packed_%d", like.Name, a.packed), "_Arg", core.Attrs{"T": like.OutTypes[0], "index": int64(index)}, l.op.in[a.arg].packed[a.packed].place())
}

// follow moves what uses a resource to where that is, and copies for the caller to
// where their values are.
func (l *layout) follow() error {
	order, err := l.g.Sorted()
	if err != nil {
		return err
	}
	for _, n := range order {
		for _, e := range n.In {
			resource := e.Type().Base() == core.Resource && n.Role() != core.Result
			if e.Node.Device != "" && (resource || n.Device == "" && n.Def.Has(core.Passthrough)) {
				n.Device = e.Node.Device
			}
		}
	}
	return nil
}

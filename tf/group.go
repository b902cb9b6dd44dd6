package tf

import "slices"

// Group adds an operation that does nothing once all of ops have run. If they
// are on several devices, those of each are grouped there first, so that one
// message from each tells that they have run. An operation that is nil is refused with
// INVALID_ARGUMENT.
func Group(g *Graph, name string, ops ...*Operation) *Operation {
	devices, byDevice := splitByDevice(ops)
	if len(devices) < 2 || g == nil || slices.Contains(ops, nil) { // Apply refuses nil
		return Apply(g, "NoOp", nil, Name(name), After(ops...))
	}
	var all []*Operation
	g.Scope(name, func() {
		for _, dev := range devices {
			all = append(all, Apply(g, "NoOp", nil, OnDevice(dev), After(byDevice[dev]...)))
		}
		name = g.CurrentScope()
	})
	return Apply(g, "NoOp", nil, Name(name), After(all...))
}

// splitByDevice returns ops by the devices that they ask for, and those in order.
func splitByDevice(ops []*Operation) (devices []string, byDevice map[string][]*Operation) {
	byDevice = map[string][]*Operation{}
	for _, op := range ops {
		if op == nil {
			continue
		}
		if byDevice[op.Device] == nil {
			devices = append(devices, op.Device)
		}
		byDevice[op.Device] = append(byDevice[op.Device], op)
	}
	slices.Sort(devices)
	return devices, byDevice
}

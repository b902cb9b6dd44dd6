package step

import (
	"context"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// Variable returns the variable that a node of a graph stands for on its device, nil if
// there is none yet, or none whose memory the host has and whose writes are counted.
func (rt *Runtime) Variable(ctx context.Context, n *graph.Node) (*core.Ref, error) {
	d := rt.Devices.Lookup(n.Device)
	if d == nil || d.Spec().Type != "CPU" || n.Str("shared_name") == core.AnonymousName {
		return nil, nil
	}
	k, err := rt.Kernels.For(d)(&n.Node)
	if err != nil {
		return nil, err
	}
	compute, ok := core.AsCompute(k)
	if !ok {
		return nil, nil
	}
	s := core.Step{Context: ctx, Device: d, Resources: d.Resources(), Parallel: rt.Parallel}
	c := &core.OpContext{Step: &s, Node: &n.Node, Out: make([]core.Slot, 1)}
	if err := compute(c); err != nil {
		return nil, err
	}
	r := c.Out[0].Ref
	if r == nil {
		r = behind(d.Resources(), c.Out[0].T)
	}
	if r == nil || r.Home != d.Resources() {
		return nil, nil
	}
	return r, nil
}

// behind returns the variable that a handle points to, nil if there is none.
func behind(m *core.Resources, handle *core.Tensor) *core.Ref {
	if handle == nil || len(handle.Handles()) != 1 {
		return nil
	}
	h := handle.Handles()[0]
	v, ok := m.Find(h.Container, h.Name, h.HashCode)
	if !ok {
		return nil
	}
	if cell, ok := v.(interface{ Cell() *core.Ref }); ok {
		return cell.Cell()
	}
	return nil
}

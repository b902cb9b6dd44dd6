package step

import (
	"context"
	"maps"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/core"
)

// evaluator computes nodes before any step runs, for constant folding, until the
// planning ends.
type evaluator struct{ step core.Step }

func (rt *Runtime) evaluator(ctx context.Context) *evaluator {
	d := device.NewCPU(core.DeviceSpec{Job: "localhost", Type: "CPU"})
	return &evaluator{core.Step{Context: ctx, Device: d, Resources: d.Resources(), Parallel: rt.Parallel}}
}

// Evaluate returns what computes nodes for constant folding outside of a session, until
// ctx ends.
func Evaluate(ctx context.Context) pass.Eval {
	return new(Runtime).evaluator(ctx).eval
}

// eval computes n, whose kernel must not wait.
func (e *evaluator) eval(n *core.Node, in []*core.Tensor) (out []*core.Tensor, err error) {
	n = ofConstants(n)
	find, err := core.FindKernel("CPU", n)
	if err != nil {
		return nil, err
	}
	k, err := find(n)
	if err != nil {
		return nil, err
	}
	compute, ok := core.AsCompute(k)
	if !ok {
		return nil, core.Errorf(core.Unimplemented, "%s waits, it cannot be computed in advance", n.OpName())
	}
	c := &core.OpContext{Step: &e.step, Node: n, In: make([]core.Slot, len(in)), Out: make([]core.Slot, len(n.OutTypes))}
	for i, t := range in {
		c.In[i].T = t
	}
	return results(c, compute)
}

// ofConstants returns n as a step has it that reads constants: a convolution by filters that are
// one may choose another way, which rounds in other places.
func ofConstants(n *core.Node) *core.Node {
	if !n.Def.Has(core.Convolution) {
		return n
	}
	m := *n
	m.Attrs = maps.Clone(n.Attrs)
	m.Attrs[core.ConstantFilter] = true
	return &m
}

func results(c *core.OpContext, compute core.Compute) (out []*core.Tensor, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = core.Panicked("the kernel of "+c.Node.OpName(), v)
		}
	}()
	if err := compute(c); err != nil {
		return nil, err
	}
	out = make([]*core.Tensor, len(c.Out))
	for k, s := range c.Out {
		if s.T == nil || s.T.DType() != c.Node.OutTypes[k].Base() {
			return nil, core.Errorf(core.Internal, "Missing %d-th output from {{node %s}}", k, c.Node.Name)
		}
		out[k] = s.T
	}
	return out, nil
}

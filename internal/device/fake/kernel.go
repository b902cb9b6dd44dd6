package fake

import "github.com/gorge-tf/gorge/tf/core"

// findKernel finds the CPU's kernel for n and has it compute in private. Kernels that
// only move tensors pass them on to where they are copied, if they have to be.
func findKernel(n *core.Node) (core.NewKernel, error) {
	find, err := core.FindKernel("CPU", n)
	if err != nil || n.Role().MovesTensors() {
		return find, err
	}
	return func(n *core.Node) (core.Kernel, error) {
		k, err := find(n)
		if err != nil {
			return nil, err
		}
		if k, ok := core.AsCompute(k); ok {
			return compute(n, k), nil
		}
		if k, ok := k.(core.AsyncCompute); ok {
			return computeAsync(k), nil
		}
		return nil, core.Errorf(core.Internal, "a kernel must be a Compute or an AsyncCompute, got %T", k)
	}, nil
}

// deviceOf returns the device that a kernel runs on.
func deviceOf(c *core.OpContext) (*Device, error) {
	if d, ok := c.Device.(*Device); ok {
		return d, nil
	}
	return nil, core.Errorf(core.Internal, "a kernel of %s devices needs one to run on, got %T", Type, c.Device)
}

// compute wraps a kernel that does not wait. If it touches variables, their
// memory is open to it, so that it runs alone.
func compute(n *core.Node, k core.Compute) core.Compute {
	stateful := touchesVariables(n)
	return func(c *core.OpContext) error {
		d, err := deviceOf(c)
		if err != nil {
			return err
		}
		if stateful {
			d.variables.Lock()
			defer d.variables.Unlock()
		}
		v, err := d.enter(c)
		if err != nil {
			return err
		}
		if stateful {
			defer v.closeVariables()
			v.openVariables()
		}
		return v.leave(k(&v.inner))
	}
}

// computeAsync wraps a kernel that may wait: one of queues, not of variables.
func computeAsync(k core.AsyncCompute) core.AsyncCompute {
	return func(c *core.OpContext, done func(error)) {
		d, err := deviceOf(c)
		if err != nil {
			done(err)
			return
		}
		v, err := d.enter(c)
		if err != nil {
			done(err)
			return
		}
		k(&v.inner, func(err error) { done(v.leave(err)) })
	}
}

// visit is one execution of a kernel in private.
type visit struct {
	d       *Device
	outer   *core.OpContext
	inner   core.OpContext
	refs    map[*core.Ref]*core.Ref // the private stand-ins of reference variables
	handles []core.ResourceHandle   // among the inputs
}

// enter opens the inputs.
func (d *Device) enter(c *core.OpContext) (*visit, error) {
	v := &visit{d: d, outer: c, inner: core.OpContext{
		Step: c.Step, Node: c.Node, In: make([]core.Slot, len(c.In)), Out: make([]core.Slot, len(c.Out)),
		FrameID: c.FrameID, Iteration: c.Iteration, Dead: c.Dead,
	}}
	for i, s := range c.In {
		var err error
		switch {
		case s.Ref != nil:
			v.inner.In[i].Ref, err = v.standIn(s.Ref)
		case s.T != nil:
			v.inner.In[i].T, err = open(s.T)
			v.handles = append(v.handles, s.T.Handles()...)
		}
		if err != nil {
			v.release()
			return nil, err
		}
	}
	return v, nil
}

// leave seals the outputs of a kernel that ended with err.
func (v *visit) leave(err error) error {
	defer v.release()
	v.storeRefs()
	if err != nil {
		return err
	}
	for i, s := range v.inner.Out {
		switch {
		case s.Ref != nil:
			v.outer.Out[i].Ref = v.outside(s.Ref)
		case s.T != nil:
			if v.outer.Out[i].T, err = v.result(s.T); err != nil {
				return err
			}
		}
	}
	return nil
}

// result makes an output one that others may see. Constants come from the host.
func (v *visit) result(t *core.Tensor) (*core.Tensor, error) {
	defer t.Release()
	if v.outer.Node.Role() == core.Constant && t.Buffer() != nil {
		return v.d.FromHost(t)
	}
	return seal(t), nil
}

func (v *visit) release() {
	for _, s := range v.inner.In {
		if s.T != nil {
			s.T.Release()
		}
	}
}

package executor

import "github.com/gorge-tf/gorge/tf/core"

// load puts into c what the node reads.
func (it *item) load(x *iteration, c *core.OpContext, l *layout) error {
	for k, slot := range it.in {
		c.In[k] = x.slots[slot]
	}
	if it.deref == nil && !it.refs {
		return nil
	}
	for k := range it.in {
		if err := it.loadRef(k, c, l); err != nil {
			return err
		}
	}
	return nil
}

// loadRef takes the value of a reference, unless the op wants the reference
// itself.
func (it *item) loadRef(k int, c *core.OpContext, l *layout) error {
	v := &c.In[k]
	if v.Ref == nil {
		return nil
	}
	if it.deref == nil || !it.deref[k] {
		if !it.node.Def.Uninitialized && !v.Ref.Initialized() {
			return it.uninitialized(k, l)
		}
		return nil
	}
	t := v.Ref.Load()
	*v = core.Slot{T: t}
	if t == nil {
		return it.uninitialized(k, l)
	}
	return nil
}

func (it *item) uninitialized(k int, l *layout) error {
	return core.Errorf(core.FailedPrecondition, "Attempting to use uninitialized value %s", *l.sources[it.in[k]])
}

// unload gives up what load took.
func (it *item) unload(c *core.OpContext) {
	for k, deref := range it.deref {
		if deref && c.In[k].T != nil {
			c.In[k].T.Release()
			c.In[k] = core.Slot{}
		}
	}
}

// check compares the outputs with what the op promises.
func (it *item) check(c *core.OpContext) error {
	for k := range c.Out {
		o := &c.Out[k]
		switch {
		case o.T != nil:
			if o.T.DType() != it.types[k] {
				return it.mistyped(k, o.T.DType())
			}
		case o.Ref == nil && it.kind == ordinary:
			return core.Errorf(core.Internal, "Missing %d-th output from {{node %s}}", k, it.node.Name)
		}
	}
	return nil
}

func (it *item) mistyped(k int, got core.DType) error {
	return core.Errorf(core.Internal, "Output %d of type %s does not match declared output type %s for node {{node %s}}",
		k, got.CName(), it.node.OutTypes[k].CName(), it.node.Name)
}

// failure is err as the run reports it.
func (it *item) failure(err error, c *core.OpContext) error {
	return c.Failed(err)
}

// panicked turns a panic in the kernel into an error.
func (it *item) panicked(v any) error {
	return core.Panicked("the kernel of "+it.node.OpName(), v)
}

package ops

import (
	"fmt"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Stacks and TensorArrays live as long as the step. In the first versions of
// their ops the handle is a reference to two strings, later a resource. In an
// eager graph, which has no steps, they live as long as their handles.

// madeInSteps counts the objects made, which gives each a name of its own.
var madeInSteps atomic.Int64

func stepName(base string) string { return fmt.Sprintf("%s_%d", base, madeInSteps.Add(1)-1) }

// keepForStep makes v known under name in the container of the step.
func keepForStep[T any](c *core.OpContext, name string, v T) error {
	if c.Container() == "" || c.Resources == nil {
		return nil
	}
	return resource.Create(c.Resources, c.Container(), name, v)
}

// giveHandle makes output 0 the handle of v, which is known as name, of the
// given kind.
func giveHandle[T any](c *core.OpContext, kind, name string, v T) {
	if d := c.Node.OutTypes[0]; d.Base() == tf.String {
		t := core.NewTensor(tf.String, tf.Shape{2})
		copy(core.Data[string](t), []string{kind, name})
		if !d.IsRef() {
			c.Set(0, t)
			return
		}
		c.Out[0].Ref = &core.Ref{}
		c.Out[0].Ref.Store(t)
		return
	}
	typ := resource.TypeOf[T]()
	h := core.ResourceHandle{Device: deviceName(c), Name: name, HashCode: typ.Hash, TypeName: typ.Name}
	if container := c.Container(); container != "" {
		h.Container = container
	} else {
		h.Object = v
	}
	c.Set(0, core.HandleTensor(h))
}

// fromHandle returns the object that the handle in input 0 names.
func fromHandle[T any](c *core.OpContext, what string) (v T, err error) {
	if c.Node.InTypes[0].Base() == tf.String {
		name, err := stringHandle(c, what)
		if err != nil {
			return v, err
		}
		return resource.Lookup[T](c.Resources, c.Container(), name)
	}
	h, err := handleAt(c, 0)
	if err != nil {
		return v, err
	}
	if v, ok := h.Object.(T); ok {
		return v, nil
	}
	if err := resource.Check[T](h.Name, h.HashCode, h.TypeName); err != nil {
		return v, err
	}
	return resource.Lookup[T](c.Resources, h.Container, h.Name)
}

// stringHandle returns the name in a handle of the old kind.
func stringHandle(c *core.OpContext, what string) (string, error) {
	t := c.In[0].T
	if t == nil && c.In[0].Ref != nil {
		if t = c.In[0].Ref.Load(); t != nil {
			defer t.Release()
		}
	}
	if t == nil || t.Len() != 2 {
		s := tf.Shape{}
		if t != nil {
			s = t.Shape()
		}
		return "", tf.Errorf(tf.InvalidArgument, "%s handle must have two elements, but had shape: %s", what, s.String())
	}
	return core.Data[string](t)[1], nil
}

// intInput returns input i, a scalar of type int32.
func intInput(c *core.OpContext, i int, what string) (int, error) {
	t := c.Input(i)
	if t.Rank() != 0 || t.DType() != tf.Int32 {
		return 0, tf.Errorf(tf.InvalidArgument, "%s must be scalar, but had shape: %s", what, t.Shape().String())
	}
	return int(core.Data[int32](t)[0]), nil
}

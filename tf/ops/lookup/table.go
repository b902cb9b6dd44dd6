package lookup

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A table is what a handle points to.
type table interface {
	about() *signature
	size() int
	// find looks keys up and fills out; keys that are not there get def, one
	// value or one for each key.
	find(keys, def, out *core.Tensor) error
	insert(keys, values *core.Tensor) error
	remove(keys *core.Tensor) error
	// replace makes what export returned, or any keys with values, the
	// contents of the table.
	replace(keys, values *core.Tensor) error
	export() (keys, values *core.Tensor, err error)
}

// initializable is a table that is filled once.
type initializable interface {
	table
	initialize(keys, values *core.Tensor) error
	initialized() bool
}

var tableType = resource.Declare[table]("tensorflow::lookup::LookupInterface")

// A signature says which keys and values a table has.
type signature struct {
	key, value           tf.DType
	keyShape, valueShape tf.Shape
}

func (s *signature) about() *signature { return s }

// checkTypes compares types with those of a program that asks for the table.
func (s *signature) checkTypes(key, value tf.DType, name string) error {
	if s.key == key && s.value == value {
		return nil
	}
	return tf.Errorf(tf.InvalidArgument, "Conflicting key/value dtypes %s->%s with %s-%s for table %s",
		key.CName(), value.CName(), s.key.CName(), s.value.CName(), name)
}

// batch returns the part of a shape of keys in front of the shape of one key.
func (s *signature) batch(keys tf.Shape) (tf.Shape, error) {
	n := len(keys) - len(s.keyShape)
	if n < 0 || !keys[n:].Equal(s.keyShape) && len(s.keyShape) > 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Input key shape %s must end with the table's key shape %s", keys.String(), s.keyShape.String())
	}
	return keys[:n:n], nil
}

// valuesFor returns the shape of the values of keys of a shape.
func (s *signature) valuesFor(keys tf.Shape) (tf.Shape, error) {
	b, err := s.batch(keys)
	return append(append(tf.Shape{}, b...), s.valueShape...), err
}

// checkPairs checks keys and values that go in.
func (s *signature) checkPairs(keys, values *core.Tensor) error {
	want, err := s.valuesFor(keys.Shape())
	if err != nil {
		return err
	}
	if !values.Shape().Equal(want) {
		return tf.Errorf(tf.InvalidArgument, "Expected shape %s for value, got %s", want.String(), values.Shape().String())
	}
	return nil
}

// checkFind checks keys and what missing ones become, and returns the shape of
// the result.
func (s *signature) checkFind(keys, def *core.Tensor) (tf.Shape, error) {
	full, err := s.valuesFor(keys.Shape())
	if err != nil {
		return nil, err
	}
	if d := def.Shape(); !d.Equal(s.valueShape) && !d.Equal(full) {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected shape %s or %s for default value, got %s", s.valueShape.String(), full.String(), d.String())
	}
	return full, nil
}

// checkInputs compares the types of a node's inputs and outputs with those that
// the table asks for.
func checkInputs(n *core.Node, in, out []tf.DType) error {
	if equalTypes(n.InTypes, in) && equalTypes(n.OutTypes, out) {
		return nil
	}
	return tf.Errorf(tf.InvalidArgument, "Signature mismatch, have: %s->%s expected: %s->%s", typeList(n.InTypes), typeList(n.OutTypes), typeList(in), typeList(out))
}

func equalTypes(a, b []tf.DType) bool {
	return typeList(a) == typeList(b)
}

func typeList(ds []tf.DType) string {
	s := ""
	for i, d := range ds {
		if i > 0 {
			s += ", "
		}
		s += d.CName()
	}
	return s
}

// tableOf returns the table that input 0 points to.
func tableOf(c *core.OpContext) (table, error) {
	if c.Node.InTypes[0] == tf.Resource {
		return tableOfHandle(c, 0)
	}
	container, name, err := reference(c)
	if err != nil {
		return nil, err
	}
	return resource.Lookup[table](c.Resources, container, name)
}

// tableOfHandle returns the table that input i, a resource, points to.
func tableOfHandle(c *core.OpContext, i int) (table, error) {
	hs := c.Input(i).Handles()
	if len(hs) != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "a table handle must be a scalar, got shape %s", c.Input(i).Shape().String())
	}
	h := hs[0]
	if t, ok := h.Object.(table); ok {
		return t, nil
	}
	if err := resource.Check[table](h.Name, h.HashCode, h.TypeName); err != nil {
		return nil, err
	}
	if c.Step == nil || c.Resources == nil {
		return nil, tf.Errorf(tf.Internal, "no resources")
	}
	return resource.Lookup[table](c.Resources, h.Container, h.Name)
}

// reference reads a handle of the kind that TensorFlow's first tables have: the
// names of container and table, by reference.
func reference(c *core.OpContext) (container, name string, err error) {
	if c.In[0].Ref == nil {
		return "", "", tf.Errorf(tf.Internal, "the input must be a reference to a table")
	}
	t := c.In[0].Ref.Load()
	if t == nil {
		return "", "", tf.Errorf(tf.FailedPrecondition, "the table's handle is not initialized")
	}
	defer t.Release()
	if t.Len() != 2 {
		return "", "", tf.Errorf(tf.InvalidArgument, "Lookup table handle must be scalar, but had shape: %s", t.Shape().String())
	}
	s := core.Data[string](t)
	return s[0], s[1], nil
}

// text formats element i of keys or values for messages.
func text(t *core.Tensor, i int) string {
	if v, ok := t.At(i).(bool); ok {
		if v {
			return "1"
		}
		return "0"
	}
	return fmt.Sprint(t.At(i))
}

// rows returns how many values of a shape t holds.
func rows(t *core.Tensor, one tf.Shape) int {
	n := one.NumElements()
	if n == 0 {
		return 0
	}
	return t.Len() / n
}

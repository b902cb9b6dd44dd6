package lookup

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	use("LookupTableFind", "; keys: Tin; default_value: Tout", "values: Tout", "Tin: type; Tout: type", findShape, find, 0)
	use("LookupTableInsert", "; keys: Tin; values: Tout", "", "Tin: type; Tout: type", noOutputs, insert, 0)
	use("LookupTableSize", "", "size: int64", "", core.ScalarShape, size, core.ReadsState)
	use("LookupTableExport", "", "keys: Tkeys; values: Tvalues", "Tkeys: type; Tvalues: type", exportShape, export, 0)
	use("LookupTableImport", "; keys: Tin; values: Tout", "", "Tin: type; Tout: type", noOutputs, importAll, 0)
	use("InitializeTable", "; keys: Tkey; values: Tval", "", "Tkey: type; Tval: type", initShape, initialize, 0)
	core.Register(core.OpDef{
		Name: "LookupTableRemoveV2", In: "table_handle: resource; keys: Tin", Attrs: "Tin: type", Stateful: true,
		Shape: noOutputs, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(on(remove)),
	})
}

// withoutGradient has the ops that TensorFlow says nothing of.
var withoutGradient = map[string]bool{"LookupTableExport": true, "LookupTableImport": true}

// use declares the two forms of an op on tables: by reference and by handle.
func use(name, in, out, attrs string, shape func(*core.Infer) error, f func(*core.OpContext, table) error, t core.Traits) {
	grad := core.NotDifferentiable
	if withoutGradient[name] {
		grad = core.NoGradientDefined
	}
	d := core.OpDef{Name: name, Traits: t, In: "table_handle: Ref(string)" + in, Out: out, Attrs: attrs, Shape: shape, NoGrad: grad, Kernels: core.AnyType(on(f))}
	core.Register(d)
	d.Name, d.In, d.Stateful = name+"V2", "table_handle: resource"+in, true
	core.Register(d)
}

// on returns the factory of a kernel that works on the table of input 0.
func on(f func(*core.OpContext, table) error) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			t, err := tableOf(c)
			if err != nil {
				return err
			}
			return f(c, t)
		}), nil
	}
}

func noOutputs(*core.Infer) error { return nil }

func findShape(c *core.Infer) error {
	d, value := c.Handle(0)
	if keys := c.In(1); d != tf.Invalid && value != nil && keys != nil {
		c.Set(0, append(keys.Clone(), value...))
	}
	return nil
}

func exportShape(c *core.Infer) error {
	d, value := c.Handle(0)
	if d == tf.Invalid || value == nil {
		return nil
	}
	c.Set(0, tf.Shape{-1})
	c.Set(1, append(tf.Shape{-1}, value...))
	return nil
}

func initShape(c *core.Infer) error {
	keys, err := c.Rank(1, 1)
	if err != nil {
		return err
	}
	if _, ok := keys.Merge(c.In(2)); !ok {
		return tf.Errorf(tf.InvalidArgument, "Shapes must be equal: keys have shape %v, values %v", keys, c.In(2))
	}
	return nil
}

// handleDType is the type of input 0.
func handleDType(c *core.OpContext) tf.DType { return c.Node.InTypes[0] }

func find(c *core.OpContext, t table) error {
	s := t.about()
	if err := checkInputs(c.Node, []tf.DType{handleDType(c), s.key, s.value}, []tf.DType{s.value}); err != nil {
		return err
	}
	shape, err := s.checkFind(c.Input(1), c.Input(2))
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, s.value, shape)
	if err != nil {
		return err
	}
	return t.find(c.Input(1), c.Input(2), out)
}

// pairs checks the types and shapes of keys and values.
func pairs(c *core.OpContext, t table) error {
	s := t.about()
	if err := checkInputs(c.Node, []tf.DType{handleDType(c), s.key, s.value}, nil); err != nil {
		return err
	}
	return s.checkPairs(c.Input(1), c.Input(2))
}

func insert(c *core.OpContext, t table) error {
	if err := pairs(c, t); err != nil {
		return err
	}
	return t.insert(c.Input(1), c.Input(2))
}

func importAll(c *core.OpContext, t table) error {
	s := t.about()
	if err := checkInputs(c.Node, []tf.DType{handleDType(c), s.key, s.value}, nil); err != nil {
		return err
	}
	return t.replace(c.Input(1), c.Input(2))
}

func remove(c *core.OpContext, t table) error {
	s := t.about()
	if err := checkInputs(c.Node, []tf.DType{handleDType(c), s.key}, nil); err != nil {
		return err
	}
	if _, err := s.batch(c.Input(1).Shape()); err != nil {
		return err
	}
	return t.remove(c.Input(1))
}

func size(c *core.OpContext, t table) error {
	c.Set(0, core.Scalar(int64(t.size())))
	return nil
}

func export(c *core.OpContext, t table) error {
	s := t.about()
	if err := checkInputs(c.Node, []tf.DType{handleDType(c)}, []tf.DType{s.key, s.value}); err != nil {
		return err
	}
	keys, values, err := t.export()
	if err != nil {
		return err
	}
	c.Set(0, keys)
	c.Set(1, values)
	return nil
}

func initialize(c *core.OpContext, t table) error {
	in, err := toInitialize(c, t)
	if err != nil {
		return err
	}
	s := t.about()
	if err := checkInputs(c.Node, []tf.DType{handleDType(c), s.key, s.value}, nil); err != nil {
		return err
	}
	keys, values := c.Input(1), c.Input(2)
	switch {
	case keys.Rank() != 1:
		return tf.Errorf(tf.InvalidArgument, "Keys must be a vector, but received shape%s", keys.Shape().String())
	case values.Rank() != 1:
		return tf.Errorf(tf.InvalidArgument, "Values must be a vector, but received shape%s", values.Shape().String())
	case keys.Len() != values.Len():
		return tf.Errorf(tf.InvalidArgument, "Keys and values must have the same size %d vs %d", keys.Len(), values.Len())
	case keys.Len() == 0:
		return errEmpty
	}
	return in.initialize(keys, values)
}

var errEmpty = tf.Errorf(tf.InvalidArgument, "keys and values cannot be empty tensors.")

// toInitialize returns the table as one that is filled once.
func toInitialize(c *core.OpContext, t table) (initializable, error) {
	in, ok := t.(initializable)
	if ok {
		return in, nil
	}
	container, name := "", ""
	if c.In[0].Ref != nil {
		container, name, _ = reference(c)
	} else if hs := c.Input(0).Handles(); len(hs) == 1 {
		container, name = hs[0].Container, hs[0].Name
	}
	return nil, tf.Errorf(tf.InvalidArgument, "Table %s %s is not initializable", container, name)
}

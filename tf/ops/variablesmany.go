package ops

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Handles and values of many variables at once, as TensorFlow's passes over
// functions write them.

func init() {
	core.Register(core.OpDef{
		Name: "_VarHandlesOp", Out: "resources: N * resource",
		Attrs:    "containers: list(string); shared_names: list(string); N: int >= 0; dtypes: list(type); shapes: list(shape)",
		Stateful: true, Shape: varHandlesShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(varHandles),
	})
	core.Register(core.OpDef{
		Name: "_ReadVariablesOp", In: "resources: N * resource", Out: "values: dtypes", Attrs: "N: int >= 0; dtypes: list(type) >= 1",
		Stateful: true, Shape: readVariablesShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(readVariables),
	})
}

// manyVariables holds, by output, the attributes of _VarHandlesOp.
type manyVariables struct {
	containers, names []string
	dtypes            []tf.DType
	shapes            []tf.Shape
}

func manyVariablesOf(n *core.Node) (manyVariables, error) {
	shapes, _ := n.Attr("shapes").([]tf.Shape)
	v := manyVariables{n.Strs("containers"), n.Strs("shared_names"), n.TypesAttr("dtypes"), shapes}
	for _, have := range []int{len(v.containers), len(v.names), len(v.dtypes), len(v.shapes)} {
		if want := n.Int("N"); have != want {
			return v, tf.Errorf(tf.InvalidArgument, "all lists must have N = %d entries, one has %d", want, have)
		}
	}
	return v, nil
}

func varHandlesShape(c *core.Infer) error {
	v, err := manyVariablesOf(c.Node)
	if err != nil {
		return err
	}
	for i := range v.names {
		c.Set(i, tf.Shape{})
		c.SetHandle(i, v.dtypes[i], v.shapes[i])
	}
	return nil
}

func varHandles(n *core.Node) (core.Kernel, error) {
	v, err := manyVariablesOf(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		for i, name := range v.names {
			h := core.ResourceHandle{
				Device: deviceName(c), Container: v.containers[i], Name: name, HashCode: variableType.Hash, TypeName: variableType.Name,
				DType: v.dtypes[i], Shape: v.shapes[i],
			}
			if c.Step != nil && c.Resources != nil {
				h.Container = c.Resources.Container(h.Container)
			}
			c.Set(i, core.HandleTensor(h))
		}
		return nil
	}), nil
}

func readVariablesShape(c *core.Infer) error {
	dtypes := c.TypesAttr("dtypes")
	if len(dtypes) != c.NumIn() {
		return tf.Errorf(tf.InvalidArgument, "there must be a type for each variable: %d and %d", len(dtypes), c.NumIn())
	}
	for i, want := range dtypes {
		d, s := c.Handle(i)
		if d != tf.Invalid && d != want {
			return tf.Errorf(tf.InvalidArgument, "Trying to read variable with wrong dtype. Expected %s got %s", d.CName(), want.CName())
		}
		c.Set(i, s)
	}
	return nil
}

func readVariables(n *core.Node) (core.Kernel, error) {
	dtypes := n.TypesAttr("dtypes")
	if len(dtypes) != n.Int("N") {
		return nil, tf.Errorf(tf.InvalidArgument, "there must be a type for each variable: %d and %d", len(dtypes), n.Int("N"))
	}
	return core.Compute(func(c *core.OpContext) error {
		vars, err := initializedVariables(c)
		if err != nil {
			return err
		}
		for i, t := range vars {
			if t.DType() != dtypes[i] {
				err = wrongDType(c, i, dtypes[i], t.DType())
			}
			c.Set(i, t)
		}
		return err
	}), nil
}

// initializedVariables returns the values behind all inputs; the error names
// all variables that have none.
func initializedVariables(c *core.OpContext) ([]*core.Tensor, error) {
	values, missing := make([]*core.Tensor, len(c.In)), []string(nil)
	for i := range c.In {
		h, err := handleAt(c, i)
		if err == nil {
			err = resource.Check[*variable](h.Name, h.HashCode, h.TypeName)
		}
		if err != nil {
			release(slices.DeleteFunc(values, func(t *core.Tensor) bool { return t == nil }))
			return nil, err
		}
		if v, err := resource.Lookup[*variable](c.Resources, h.Container, h.Name); err == nil {
			values[i] = v.Load()
		}
		if values[i] == nil {
			missing = append(missing, h.Name)
		}
	}
	if missing != nil {
		release(slices.DeleteFunc(values, func(t *core.Tensor) bool { return t == nil }))
		return nil, tf.Errorf(tf.FailedPrecondition, "In ReadVariablesOp the following variables were found uninitialized: %s", strings.Join(missing, ", "))
	}
	return values, nil
}

func wrongDType(c *core.OpContext, i int, want, have tf.DType) error {
	h, _ := handleAt(c, i)
	return tf.Errorf(tf.InvalidArgument, "Trying to read variable %s from Container: %s with wrong dtype. Expected %s got %s", h.Name, h.Container, want.CName(), have.CName())
}

package ops

import (
	"strings"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// The ops on TensorArrays come in three versions, which differ in the handle: a
// reference to two strings, two strings, a resource.

const arrayAttrs = "dtype: type; element_shape: shape = { unknown_rank: true }; dynamic_size: bool = false; clear_after_read: bool = true; "

func init() {
	arrayOps("", "Ref(string)", "handle: Ref(string)", "dtype: type; dynamic_size: bool = false; clear_after_read: bool = true; "+
		"tensor_array_name: string = ''; element_shape: shape = { unknown_rank: true }")
	arrayOps("V2", "string", "handle: string", arrayAttrs+"tensor_array_name: string = ''")
	arrayOps("V3", "resource", "handle: resource; flow: float", arrayAttrs+"identical_element_shapes: bool = false; tensor_array_name: string = ''")
	core.Register(core.OpDef{
		Name: "TensorArrayGradWithShape", In: "handle: resource; flow_in: float; shape_to_prepend: int32", Out: "grad_handle: resource; flow_out: float",
		Attrs: "source: string", Stateful: true, Shape: arrayHandleShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(gradientArray),
	})
	arrayOp("TensorArrayPack", "handle: Ref(string); flow_in: float", "value: dtype", "dtype: type; element_shape: shape = { unknown_rank: true }",
		core.OpDef{Shape: unknownOutputs, Kernels: core.AnyType(gatherArray), NoGrad: core.NoGradientDefined})
	arrayOp("TensorArrayUnpack", "handle: Ref(string); value: T; flow_in: float", "flow_out: float", "T: type",
		core.OpDef{Shape: core.ScalarShape, Kernels: core.AnyType(stateless(scatterArray)), NoGrad: core.NoGradientDefined})
}

func arrayOp(name, in, out, attrs string, d core.OpDef) {
	d.Name, d.In, d.Out, d.Attrs = name, in, out, attrs
	core.Register(d)
}

// arrayOps registers one version of the ops.
func arrayOps(v, handle, made, attrs string) {
	h := "handle: " + handle + "; "
	state := v == "V3"
	none := func(f func(*core.Infer) error, k core.NewKernel) core.OpDef {
		return core.OpDef{Stateful: state, Shape: f, Kernels: core.AnyType(k), NoGrad: core.NotDifferentiable}
	}
	with := func(f func(*core.Infer) error, k core.NewKernel, grad tf.GradFunc) core.OpDef {
		return core.OpDef{Stateful: state, Shape: f, Kernels: core.AnyType(k), Grad: tf.GradFunc(grad)}
	}
	gradIn, gradOut := h+"flow_in: float", "grad_handle: "+handle
	switch v {
	case "":
		gradIn = "handle: string; flow_in: float"
	case "V3":
		gradOut += "; flow_out: float"
	}
	d := none(newArrayShape, newArray)
	d.Stateful = true
	arrayOp("TensorArray"+v, "size: int32", made, attrs, d)
	d = none(arrayHandleShape, gradientArray)
	d.Stateful = true
	arrayOp("TensorArrayGrad"+v, gradIn, gradOut, "source: string", d)

	arrayOp("TensorArrayWrite"+v, h+"index: int32; value: T; flow_in: float", "flow_out: float", "T: type", with(core.ScalarShape, stateless(writeArray), arrayWriteGrad))
	arrayOp("TensorArrayRead"+v, h+"index: int32; flow_in: float", "value: dtype", "dtype: type", with(arrayReadShape, readArray, arrayReadGrad))
	arrayOp("TensorArrayGather"+v, h+"indices: int32; flow_in: float", "value: dtype", "dtype: type; element_shape: shape = { unknown_rank: true }", with(arrayGatherShape, gatherArray, arrayGatherGrad))
	arrayOp("TensorArrayScatter"+v, h+"indices: int32; value: T; flow_in: float", "flow_out: float", "T: type", with(core.ScalarShape, stateless(scatterArray), arrayScatterGrad))
	arrayOp("TensorArrayConcat"+v, h+"flow_in: float", "value: dtype; lengths: int64", "dtype: type; element_shape_except0: shape = { unknown_rank: true }", with(arrayConcatShape, concatArray, arrayConcatGrad))
	arrayOp("TensorArraySplit"+v, h+"value: T; lengths: int64; flow_in: float", "flow_out: float", "T: type", with(core.ScalarShape, stateless(splitArray), arraySplitGrad))
	arrayOp("TensorArraySize"+v, h+"flow_in: float", "size: int32", "", none(core.ScalarShape, stateless(sizeArray)))
	arrayOp("TensorArrayClose"+v, strings.TrimSuffix(h, "; "), "", "", none(noOutputs, stateless(closeArray)))
}

// newArrayShape: the handle knows of the elements what all have in common.
func newArrayShape(c *core.Infer) error {
	if err := arrayHandleShape(c); err != nil {
		return err
	}
	if s := c.ShapeAttr("element_shape"); s != nil && c.Bool("identical_element_shapes") {
		c.SetHandle(0, c.Type("dtype"), s)
	}
	return nil
}

func arrayHandleShape(c *core.Infer) error {
	if c.OutTypes[0].Base() == tf.String {
		c.Set(0, tf.Shape{2})
		return nil
	}
	c.Set(0, tf.Shape{})
	c.Set(1, tf.Shape{})
	return nil
}

func arrayReadShape(c *core.Infer) error {
	_, s := c.Handle(0)
	c.Set(0, s)
	return nil
}

func arrayGatherShape(c *core.Infer) error {
	_, s := c.Handle(0)
	s, ok := s.Merge(c.ShapeAttr("element_shape"))
	indices, err := c.Rank(1, 1)
	if err != nil || !ok || s == nil {
		return err
	}
	c.Set(0, append(tf.Shape{indices[0]}, s...))
	return nil
}

func arrayConcatShape(c *core.Infer) error {
	if s := c.ShapeAttr("element_shape_except0"); s != nil {
		c.Set(0, append(tf.Shape{-1}, s...))
	}
	c.Set(1, tf.Shape{-1})
	return nil
}

func newArray(n *core.Node) (core.Kernel, error) {
	base := n.Str("tensor_array_name")
	if base == "" {
		base = n.Name
	}
	return core.Compute(func(c *core.OpContext) error {
		size, err := intInput(c, 0, "TensorArray size")
		if err != nil {
			return err
		}
		if size < 0 || size > mostElems {
			return tf.Errorf(tf.InvalidArgument, "TensorArray size must be >= 0 and at most %d, got %d", mostElems, size)
		}
		a := &tensorArray{
			name: stepName(base), dtype: n.Type("dtype"), shape: n.ShapeAttr("element_shape"), alike: n.Bool("identical_element_shapes"),
			dynamic: n.Bool("dynamic_size"), keepRead: !n.Bool("clear_after_read"), elems: core.Make[arrayElem](size),
		}
		if err := keepForStep(c, a.name, a); err != nil {
			return err
		}
		return giveArray(c, a)
	}), nil
}

// giveArray makes the outputs the handle of a and the flow.
func giveArray(c *core.OpContext, a *tensorArray) error {
	giveHandle(c, "_tensor_arrays", a.name, a)
	if len(c.Out) < 2 {
		return nil
	}
	_, err := c.Alloc(1, tf.Float32, tf.Shape{})
	if err == nil {
		core.Data[float32](c.Out[1].T)[0] = 0
	}
	return err
}

// gradientArray finds or makes the array for the gradients of another that
// come from one source.
func gradientArray(n *core.Node) (core.Kernel, error) {
	source := n.Str("source")
	return core.Compute(func(c *core.OpContext) error {
		a, err := arrayOf(c)
		if err != nil {
			return err
		}
		var prepend tf.Shape
		if len(c.In) > 2 {
			if prepend, err = shapeFrom(c.Input(2)); err != nil {
				return err
			}
		}
		name := a.name + "@" + source
		create := func() (*tensorArray, error) { return a.gradient(name, prepend) }
		if c.Container() == "" {
			d, err := a.gradientNow(name, prepend)
			if err != nil {
				return err
			}
			return giveArray(c, d)
		}
		d, err := resource.LookupOrCreate(c.Resources, c.Container(), name, create)
		if err != nil {
			return err
		}
		return giveArray(c, d)
	}), nil
}

// shapeFrom returns the shape that t, a vector, holds.
func shapeFrom(t *core.Tensor) (tf.Shape, error) {
	v, err := t.Ints()
	if err != nil {
		return nil, err
	}
	for _, d := range v {
		if d < 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "Dimension %d must be >= 0", d)
		}
	}
	return append(tf.Shape{}, v...), nil
}

func arrayOf(c *core.OpContext) (*tensorArray, error) {
	return fromHandle[*tensorArray](c, "TensorArray")
}

// forWriting returns the array, if its elements have the type of value.
func forWriting(c *core.OpContext, value *core.Tensor) (*tensorArray, error) {
	a, err := arrayOf(c)
	if err == nil && a.dtype != value.DType() {
		err = tf.Errorf(tf.InvalidArgument, "TensorArray dtype is %s but Op is trying to write dtype %s.", a.dtype.CName(), value.DType().CName())
	}
	return a, err
}

func forReading(c *core.OpContext, d tf.DType) (*tensorArray, error) {
	a, err := arrayOf(c)
	if err == nil && a.dtype != d {
		err = tf.Errorf(tf.InvalidArgument, "TensorArray dtype is %s but Op requested dtype %s.", a.dtype.CName(), d.CName())
	}
	return a, err
}

// passFlow makes output 0 the flow, which is the last input.
func passFlow(c *core.OpContext) error {
	c.Forward(len(c.In)-1, 0)
	return nil
}

func writeArray(c *core.OpContext) error {
	i, err := intInput(c, 1, "TensorArray index")
	if err != nil {
		return err
	}
	a, err := forWriting(c, c.Input(2))
	if err != nil {
		return err
	}
	if err := a.place(c, i, c.Input(2).Share()); err != nil {
		return err
	}
	return passFlow(c)
}

func readArray(n *core.Node) (core.Kernel, error) {
	d := n.Type("dtype")
	return core.Compute(func(c *core.OpContext) error {
		i, err := intInput(c, 1, "TensorArray index")
		if err != nil {
			return err
		}
		a, err := forReading(c, d)
		if err != nil {
			return err
		}
		t, err := a.readAt(i)
		if err == nil {
			c.Set(0, t)
		}
		return err
	}), nil
}

func sizeArray(c *core.OpContext) error {
	a, err := arrayOf(c)
	if err != nil {
		return err
	}
	n, err := a.size(false)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tf.Int32, tf.Shape{})
	if err != nil {
		return err
	}
	return fillInts(out, []int{n})
}

func closeArray(c *core.OpContext) error {
	a, err := arrayOf(c)
	if err != nil {
		return err
	}
	a.Close()
	return nil
}

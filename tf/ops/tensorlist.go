package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Lists of tensors: what loops of TensorFlow 2 keep their intermediate values
// in. This file holds what makes lists and works on their ends.

func init() {
	list := func(name, in, out, attrs string, d core.OpDef) {
		d.Name, d.In, d.Out, d.Attrs = name, in, out, attrs
		if d.Shape == nil {
			d.Shape = core.ScalarShape
		}
		if d.Grad == nil && d.NoGrad == 0 {
			d.NoGrad = core.NoGradientDefined
		}
		core.Register(d)
	}
	const shapeType = "shape_type: {int32, int64}"
	list("EmptyTensorList", "element_shape: shape_type; max_num_elements: int32", "handle: variant", "element_dtype: type; "+shapeType,
		core.OpDef{Kernels: core.AnyType(emptyList)})
	list("TensorListReserve", "element_shape: shape_type; num_elements: int32", "handle: variant", "element_dtype: type; "+shapeType,
		core.OpDef{Kernels: core.AnyType(reserveList)})
	list("TensorListPushBack", "input_handle: variant; tensor: element_dtype", "output_handle: variant", "element_dtype: type",
		core.OpDef{Kernels: core.AnyType(pushBack), Grad: tf.GradFunc(pushBackGrad)})
	list("TensorListPopBack", "input_handle: variant; element_shape: int32", "output_handle: variant; tensor: element_dtype", "element_dtype: type",
		core.OpDef{Kernels: core.AnyType(popBack), Grad: tf.GradFunc(popBackGrad), Shape: popBackShape})
	list("TensorListPushBackBatch", "input_handles: variant; tensor: element_dtype", "output_handles: variant", "element_dtype: type",
		core.OpDef{Kernels: core.AnyType(pushBackBatch), Shape: core.UnchangedShape})
	list("TensorListLength", "input_handle: variant", "length: int32", "", core.OpDef{Traits: core.DescribesList, Kernels: core.AnyType(stateless(listLength)), NoGrad: core.NotDifferentiable})
	list("TensorListElementShape", "input_handle: variant", "element_shape: shape_type", shapeType,
		core.OpDef{Traits: core.DescribesList, Kernels: core.AnyType(listElementShape), Shape: anyListShape, NoGrad: core.NotDifferentiable})
	list("TensorListConcatLists", "input_a: variant; input_b: variant", "output: variant", "element_dtype: type",
		core.OpDef{Kernels: core.AnyType(concatLists), Shape: core.UnchangedShape})
	list("TensorListResize", "input_handle: variant; size: int32", "output_handle: variant", "",
		core.OpDef{Kernels: core.AnyType(stateless(resizeList)), Grad: tf.GradFunc(resizeListGrad)})
}

func anyListShape(*core.Infer) error { return nil }

// popBackShape: an element has the shape that is asked for.
func popBackShape(c *core.Infer) error {
	c.Set(0, tf.Shape{})
	c.Set(1, listShapeInput(c, 1))
	return nil
}

// listShapeInput returns the element shape that input i asks for, as far as it
// is known.
func listShapeInput(c *core.Infer, i int) tf.Shape {
	if s := c.In(i); s == nil || len(s) != 1 {
		return nil
	}
	return c.ConstShape(i)
}

// listScalar returns input i, an int32 scalar.
func listScalar(c *core.OpContext, i int, what string) (int, error) {
	t := c.Input(i)
	if t.Len() != 1 {
		return 0, tf.Errorf(tf.InvalidArgument, "%s must be a scalar, got shape %s", what, t.Shape().String())
	}
	return int(core.Data[int32](t)[0]), nil
}

func emptyList(n *core.Node) (core.Kernel, error) {
	elem := n.Type("element_dtype")
	return core.Compute(func(c *core.OpContext) error {
		if t := c.Input(1); t.Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "max_num_elements expected to be a scalar but got shape: %s", t.Shape().String())
		}
		s, err := partialShape(c.Input(0))
		if err != nil {
			return err
		}
		l := newList(elem, s, nil)
		l.limit = int(core.Data[int32](c.Input(1))[0])
		c.Set(0, variantOf(l))
		return nil
	}), nil
}

func reserveList(n *core.Node) (core.Kernel, error) {
	elem := n.Type("element_dtype")
	return core.Compute(func(c *core.OpContext) error {
		s, err := partialShape(c.Input(0))
		if err != nil {
			return err
		}
		if t := c.Input(1); t.Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "The num_elements to reserve must be a tensor size 1, but got %s", t.Shape().String())
		}
		size := int(core.Data[int32](c.Input(1))[0])
		if size < 0 {
			return tf.Errorf(tf.InvalidArgument, "The num_elements to reserve must be a non negative number, but got %d", size)
		}
		c.Set(0, variantOf(newList(elem, s, core.Make[*core.Tensor](size))))
		return nil
	}), nil
}

// checkElement reports why t cannot be an element of l.
func (l *tensorList) checkElement(t *core.Tensor, action string) error {
	if t.DType() != l.elem {
		return tf.Errorf(tf.InvalidArgument, "Invalid data types; op elements %s but list elements %s", t.DType().CName(), l.elem.CName())
	}
	if !l.shape.Compatible(t.Shape()) {
		return tf.Errorf(tf.InvalidArgument, "%s Op element shape: %s list shape: %s", action, t.Shape().String(), l.shape.String())
	}
	return nil
}

func pushBack(n *core.Node) (core.Kernel, error) {
	elem := n.Type("element_dtype")
	return core.Compute(func(c *core.OpContext) error {
		l, err := listOf(c, 0, elem)
		if err != nil {
			return err
		}
		p, err := l.pushed(c.Input(1))
		if err == nil {
			c.Set(0, variantOf(p))
		}
		return err
	}), nil
}

// pushed is push with checks.
func (l *tensorList) pushed(t *core.Tensor) (*tensorList, error) {
	if err := l.checkElement(t, "Tried to append a tensor with incompatible shape to a list."); err != nil {
		return nil, err
	}
	return l.pushedFit(t)
}

// pushedFit is pushed for an element that fits.
func (l *tensorList) pushedFit(t *core.Tensor) (*tensorList, error) {
	if l.limit >= 0 && len(l.items) >= l.limit {
		return nil, tf.Errorf(tf.InvalidArgument, "Tried to push item into a full list list size: %d max_num_elements: %d", len(l.items), l.limit)
	}
	return l.push(keep(t)), nil
}

func popBack(n *core.Node) (core.Kernel, error) {
	elem := n.Type("element_dtype")
	return core.Compute(func(c *core.OpContext) error {
		l, err := listOf(c, 0, elem)
		if err != nil {
			return err
		}
		if len(l.items) == 0 {
			return tf.Errorf(tf.InvalidArgument, "Trying to pop from an empty list.")
		}
		if err := setElement(c, 1, l, len(l.items)-1, 1); err != nil {
			return err
		}
		c.Set(0, variantOf(l.pop()))
		return nil
	}), nil
}

// setElement makes output o element i of l; zeros, of the shape that the given
// input asks for, if it has not been set.
func setElement(c *core.OpContext, o int, l *tensorList, i, shape int) error {
	if t := l.items[i]; t != nil {
		c.Set(o, t.Share())
		return nil
	}
	s, err := elementShape(c, shape, l)
	if err == nil {
		s, err = commonShape(s, l.items)
	}
	if err != nil {
		return err
	}
	if s == nil || !s.Known() {
		return tf.Errorf(tf.InvalidArgument, "Trying to read an uninitialized tensor but element_shape is not fully defined.%s", s.String())
	}
	t, err := zerosTensor(l.elem, s)
	if err == nil {
		c.Set(o, t)
	}
	return err
}

// pushBackBatch pushes a row of the tensor to each of many lists.
func pushBackBatch(n *core.Node) (core.Kernel, error) {
	elem := n.Type("element_dtype")
	return core.Compute(func(c *core.OpContext) error {
		lists, t := c.Input(0), c.Input(1)
		switch {
		case t.Rank() < 1:
			return tf.Errorf(tf.InvalidArgument, "Expected tensor to be at least a vector, but saw shape: %s", t.Shape().String())
		case lists.Rank() != 1:
			return tf.Errorf(tf.InvalidArgument, "Expected input_handles to be a vector, but saw shape: %s", lists.Shape().String())
		case t.Dim(0) != lists.Len():
			return tf.Errorf(tf.InvalidArgument, "Expected tensor.shape[0] == input_handles.size, but saw %d vs. %d", t.Dim(0), lists.Len())
		}
		s := t.Shape()[1:]
		out := core.NewTensor(tf.Variant, lists.Shape())
		for i, v := range lists.Variants() {
			l, err := asList(v)
			if err != nil {
				return err
			}
			if err := l.checkRow(i, elem, s); err != nil {
				return err
			}
			p, err := l.pushedFit(cutOut(t, i*s.NumElements(), s))
			if err != nil {
				return err
			}
			out.Variants()[i].Value = p
		}
		c.Set(0, out)
		return nil
	}), nil
}

func listLength(c *core.OpContext) error {
	l, err := listInput(c, 0)
	if err == nil {
		c.Set(0, core.Scalar(int32(len(l.items))))
	}
	return err
}

func listElementShape(n *core.Node) (core.Kernel, error) {
	d := n.Type("shape_type")
	return core.Compute(func(c *core.OpContext) error {
		l, err := listInput(c, 0)
		if err != nil {
			return err
		}
		if l.shape == nil {
			c.Set(0, intTensor(d, tf.Shape{}, -1))
			return nil
		}
		c.Set(0, intTensor(d, tf.Shape{len(l.shape)}, l.shape...))
		return nil
	}), nil
}

// concatLists joins lists in pairs.
func concatLists(n *core.Node) (core.Kernel, error) {
	elem := n.Type("element_dtype").Base()
	return core.Compute(func(c *core.OpContext) error {
		a, b := c.Input(0), c.Input(1)
		if !a.Shape().Equal(b.Shape()) {
			return tf.Errorf(tf.InvalidArgument, "Incompatible input TensorList tensor shapes: %s vs. %s", a.Shape().String(), b.Shape().String())
		}
		out := core.NewTensor(tf.Variant, a.Shape())
		for i := range out.Variants() {
			l, err := joinLists(i, a.Variants()[i], b.Variants()[i], elem)
			if err != nil {
				return err
			}
			out.Variants()[i].Value = l
		}
		c.Set(0, out)
		return nil
	}), nil
}

// joinLists joins pair i of lists.
func joinLists(i int, a, b core.VariantValue, elem tf.DType) (*tensorList, error) {
	x, err := asList(a)
	if err != nil {
		return nil, err
	}
	y, err := asList(b)
	if err != nil {
		return nil, err
	}
	switch {
	case x.elem != elem:
		return nil, tf.Errorf(tf.InvalidArgument, "input_a[%d].dtype != element_dtype.  Saw: %s vs. %s", i, x.elem.CName(), elem.CName())
	case y.elem != elem:
		return nil, tf.Errorf(tf.InvalidArgument, "input_b[%d].dtype != element_dtype.  Saw: %s vs. %s", i, y.elem.CName(), elem.CName())
	case !x.shape.Equal(y.shape):
		return nil, tf.Errorf(tf.InvalidArgument, "input_a and input_b TensorList element shapes are not identical at index %d.  Saw %s vs. %s", i, x.shape.String(), y.shape.String())
	}
	return x.with(append(append([]*core.Tensor{}, x.items...), y.items...)), nil
}

// resizeList cuts a list short or adds elements that are not set.
func resizeList(c *core.OpContext) error {
	l, err := listInput(c, 0)
	if err != nil {
		return err
	}
	if c.Input(1).Rank() != 0 {
		return tf.Errorf(tf.InvalidArgument, "size must be a scalar")
	}
	size, err := listScalar(c, 1, "size")
	if err != nil {
		return err
	}
	if size < 0 {
		return tf.Errorf(tf.InvalidArgument, "TensorListSlice expects size to be non-negative. Got: %d", size)
	}
	items := core.Make[*core.Tensor](size)
	copy(items, l.items)
	c.Set(0, variantOf(l.with(items)))
	return nil
}

// checkRow reports why l, list i of many, cannot take a row of the type and
// shape.
func (l *tensorList) checkRow(i int, elem tf.DType, s tf.Shape) error {
	if !l.shape.Compatible(s) {
		return tf.Errorf(tf.InvalidArgument, "Tried to append a tensor with incompatible shape to a list at index %d. Op element shape: %s list shape: %s", i, s.String(), l.shape.String())
	}
	if l.elem != elem.Base() {
		return tf.Errorf(tf.InvalidArgument, "Invalid data type at index %d; op elements %s but list elements %s", i, elem.CName(), l.elem.CName())
	}
	return nil
}

package ops

import "github.com/gorge-tf/gorge/tf"

// Lists of tensors as a whole: to and from one tensor.

func init() {
	list := func(name, in, out, attrs string, k tf.NewKernel, shape func(*tf.Infer) error, grad tf.GradFunc) {
		tf.Register(tf.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Shape: shape, Kernels: tf.AnyType(k), Grad: grad})
	}
	const shapeType = "shape_type: {int32, int64}"
	list("TensorListStack", "input_handle: variant; element_shape: int32", "tensor: element_dtype", "element_dtype: type; num_elements: int = -1",
		stackList, stackListShape, stackListGrad)
	list("TensorListFromTensor", "tensor: element_dtype; element_shape: shape_type", "output_handle: variant", "element_dtype: type; "+shapeType,
		fromTensor, tf.ScalarShape, fromTensorGrad)
	list("TensorListConcat", "input_handle: variant", "tensor: element_dtype; lengths: int64",
		"element_dtype: type; element_shape: shape = { unknown_rank: true }", concatListV1, anyListShape, concatListGrad)
	list("TensorListConcatV2", "input_handle: variant; element_shape: shape_type; leading_dims: int64", "tensor: element_dtype; lengths: int64",
		"element_dtype: type; "+shapeType, concatListV2, anyListShape, concatListGrad)
	list("TensorListSplit", "tensor: element_dtype; element_shape: shape_type; lengths: int64", "output_handle: variant", "element_dtype: type; "+shapeType,
		splitList, tf.ScalarShape, splitListGrad)
}

func stackListShape(c *tf.Infer) error {
	if s := listShapeInput(c, 1); s != nil {
		c.Set(0, append(tf.Shape{c.Int("num_elements")}, s...))
	}
	return nil
}

func stackList(n *tf.Node) (tf.Kernel, error) {
	elem, want := n.Type("element_dtype"), n.Int("num_elements")
	return tf.Compute(func(c *tf.OpContext) error {
		l, err := listOf(c, 0, elem)
		if err != nil {
			return err
		}
		if want != -1 && len(l.items) != want {
			return tf.Errorf(tf.InvalidArgument, "Operation expected a list with %d elements but got a list with %d elements.", want, len(l.items))
		}
		s, err := wholeShape(c, 1, l, l.items, "stack")
		if err != nil {
			return err
		}
		return stackItems(c, elem, l.items, s)
	}), nil
}

func fromTensor(n *tf.Node) (tf.Kernel, error) {
	elem := n.Type("element_dtype")
	return tf.Compute(func(c *tf.OpContext) error {
		s, err := partialShape(c.Input(1))
		if err != nil {
			return err
		}
		t := c.Input(0)
		if t.Rank() < 1 {
			return tf.Errorf(tf.InvalidArgument, "Tensor must be at least a vector, but saw shape: %s", t.Shape().Text())
		}
		if !s.Compatible(t.Shape()[1:]) {
			return tf.Errorf(tf.InvalidArgument, "Specified a list with shape %s from a tensor with shape %s", s.Text(), t.Shape()[1:].Text())
		}
		c.Set(0, variantOf(newList(elem, s, rowTensors(t))))
		return nil
	}), nil
}

// concatListV1 has the elements' shape, without its first dimension, as an
// attribute.
func concatListV1(n *tf.Node) (tf.Kernel, error) {
	elem, s := n.Type("element_dtype"), n.ShapeAttr("element_shape")
	return tf.Compute(func(c *tf.OpContext) error {
		l, err := listOf(c, 0, elem)
		if err != nil {
			return err
		}
		if s != nil {
			s := append(tf.Shape{-1}, s...)
			return joinItems(c, l, s, nil)
		}
		return joinItems(c, l, nil, nil)
	}), nil
}

func concatListV2(n *tf.Node) (tf.Kernel, error) {
	elem := n.Type("element_dtype")
	return tf.Compute(func(c *tf.OpContext) error {
		l, err := listOf(c, 0, elem)
		if err != nil {
			return err
		}
		s, err := partialShape(c.Input(1))
		if err != nil {
			return err
		}
		return joinItems(c, l, s, tf.Data[int64](c.Input(2)))
	}), nil
}

// joinItems joins the elements of l along their first dimension. Elements that
// are not set are as long as leading says.
func joinItems(c *tf.OpContext, l *tensorList, s tf.Shape, leading []int64) error {
	rest, err := restShape(l, s)
	if err != nil {
		return err
	}
	lengths, total := make([]int64, len(l.items)), 0
	for i, t := range l.items {
		n := -1
		switch {
		case t != nil:
			n = t.Dim(0)
		case i < len(leading):
			n = int(leading[i])
		case len(s) > 0 && s[0] >= 0:
			n = s[0]
		}
		if n < 0 {
			return tf.Errorf(tf.InvalidArgument, "Concating lists with uninitialized tensors is not supported in this version of TensorListConcat. Consider updating your GraphDef to run the newer version.")
		}
		lengths[i], total = int64(n), total+n
	}
	return fillJoined(c, l, lengths, append(tf.Shape{total}, rest...))
}

// restShape returns the shape of l's elements without the first dimension.
func restShape(l *tensorList, s tf.Shape) (tf.Shape, error) {
	all, ok := s.Merge(l.shape)
	if !ok {
		return nil, tf.Errorf(tf.InvalidArgument, "Incompatible shapes during merge: %s vs. %s", s.Text(), l.shape.Text())
	}
	if all != nil && len(all) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Concat requires elements to be at least vectors, found scalars instead.")
	}
	var rest tf.Shape
	if all != nil {
		rest = all[1:]
	}
	for i, t := range l.items {
		if t == nil {
			continue
		}
		if t.Rank() == 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "Concat saw a scalar shape at index %d but requires at least vectors.", i)
		}
		m, ok := rest.Merge(t.Shape()[1:])
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "Tried to concat tensors with unequal shapes: %s vs %s", rest.Text(), t.Shape()[1:].Text())
		}
		rest = m
	}
	if rest == nil || !rest.Known() {
		return nil, tf.Errorf(tf.InvalidArgument, "All except the first dimension must be fully defined when concating an empty tensor list. element_shape: %s", all.Text())
	}
	return rest, nil
}

func fillJoined(c *tf.OpContext, l *tensorList, lengths []int64, s tf.Shape) error {
	out, err := c.Alloc(0, l.elem, s)
	if err != nil {
		return err
	}
	size, at := s[1:].NumElements(), 0
	for i, t := range l.items {
		n := int(lengths[i]) * size
		if t == nil {
			if t, err = zerosTensor(l.elem, append(tf.Shape{int(lengths[i])}, s[1:]...)); err != nil {
				return err
			}
		}
		copyElements(out, at, t, 0, n)
		at += n
	}
	t, err := tf.FromSlice(lengths, len(lengths))
	if err == nil {
		c.Set(1, t)
	}
	return err
}

// splitList cuts a tensor into pieces of the given lengths.
func splitList(n *tf.Node) (tf.Kernel, error) {
	elem := n.Type("element_dtype")
	return tf.Compute(func(c *tf.OpContext) error {
		s, err := partialShape(c.Input(1))
		if err != nil {
			return err
		}
		t, lengths := c.Input(0), c.Input(2)
		switch {
		case lengths.Rank() != 1:
			return tf.Errorf(tf.InvalidArgument, "Expected lengths to be a vector, received shape: %s", lengths.Shape().Text())
		case t.Rank() < 1:
			return tf.Errorf(tf.InvalidArgument, "Tensor must be at least a vector, but saw shape: %s", t.Shape().Text())
		case s != nil && (len(s) < 1 || !s[1:].Compatible(t.Shape()[1:])):
			return tf.Errorf(tf.InvalidArgument, "tensor shape %s is not compatible with element_shape %s", t.Shape().Text(), s.Text())
		}
		items, err := pieces(t, tf.Data[int64](lengths), s)
		if err == nil {
			c.Set(0, variantOf(newList(elem, s, items)))
		}
		return err
	}), nil
}

func pieces(t *tf.Tensor, lengths []int64, s tf.Shape) ([]*tf.Tensor, error) {
	rest := t.Shape()[1:]
	at := 0
	items := make([]*tf.Tensor, len(lengths))
	for i, n := range lengths {
		end := at + int(n)
		switch {
		case n < 0:
			return nil, tf.Errorf(tf.InvalidArgument, "Invalid value in lengths: %d", n)
		case end < at || end > t.Dim(0):
			return nil, tf.Errorf(tf.InvalidArgument, "Attempting to slice [%d, %d] from tensor with length %d", at, end, t.Dim(0))
		}
		shape := append(tf.Shape{int(n)}, rest...)
		if !s.Compatible(shape) {
			return nil, tf.Errorf(tf.InvalidArgument, "tensor shape %s is not compatible with element_shape %s", shape.Text(), s.Text())
		}
		items[i] = cutOut(t, at*rest.NumElements(), shape)
		at = end
	}
	if at != t.Dim(0) {
		return nil, tf.Errorf(tf.InvalidArgument, "Unused values in tensor. Length of tensor: %d Values used: %d", t.Dim(0), at)
	}
	return items, nil
}

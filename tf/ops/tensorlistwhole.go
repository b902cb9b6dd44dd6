package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Lists of tensors as a whole: to and from one tensor.

func init() {
	list := func(name, in, out, attrs string, k core.NewKernel, shape func(*core.Infer) error, grad tf.GradFunc) {
		core.Register(core.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Shape: shape, Kernels: core.AnyType(k), Grad: tf.GradFunc(grad)})
	}
	const shapeType = "shape_type: {int32, int64}"
	list("TensorListStack", "input_handle: variant; element_shape: int32", "tensor: element_dtype", "element_dtype: type; num_elements: int = -1",
		stackList, stackListShape, stackListGrad)
	list("TensorListFromTensor", "tensor: element_dtype; element_shape: shape_type", "output_handle: variant", "element_dtype: type; "+shapeType,
		fromTensor, core.ScalarShape, fromTensorGrad)
	list("TensorListConcat", "input_handle: variant", "tensor: element_dtype; lengths: int64",
		"element_dtype: type; element_shape: shape = { unknown_rank: true }", concatListV1, anyListShape, concatListGrad)
	list("TensorListConcatV2", "input_handle: variant; element_shape: shape_type; leading_dims: int64", "tensor: element_dtype; lengths: int64",
		"element_dtype: type; "+shapeType, concatListV2, anyListShape, concatListGrad)
	list("TensorListSplit", "tensor: element_dtype; element_shape: shape_type; lengths: int64", "output_handle: variant", "element_dtype: type; "+shapeType,
		splitList, core.ScalarShape, splitListGrad)
}

func stackListShape(c *core.Infer) error {
	if s := listShapeInput(c, 1); s != nil {
		c.Set(0, append(tf.Shape{c.Int("num_elements")}, s...))
	}
	return nil
}

var stacked = unknownShape{
	none:  "Tried to stack elements of an empty list with non-fully-defined element_shape",
	unset: "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined element_shape",
}

func stackList(n *core.Node) (core.Kernel, error) {
	elem, want := n.Type("element_dtype"), n.Int("num_elements")
	return core.Compute(func(c *core.OpContext) error {
		l, err := listOf(c, 0, elem)
		if err != nil {
			return err
		}
		if want != -1 && len(l.items) != want {
			return tf.Errorf(tf.InvalidArgument, "Operation expected a list with %d elements but got a list with %d elements.", want, len(l.items))
		}
		s, err := elementShape(c, 1, l)
		if err != nil {
			return err
		}
		if s, err = stacked.wholeShape(s, l.items); err != nil {
			return err
		}
		return stackItems(c, elem, l.items, s)
	}), nil
}

func fromTensor(n *core.Node) (core.Kernel, error) {
	elem := n.Type("element_dtype")
	return core.Compute(func(c *core.OpContext) error {
		s, err := partialShape(c.Input(1))
		if err != nil {
			return err
		}
		t := c.Input(0)
		if t.Rank() < 1 {
			return tf.Errorf(tf.InvalidArgument, "Tensor must be at least a vector, but saw shape: %s", t.Shape().String())
		}
		if !s.Compatible(t.Shape()[1:]) {
			return tf.Errorf(tf.InvalidArgument, "Specified a list with shape %s from a tensor with shape %s", s.String(), t.Shape()[1:].String())
		}
		c.Set(0, variantOf(newList(elem, s, rowTensors(t))))
		return nil
	}), nil
}

// concatListV1 has the elements' shape as an attribute, and does not ask the
// list for it.
func concatListV1(n *core.Node) (core.Kernel, error) {
	elem, s := n.Type("element_dtype"), n.ShapeAttr("element_shape")
	return core.Compute(func(c *core.OpContext) error {
		l, err := listOf(c, 0, elem)
		if err != nil {
			return err
		}
		if s != nil && len(s) == 0 {
			return tf.Errorf(tf.InvalidArgument, "element_shape must not be empty")
		}
		first, rest := -1, tf.Shape(nil)
		if s != nil {
			rest = s[1:]
		}
		return joinItems(c, l, first, rest, nil)
	}), nil
}

func concatListV2(n *core.Node) (core.Kernel, error) {
	elem := n.Type("element_dtype")
	return core.Compute(func(c *core.OpContext) error {
		l, err := listOf(c, 0, elem)
		if err != nil {
			return err
		}
		s, err := elementShape(c, 1, l)
		if err != nil {
			return err
		}
		if s != nil && len(s) == 0 {
			return tf.Errorf(tf.InvalidArgument, "Concat requires elements to be at least vectors, found scalars instead.")
		}
		first, rest := -1, tf.Shape(nil)
		if s != nil {
			first, rest = s[0], s[1:]
		}
		return joinItems(c, l, first, rest, append([]int64{}, core.Data[int64](c.Input(2))...))
	}), nil
}

// joinItems joins the elements of l, whose first dimension is first, or -1, and
// whose others are rest. Elements that are not set are as long as leading says,
// or as all others are; leading is nil for the op that does not have it.
func joinItems(c *core.OpContext, l *tensorList, first int, rest tf.Shape, leading []int64) error {
	if len(l.items) == 0 && (rest == nil || !rest.Known()) {
		return tf.Errorf(tf.InvalidArgument, "All except the first dimension must be fully defined when concating an empty tensor list. element_shape: %s", rest.String())
	}
	if l.shape == nil || !l.shape.Known() {
		var err error
		if first, rest, err = l.inferJoined(first, rest); err != nil {
			return err
		}
	}
	if rest == nil || !rest.Known() {
		return tf.Errorf(tf.InvalidArgument, "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim is not fully defined: %s", rest.String())
	}
	lengths, total := core.Make[int64](len(l.items)), 0
	for i, t := range l.items {
		n, err := itemLength(i, t, first, leading)
		if err != nil {
			return err
		}
		lengths[i], total = int64(n), total+n
	}
	return fillJoined(c, l, lengths, append(tf.Shape{total}, rest...))
}

// itemLength returns the first dimension of t, element i of a list.
func itemLength(i int, t *core.Tensor, first int, leading []int64) (int, error) {
	switch {
	case t != nil:
		return t.Dim(0), nil
	case i < len(leading) && leading[i] >= 0:
		return int(leading[i]), nil
	case i >= len(leading) && first >= 0:
		return first, nil
	case leading != nil && i >= len(leading):
		return 0, tf.Errorf(tf.InvalidArgument, "List contains uninitialized tensor at index %d but leading_dims has only %d elements.", i, len(leading))
	case leading != nil:
		return 0, tf.Errorf(tf.InvalidArgument, "leading_dims must not be negative, got %d at index %d", leading[i], i)
	}
	return 0, tf.Errorf(tf.InvalidArgument, "Concating lists with uninitialized tensors is not supported in this version of TensorListConcat. Consider updating your GraphDef to run the newer version.")
}

// inferJoined completes the shape of l's elements by those that are set. The
// first dimension is known if all of them have the same.
func (l *tensorList) inferJoined(first int, rest tf.Shape) (int, tf.Shape, error) {
	common, same := first, true
	for i, t := range l.items {
		if t == nil {
			continue
		}
		if t.Rank() == 0 {
			return 0, nil, tf.Errorf(tf.InvalidArgument, "Concat saw a scalar shape at index %d but requires at least vectors.", i)
		}
		m, ok := rest.Merge(t.Shape()[1:])
		if !ok {
			return 0, nil, mergeError(rest, t.Shape()[1:])
		}
		if rest = m; first != -1 && first != t.Dim(0) {
			return 0, nil, tf.Errorf(tf.InvalidArgument, "First entry of element_shape input does not match the first dim of list element at index: %d Expected: %d Actual: %d", i, first, t.Dim(0))
		}
		same = same && (common == -1 || common == t.Dim(0))
		common = t.Dim(0)
	}
	if !same {
		common = -1
	}
	return common, rest, nil
}

func fillJoined(c *core.OpContext, l *tensorList, lengths []int64, s tf.Shape) error {
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
	t, err := core.FromSlice(lengths, len(lengths))
	if err == nil {
		c.Set(1, t)
	}
	return err
}

// splitList cuts a tensor into pieces of the given lengths.
func splitList(n *core.Node) (core.Kernel, error) {
	elem := n.Type("element_dtype")
	return core.Compute(func(c *core.OpContext) error {
		s, err := partialShape(c.Input(1))
		if err != nil {
			return err
		}
		t, lengths := c.Input(0), c.Input(2)
		if err := checkSplit(t, lengths, s); err != nil {
			return err
		}
		items, err := pieces(t, core.Data[int64](lengths), s)
		if err == nil {
			c.Set(0, variantOf(newList(elem, s, items)))
		}
		return err
	}), nil
}

func checkSplit(t, lengths *core.Tensor, s tf.Shape) error {
	switch {
	case s != nil && len(s) < 1:
		return tf.Errorf(tf.InvalidArgument, "TensorListSplit requires element_shape to be at least of rank 1, but saw: %s", s.String())
	case t.Rank() < 1:
		return tf.Errorf(tf.InvalidArgument, "Tensor must be at least a vector, but saw shape: %s", t.Shape().String())
	case s != nil && !s[1:].Compatible(t.Shape()[1:]):
		return tf.Errorf(tf.InvalidArgument, "tensor shape %s is not compatible with element_shape %s", t.Shape().String(), s.String())
	case lengths.Rank() != 1:
		return tf.Errorf(tf.InvalidArgument, "Expected lengths to be a vector, received shape: %s", lengths.Shape().String())
	}
	return nil
}

func pieces(t *core.Tensor, lengths []int64, s tf.Shape) ([]*core.Tensor, error) {
	rest := t.Shape()[1:]
	at := 0
	items := make([]*core.Tensor, len(lengths))
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
			return nil, tf.Errorf(tf.InvalidArgument, "tensor shape %s is not compatible with element_shape %s", shape.String(), s.String())
		}
		items[i] = cutOut(t, at*rest.NumElements(), shape)
		at = end
	}
	if at != t.Dim(0) {
		return nil, tf.Errorf(tf.InvalidArgument, "Unused values in tensor. Length of tensor: %d Values used: %d", t.Dim(0), at)
	}
	return items, nil
}

package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Lists of tensors by their elements.

func init() {
	list := func(name, in, out, attrs string, k core.NewKernel, shape func(*core.Infer) error, grad tf.GradFunc) {
		core.Register(core.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Shape: shape, Kernels: core.AnyType(k), Grad: tf.GradFunc(grad)})
	}
	const shapeType = "shape_type: {int32, int64}"
	list("TensorListGetItem", "input_handle: variant; index: int32; element_shape: Tshape", "item: element_dtype", "element_dtype: type; Tshape: {int32, int64} = int32",
		getItem, getItemShape, getItemGrad)
	list("TensorListSetItem", "input_handle: variant; index: int32; item: element_dtype", "output_handle: variant",
		"element_dtype: type; resize_if_index_out_of_bounds: bool = false", setItem, core.ScalarShape, setItemGrad)
	list("TensorListGather", "input_handle: variant; indices: int32; element_shape: int32", "values: element_dtype", "element_dtype: type",
		gatherList, gatherListShape, gatherListGrad)
	list("TensorListScatter", "tensor: element_dtype; indices: int32; element_shape: shape_type", "output_handle: variant",
		"element_dtype: type; "+shapeType, scatterList, core.ScalarShape, scatterListGrad)
	list("TensorListScatterV2", "tensor: element_dtype; indices: int32; element_shape: shape_type; num_elements: int32", "output_handle: variant",
		"element_dtype: type; "+shapeType, scatterList, core.ScalarShape, scatterListGrad)
	list("TensorListScatterIntoExistingList", "input_handle: variant; tensor: element_dtype; indices: int32", "output_handle: variant",
		"element_dtype: type", scatterIntoList, core.ScalarShape, scatterIntoGrad)
}

func getItemShape(c *core.Infer) error {
	c.Set(0, listShapeInput(c, 2))
	return nil
}

func gatherListShape(c *core.Infer) error {
	s, rows := listShapeInput(c, 2), c.In(1)
	if s != nil && len(rows) == 1 {
		c.Set(0, append(tf.Shape{rows[0]}, s...))
	}
	return nil
}

func getItem(n *core.Node) (core.Kernel, error) {
	elem := n.Type("element_dtype")
	return core.Compute(func(c *core.OpContext) error {
		l, err := listOf(c, 0, elem)
		if err != nil {
			return err
		}
		i, err := listScalar(c, 1, "index")
		if err != nil {
			return err
		}
		if i < 0 || i >= len(l.items) {
			return tf.Errorf(tf.InvalidArgument, "Trying to access element %d in a list with %d elements.", i, len(l.items))
		}
		return setElement(c, 0, l, i, 2)
	}), nil
}

func setItem(n *core.Node) (core.Kernel, error) {
	elem, grows := n.Type("element_dtype"), n.Bool("resize_if_index_out_of_bounds")
	return core.Compute(func(c *core.OpContext) error {
		l, err := listOf(c, 0, elem)
		if err != nil {
			return err
		}
		if at := c.Input(1); at.Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "Expected argument 1 to be a scalar. Received %s", at.Shape().String())
		}
		i, err := listScalar(c, 1, "index")
		if err != nil {
			return err
		}
		if i < 0 || i >= len(l.items) && !grows {
			return tf.Errorf(tf.InvalidArgument, "Trying to modify element %d in a list with %d elements.", i, len(l.items))
		}
		if err := l.checkElement(c.Input(2), "Tried to set a tensor with incompatible shape at a list index."); err != nil {
			return err
		}
		if i >= len(l.items) {
			l = l.with(append(append([]*core.Tensor{}, l.items...), core.Make[*core.Tensor](i+1-len(l.items))...))
		}
		c.Set(0, variantOf(l.set(i, keep(c.Input(2)))))
		return nil
	}), nil
}

// unknownShape has the words of an op for what makes the shape of the elements
// that it puts together unknown: there are none, or none is set.
type unknownShape struct{ none, unset string }

// wholeShape finds the shape that elements which are to be put together must
// have, which begins with s: all they are known to have must make it complete.
func (u unknownShape) wholeShape(s tf.Shape, items []*core.Tensor) (tf.Shape, error) {
	if len(items) == 0 && (s == nil || !s.Known()) {
		return nil, tf.Errorf(tf.InvalidArgument, "%s: %s", u.none, s.String())
	}
	s, err := commonShape(s, items)
	if err != nil {
		return nil, err
	}
	if s == nil || !s.Known() {
		return nil, tf.Errorf(tf.InvalidArgument, "%s: %s", u.unset, s.String())
	}
	return s, nil
}

// stackItems makes output 0 of items of shape s, one after the other.
func stackItems(c *core.OpContext, d tf.DType, items []*core.Tensor, s tf.Shape) error {
	out, err := c.Alloc(0, d, append(tf.Shape{len(items)}, s...))
	if err != nil {
		return err
	}
	size := s.NumElements()
	for i, t := range items {
		if t == nil {
			if t, err = zerosTensor(d, s); err != nil {
				return err
			}
		}
		copyElements(out, i*size, t, 0, size)
	}
	return nil
}

var gathered = unknownShape{
	none:  "Tried to gather 0-elements from a list with non-fully-defined shape",
	unset: "Tried to gather uninitialized tensors from a list with non-fully-defined element_shape",
}

func gatherList(n *core.Node) (core.Kernel, error) {
	elem := n.Type("element_dtype")
	return core.Compute(func(c *core.OpContext) error {
		l, err := listOf(c, 0, elem)
		if err != nil {
			return err
		}
		s, err := elementShape(c, 2, l)
		if err != nil {
			return err
		}
		items, err := l.at(core.Data[int32](c.Input(1)))
		if err != nil {
			return err
		}
		if s, err = gathered.wholeShape(s, items); err != nil {
			return err
		}
		return stackItems(c, elem, items, s)
	}), nil
}

// at returns the elements of indices. TensorFlow has other words where it knows
// their shape.
func (l *tensorList) at(indices []int32) ([]*core.Tensor, error) {
	items := make([]*core.Tensor, len(indices))
	for k, i := range indices {
		switch inside := i >= 0 && int(i) < len(l.items); {
		case !inside && l.shape.Known():
			return nil, tf.Errorf(tf.InvalidArgument, "Index %d out o range; list only has %d elements.", i, len(l.items))
		case !inside:
			return nil, tf.Errorf(tf.InvalidArgument, "Trying to gather element %d in a list with %d elements.", i, len(l.items))
		}
		items[k] = l.items[i]
	}
	return items, nil
}

// scatterList makes a list of the rows of a tensor, in the places given.
func scatterList(n *core.Node) (core.Kernel, error) {
	elem := n.Type("element_dtype")
	return core.Compute(func(c *core.OpContext) error {
		s, err := partialShape(c.Input(2))
		if err != nil {
			return err
		}
		size, err := scatteredSize(c)
		if err != nil {
			return err
		}
		t, indices := c.Input(0), c.Input(1)
		if err := checkRows(t, s); err != nil {
			return err
		}
		if t.Dim(0) != indices.Len() {
			return tf.Errorf(tf.InvalidArgument, "Invalid number of rows in input tensor. Expected: %d Actual: %d", indices.Len(), t.Dim(0))
		}
		return placeRows(c, newList(elem, s, core.Make[*core.Tensor](max(size, 0))), t, c.Input(1), size)
	}), nil
}

// scatteredSize returns how long the list is to be; -1: as its elements need.
func scatteredSize(c *core.OpContext) (int, error) {
	if c.Inputs() < 4 {
		return -1, nil
	}
	if c.Input(3).Rank() != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "num_elements must be a scalar")
	}
	size, err := listScalar(c, 3, "num_elements")
	if err == nil && size < -1 {
		err = tf.Errorf(tf.InvalidArgument, "TensorListScatter expects num_elements >= -1, found: %d", size)
	}
	return size, err
}

// checkRows checks that the rows of t can be elements of shape s.
func checkRows(t *core.Tensor, s tf.Shape) error {
	switch {
	case t.Rank() < 1:
		return tf.Errorf(tf.InvalidArgument, "Tensor must be at least a vector, but saw shape: %s", t.Shape().String())
	case !s.Compatible(t.Shape()[1:]):
		return tf.Errorf(tf.InvalidArgument, "Specified a list with shape %s from a tensor with shape %s", s.String(), t.Shape()[1:].String())
	}
	return nil
}

// placeRows puts row k of t where indices says into l, which grows unless its
// size is given.
func placeRows(c *core.OpContext, l *tensorList, t, indices *core.Tensor, size int) error {
	items := append([]*core.Tensor{}, l.items...)
	rows := rowTensors(t)
	for k, i := range core.Data[int32](indices) {
		switch {
		case i < 0:
			return tf.Errorf(tf.InvalidArgument, "Indices in TensorListScatter must all be non-negative.")
		case size >= 0 && int(i) >= size:
			return tf.Errorf(tf.InvalidArgument, "TensorListScatter: Trying to scatter at index %d in list with size %d", i, size)
		}
		for int(i) >= len(items) {
			items = append(items, core.Make[*core.Tensor](int(i)+1-len(items))...)
		}
		items[i] = rows[k]
	}
	c.Set(0, variantOf(l.with(items)))
	return nil
}

func scatterIntoList(n *core.Node) (core.Kernel, error) {
	elem := n.Type("element_dtype")
	return core.Compute(func(c *core.OpContext) error {
		l, err := listOf(c, 0, elem)
		if err != nil {
			return err
		}
		t, indices := c.Input(1), c.Input(2)
		if indices.Rank() != 1 {
			return tf.Errorf(tf.InvalidArgument, "Expected indices to be a vector, but received shape: %s", indices.Shape().String())
		}
		if err := checkRows(t, l.shape); err != nil {
			return err
		}
		if t.Dim(0) != indices.Len() {
			return tf.Errorf(tf.InvalidArgument, "Expected len(indices) == tensor.shape[0], but saw: %d vs. %d", indices.Len(), t.Dim(0))
		}
		return placeRows(c, l, t, indices, -1)
	}), nil
}

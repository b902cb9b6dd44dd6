package ops

import (
	"strings"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Ops that read or write many elements of a TensorArray at once.

// copyElems copies n elements of src from number s on to dst from number d on.
// Both are of one type.
func copyElems(dst *core.Tensor, d int, src *core.Tensor, s, n int) {
	if b := dst.Buffer(); b != nil {
		size := dst.DType().Size()
		copy(b.Bytes()[d*size:(d+n)*size], src.Buffer().Bytes()[s*size:])
		return
	}
	switch dst.DType() {
	case tf.String:
		copy(core.Data[string](dst)[d:d+n], core.Data[string](src)[s:])
	case tf.Resource:
		copy(dst.Handles()[d:d+n], src.Handles()[s:])
	default:
		copy(dst.Variants()[d:d+n], src.Variants()[s:])
	}
}

// readAll reads the elements of the given numbers; release gives them back.
func (a *tensorArray) readAll(indices []int) (elems []*core.Tensor, release func(), err error) {
	release = func() {
		for _, t := range elems {
			t.Release()
		}
	}
	for _, i := range indices {
		t, err := a.readAt(i)
		if err != nil {
			release()
			return nil, nil, err
		}
		elems = append(elems, t)
	}
	return elems, release, nil
}

func countUp(n int) []int {
	out := core.Make[int](n)
	for i := range out {
		out[i] = i
	}
	return out
}

// arrayIndices returns the numbers of elements that the node is about: input 1,
// or, in the oldest form of the op, all of them.
func arrayIndices(c *core.OpContext, a *tensorArray, all bool) ([]int, error) {
	if all {
		n, err := a.size(true)
		return countUp(n), err
	}
	t := c.Input(1)
	if t.Rank() != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected indices to be a vector, but received shape: %s", t.Shape().String())
	}
	return t.Ints()
}

// gatherArray stacks elements.
func gatherArray(n *core.Node) (core.Kernel, error) {
	d, shape, all := n.Type("dtype"), n.ShapeAttr("element_shape"), n.OpName() == "TensorArrayPack"
	return core.Compute(func(c *core.OpContext) error {
		a, err := forReading(c, d)
		if err != nil {
			return err
		}
		if err := a.addShape(shape); err != nil {
			return err
		}
		indices, err := arrayIndices(c, a, all)
		if err != nil {
			return err
		}
		if len(indices) == 0 {
			return noElements(c, d, shape)
		}
		if t := a.takeBlock(indices, shape); t != nil {
			c.Set(0, t)
			return nil
		}
		elems, release, err := a.readAll(indices)
		if err != nil {
			return err
		}
		defer release()
		return stackElems(c, d, shape, elems)
	}), nil
}

// noElements makes output 0 a stack of no elements.
func noElements(c *core.OpContext, d tf.DType, shape tf.Shape) error {
	if !shape.Known() {
		return tf.Errorf(tf.Unimplemented, "TensorArray has size zero, but element shape %s is not fully defined. Currently only static shapes are supported when packing zero-size TensorArrays.", shape.String())
	}
	_, err := c.Alloc(0, d, append(tf.Shape{0}, shape...))
	return err
}

func stackElems(c *core.OpContext, d tf.DType, shape tf.Shape, elems []*core.Tensor) error {
	first := elems[0].Shape()
	if !shape.Compatible(first) {
		return tf.Errorf(tf.InvalidArgument, "TensorArray was passed element_shape %s which does not match the Tensor at index 0: %s", shape.String(), first.String())
	}
	for i, t := range elems {
		if !t.Shape().Equal(first) {
			return tf.Errorf(tf.InvalidArgument, "TensorArray has inconsistent shapes.  Index 0 has shape: %s but index %d has shape: %s", first.String(), i, t.Shape().String())
		}
	}
	out, err := c.Alloc(0, d, append(tf.Shape{len(elems)}, first...))
	if err != nil {
		return err
	}
	n := first.NumElements()
	for i, t := range elems {
		copyElems(out, i*n, t, 0, n)
	}
	return nil
}

// concatArray joins all elements along their first dimension.
func concatArray(n *core.Node) (core.Kernel, error) {
	d, shape := n.Type("dtype"), n.ShapeAttr("element_shape_except0")
	return core.Compute(func(c *core.OpContext) error {
		a, err := forReading(c, d)
		if err != nil {
			return err
		}
		size, err := a.size(true)
		if err != nil {
			return err
		}
		if size == 0 {
			return nothingJoined(c, d, shape)
		}
		elems, release, err := a.readAll(countUp(size))
		if err != nil {
			return err
		}
		defer release()
		return joinElems(c, d, shape, elems)
	}), nil
}

func nothingJoined(c *core.OpContext, d tf.DType, shape tf.Shape) error {
	if !shape.Known() {
		return tf.Errorf(tf.Unimplemented, "TensorArray has size zero, but element_shape_except0 %s is not fully defined. Currently only static shapes are supported when concatenating zero-size TensorArrays.", shape.String())
	}
	if _, err := c.Alloc(0, d, append(tf.Shape{0}, shape...)); err != nil {
		return err
	}
	return allocInts(c, 1, tf.Int64, nil)
}

func joinElems(c *core.OpContext, d tf.DType, shape tf.Shape, elems []*core.Tensor) error {
	lengths, total := core.Make[int](len(elems)), 0
	for i, t := range elems {
		if err := checkJoined(elems[0], t, i, shape); err != nil {
			return err
		}
		lengths[i] = t.Dim(0)
		total += lengths[i]
	}
	out, err := c.Alloc(0, d, append(tf.Shape{total}, elems[0].Shape()[1:]...))
	if err != nil {
		return err
	}
	at := 0
	for _, t := range elems {
		copyElems(out, at, t, 0, t.Len())
		at += t.Len()
	}
	return allocInts(c, 1, tf.Int64, lengths)
}

// checkJoined checks element i, t, against the first and what was announced.
func checkJoined(first, t *core.Tensor, i int, shape tf.Shape) error {
	if t.Rank() == 0 {
		return tf.Errorf(tf.InvalidArgument, "Concat saw a scalar shape at index %d but requires at least vectors.  Did you mean to call pack?", i)
	}
	want, rest := first.Shape()[1:], t.Shape()[1:]
	switch {
	case i == 0 && !shape.Compatible(rest):
		return tf.Errorf(tf.InvalidArgument, "TensorArray was passed element_shape_except0 %s but index 0 has (excepting dimension 0) shape: %s which does not match.", shape.String(), rest.String())
	case !want.Equal(rest):
		return tf.Errorf(tf.InvalidArgument, "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: %s but index %d has (excepting dimension 0) shape: %s", want.String(), i, rest.String())
	}
	return nil
}

// scatterArray writes the rows of a tensor to elements.
func scatterArray(c *core.OpContext) error {
	all := strings.HasSuffix(c.Node.OpName(), "Unpack")
	value := c.Input(len(c.In) - 2)
	a, err := forWriting(c, value)
	if err != nil {
		return err
	}
	if value.Rank() == 0 {
		return tf.Errorf(tf.InvalidArgument, "Input value for unpack must be at least a vector but received shape: %s", value.Shape().String())
	}
	indices := countUp(value.Dim(0))
	if !all {
		if indices, err = arrayIndices(c, a, false); err != nil {
			return err
		}
	}
	if err := checkArrayScatter(a, value, indices, all); err != nil {
		return err
	}
	row := value.Shape()[1:]
	write := a.writePart
	if mayCut(c, len(c.In)-2, row) {
		write = a.writePiece
	}
	for k, i := range indices {
		if err := write(c, i, value, k*row.NumElements(), row); err != nil {
			return err
		}
	}
	return passFlow(c)
}

// mayCut reports whether input k may be cut into the rows of a TensorArray instead of
// being copied: nothing else reads it, now or later. Rows begin where memory of their
// own might, and are large enough to be worth a buffer each.
func mayCut(c *core.OpContext, k int, row tf.Shape) bool {
	const fewBytes = 4 << 10
	t := c.Input(k)
	if c.Last == nil || !c.Last[k] || t.Buffer() == nil || !t.Addressable() || !t.Buffer().Sole() {
		return false
	}
	n := row.NumElements() * t.DType().Size()
	return n >= fewBytes && n%memory.Alignment == 0
}

// writePiece is writePart that gives the element a piece of value's own memory.
func (a *tensorArray) writePiece(c *core.OpContext, i int, value *core.Tensor, from int, shape tf.Shape) error {
	size := value.DType().Size()
	return a.write(c, i, core.TensorOf(value.DType(), shape, value.Buffer().Piece(from*size, shape.NumElements()*size)))
}

func checkArrayScatter(a *tensorArray, value *core.Tensor, indices []int, all bool) error {
	if n := value.Dim(0); n != len(indices) {
		return tf.Errorf(tf.InvalidArgument, "Expected len(indices) == values.shape[0], but saw: %d vs. %d", len(indices), n)
	}
	most := -1
	for _, i := range indices {
		most = max(most, i)
	}
	size, err := a.room(most + 1)
	switch {
	case err != nil:
		return err
	case all && size != value.Dim(0):
		return tf.Errorf(tf.InvalidArgument, "Input value must have first dimension equal to the array size (%d vs. %d)", value.Dim(0), size)
	case most >= size:
		return tf.Errorf(tf.InvalidArgument, "Max scatter index must be < array size (%d vs. %d)", most, size)
	}
	if all {
		a.mark(size)
	}
	return nil
}

// room returns the size that the array has once n elements have been written.
func (a *tensorArray) room(n int) (int, error) {
	size, err := a.size(false)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dynamic {
		size = max(size, n)
	}
	return size, err
}

// writePart writes to element i the part of value that begins at element from
// and has the given shape.
func (a *tensorArray) writePart(c *core.OpContext, i int, value *core.Tensor, from int, shape tf.Shape) error {
	part, err := c.Temp(value.DType(), shape.Clone())
	if err != nil {
		return err
	}
	copyElems(part, 0, value, from, part.Len())
	return a.write(c, i, part)
}

// splitArray writes parts of a tensor, of the given lengths, to the elements.
func splitArray(c *core.OpContext) error {
	value, lengths := c.Input(1), c.Input(2)
	a, err := forWriting(c, value)
	if err != nil {
		return err
	}
	parts, err := splitLengths(value, lengths)
	if err != nil {
		return err
	}
	size, err := a.room(len(parts))
	if err != nil {
		return err
	}
	if size != len(parts) {
		return tf.Errorf(tf.InvalidArgument, "TensorArray's size is not equal to the size of lengths (%d vs. %d), and the TensorArray is not marked as dynamically resizeable", size, len(parts))
	}
	a.mark(size)
	row, at := value.Shape()[1:].NumElements(), 0
	for i, n := range parts {
		if err := a.writePart(c, i, value, at*row, append(tf.Shape{n}, value.Shape()[1:]...)); err != nil {
			return err
		}
		at += n
	}
	return passFlow(c)
}

func splitLengths(value, lengths *core.Tensor) ([]int, error) {
	if lengths.Rank() != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected lengths to be a vector, received shape: %s", lengths.Shape().String())
	}
	parts, err := lengths.Ints()
	if err != nil {
		return nil, err
	}
	if value.Rank() == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected value to be at least a vector, but received shape: %s", value.Shape().String())
	}
	left, total, fits := value.Dim(0), 0, true
	for _, n := range parts {
		if n < 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "Invalid value in lengths: %d", n)
		}
		fits = fits && n <= left-total // else the sum may wrap
		total += n
	}
	if !fits || total != left {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is %d and value's shape is: %s ", total, value.Shape().String())
	}
	return parts, nil
}

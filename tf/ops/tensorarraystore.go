package ops

import (
	"sync"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A tensorArray is an array of tensors that lasts for a step. Each element is
// written once and, unless it is to be kept, read once. The array of an array's
// gradients begins as zeros of the elements' shapes; what is written to one
// element is added up.
type tensorArray struct {
	name     string
	dtype    tf.DType
	alike    bool // all elements have one shape
	dynamic  bool // grows as it is written
	isGrad   bool
	keepRead bool // elements may be read again and again

	mu       sync.Mutex
	shape    tf.Shape // of elements, as far as it is known
	elems    []arrayElem
	block    *core.Tensor // of all elements, of which those that are placed are pieces; nil if there is none
	marked   int          // how many elements it was split or unpacked into: as many has its gradient
	added    bool         // several writes to one element were added up
	isClosed bool
	grads    map[string]*tensorArray // by name, in an eager graph
}

// arrayElem is one element. One that was written but has no tensor is zeros.
type arrayElem struct {
	t       *core.Tensor
	shape   tf.Shape
	written bool
	placed  bool // t is a piece of the array's block
	read    bool
	cleared bool
}

var _ = resource.Declare[*tensorArray]("tensorflow::TensorArray")

// Close drops all elements.
func (a *tensorArray) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.elems {
		if e.t != nil {
			e.t.Release()
		}
	}
	a.dropBlock()
	a.elems, a.isClosed = nil, true
}

// HeldMemory tells, for reports, what the elements hold.
func (a *tensorArray) HeldMemory() (kind string, bytes int) {
	if a.mu.TryLock() {
		defer a.mu.Unlock()
		for _, e := range a.elems {
			if e.t != nil && !e.placed {
				bytes += e.t.HeldBytes()
			}
		}
		if a.block != nil {
			bytes += a.block.HeldBytes()
		}
	}
	return "TensorArrays", bytes
}

func (a *tensorArray) errorf(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, "TensorArray "+a.name+": "+format, args...)
}

func (a *tensorArray) closedError() error {
	if a.isClosed {
		return tf.Errorf(tf.InvalidArgument, "TensorArray %s has already been closed.", a.name)
	}
	return nil
}

// size returns the number of elements; with marked, of a gradient those that
// there will be.
func (a *tensorArray) size(marked bool) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if marked && a.isGrad {
		return a.marked, a.closedError()
	}
	return len(a.elems), a.closedError()
}

// mark notes how many elements the gradient will have.
func (a *tensorArray) mark(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.isGrad {
		a.marked = n
	}
}

// addShape adds to what is known of the elements' shape.
func (a *tensorArray) addShape(s tf.Shape) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	merged, ok := a.shape.Merge(s)
	if !ok {
		return mergeError(a.shape, s)
	}
	a.shape = merged
	return nil
}

// write gives t, whose reference it takes over, to element i. A gradient's
// writes are added up.
func (a *tensorArray) write(c *core.OpContext, i int, t *core.Tensor) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.checkWrite(i, t); err != nil {
		t.Release()
		return err
	}
	e := &a.elems[i]
	if e.written {
		return a.add(c, i, t)
	}
	e.t, e.shape, e.written = t, t.Shape().Clone(), true
	return nil
}

func (a *tensorArray) checkWrite(i int, t *core.Tensor) error {
	if err := a.closedError(); err != nil {
		return err
	}
	if i < 0 || !a.dynamic && i >= len(a.elems) {
		return a.errorf("Tried to write to index %d but array is not resizeable and size is: %d", i, len(a.elems))
	}
	if t.DType() != a.dtype {
		return a.errorf("Could not write to TensorArray index %d because the value dtype is %s but TensorArray dtype is %s.", i, t.DType().CName(), a.dtype.CName())
	}
	if !a.shape.Compatible(t.Shape()) {
		return a.errorf("Could not write to TensorArray index %d because the value shape is %s which is incompatible with the TensorArray's inferred element shape: %s (consider setting infer_shape=False).", i, t.Shape().String(), a.shape.String())
	}
	if a.alike && !a.shape.Known() {
		a.shape = t.Shape().Clone()
	}
	if err := a.grow(i + 1); err != nil {
		return err
	}
	switch e := &a.elems[i]; {
	case e.read:
		return a.errorf("Could not write to TensorArray index %d because it has already been read.", i)
	case e.written && !a.isGrad:
		return a.errorf("Could not write to TensorArray index %d because it has already been written to.", i)
	case e.written && !e.shape.Equal(t.Shape()):
		return a.errorf("Could not aggregate to TensorArray index %d because the existing shape is %s but the new input shape is %s.", i, e.shape.String(), t.Shape().String())
	}
	return nil
}

// mostElems is the size beyond which an index can only be a mistake.
const mostElems = 1 << 28

func (a *tensorArray) grow(n int) error {
	if n <= len(a.elems) {
		return nil
	}
	if n > mostElems {
		return tf.Errorf(tf.ResourceExhausted, "a TensorArray can have %d elements at most, got index %d", mostElems, n-1)
	}
	if n > cap(a.elems) { // by a quarter at least, as a step may write one after the other
		more := core.Make[arrayElem](max(n, len(a.elems)+len(a.elems)/4))
		copy(more, a.elems)
		a.elems = more[:len(a.elems)]
	}
	a.elems = a.elems[:n]
	return nil
}

// add adds t to element i.
func (a *tensorArray) add(c *core.OpContext, i int, t *core.Tensor) error {
	e := &a.elems[i]
	if e.t == nil || e.t.Len() == 0 {
		e.t = t
		return nil
	}
	defer t.Release()
	sum := additions[a.dtype]
	if sum == nil {
		return tf.Errorf(tf.InvalidArgument, "tensor_array::AddToTensor type not supported: %s", a.dtype.CName())
	}
	if !e.placed || !e.t.Buffer().Sole() {
		e.t, e.placed = core.SoleOwner(e.t), false
	}
	sum(c, &core.Change{T: e.t}, t)
	a.added = true
	return nil
}

// readAt returns element i, a reference that is the caller's.
func (a *tensorArray) readAt(i int) (*core.Tensor, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.closedError(); err != nil {
		return nil, err
	}
	if i < 0 || !a.isGrad && i >= len(a.elems) {
		return nil, tf.Errorf(tf.InvalidArgument, "Tried to read from index %d but array size is: %d", i, len(a.elems))
	}
	if i >= len(a.elems) || !a.elems[i].written {
		if err := a.fillUnwritten(i); err != nil {
			return nil, err
		}
	}
	return a.take(i)
}

// take reads an element that was written.
func (a *tensorArray) take(i int) (*core.Tensor, error) {
	e := &a.elems[i]
	if e.cleared {
		return nil, a.errorf("Could not read index %d twice because it was cleared after a previous read (perhaps try setting clear_after_read = false?).", i)
	}
	if e.t == nil {
		var err error
		if e.t, err = core.AllocTensor(a.dtype, e.shape); err != nil {
			return nil, err
		}
	}
	t := e.t
	e.read = true
	if a.keepRead {
		return t.Share(), nil
	}
	e.t, e.cleared = nil, true
	return t, nil
}

// fillUnwritten makes element i, which nothing was written to, zeros: a
// gradient may not have come, and an array whose elements' shape is known
// begins as zeros.
func (a *tensorArray) fillUnwritten(i int) error {
	s := a.shape
	if i < len(a.elems) && a.isGrad && len(a.elems[i].shape) > 0 {
		s = a.elems[i].shape
	}
	if !s.Known() {
		return a.errorf("Could not read from TensorArray index %d.  Furthermore, the element shape is not fully defined: %s.  "+
			"It is possible you are working with a resizeable TensorArray and stop_gradients is not allowing the gradients to be written.  "+
			"If you set the full element_shape property on the forward TensorArray, the proper all-zeros tensor will be returned instead of incurring this error.", i, s.String())
	}
	from := min(i, len(a.elems))
	if err := a.grow(i + 1); err != nil {
		return err
	}
	for k := from; k <= i; k++ {
		a.elems[k].shape, a.elems[k].written = s, true
	}
	return nil
}

// gradient returns a new array for the gradients of a, with prepend before the
// shapes of all elements. From now on a has the size that it has.
func (a *tensorArray) gradient(name string, prepend tf.Shape) (*tensorArray, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.closedError(); err != nil {
		return nil, err
	}
	a.dynamic = false
	if a.added {
		return nil, tf.Errorf(tf.InvalidArgument, "Unable to create a gradients TensorArray for %s.  Perhaps you used the multiple_writes_aggregate flag on a previous write?  "+
			"Gradient calculation is impossible when multiple writes are performed to the same index.", a.name)
	}
	d := &tensorArray{name: name, dtype: a.dtype, alike: a.alike, isGrad: true, marked: a.marked, elems: core.Make[arrayElem](len(a.elems))}
	if d.marked == 0 {
		d.marked = len(a.elems)
	}
	if a.shape != nil {
		d.shape = append(prepend.Clone(), a.shape...)
		if d.shape == nil {
			d.shape = tf.Shape{}
		}
	}
	for i, e := range a.elems {
		if e.written {
			d.elems[i].shape, d.elems[i].written = append(append(tf.Shape{}, prepend...), e.shape...), true
		}
	}
	return d, nil
}

// gradientNow is gradient for eager graphs: they have no container in which to
// find the array again.
func (a *tensorArray) gradientNow(name string, prepend tf.Shape) (*tensorArray, error) {
	if d := a.grads[name]; d != nil {
		return d, nil
	}
	d, err := a.gradient(name, prepend)
	if err == nil {
		if a.grads == nil {
			a.grads = map[string]*tensorArray{}
		}
		a.grads[name] = d
	}
	return d, err
}

package core

import (
	"math"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/memory"
)

// A Tensor is a dense, row-major array of elements of one type, as the engine
// holds it; programs hold a tf.Tensor. Plain elements live in a reference-counted
// buffer; strings, resource handles and variants are Go objects. The package
// comment says who may write to them.
type Tensor struct {
	dtype DType
	shape Shape
	inl   [4]int // where shape lives while the rank is at most 4
	buf   *Buffer
	obj   any     // []string, []ResourceHandle or []VariantValue
	given bool    // the program has given the memory away and does not write to it
	spare *Buffer // memory that this header described last, see Retire
}

// A ResourceHandle names a resource: a variable, a queue, a table.
type ResourceHandle struct {
	Device, Container, Name string
	HashCode                uint64
	TypeName                string
	DType                   DType // of the value behind the handle, Invalid if not known
	Shape                   Shape
	Object                  any // the resource itself, when the handle is its only name
}

// A VariantValue is one element of a Variant tensor. Its dynamic type decides
// which operations accept it.
type VariantValue struct{ Value any }

// CheckSize returns an error unless a tensor of type d and shape s, which must be
// fully known, can exist.
func CheckSize(d DType, s Shape) error {
	const certain = 1 << 40 // elements of any size that can be counted in bytes
	if n := s.NumElements(); n >= 0 && n < certain {
		return nil
	}
	if !s.Known() { // the clone lets shapes be on the stacks of kernels
		return Errorf(InvalidArgument, "a tensor's shape must be fully known, got %v%v", d, s.Clone())
	}
	if n := s.NumElements(); n < 0 || n > math.MaxInt/max(d.Size(), 16) {
		return Errorf(InvalidArgument, "Encountered overflow when multiplying the sizes of a tensor: Shape %s would have more than 2**63 - 1 elements or bytes", s.String())
	}
	return nil
}

// NewTensor returns a tensor of zeros (empty strings, null handles). It panics
// if the shape is not fully known, see CheckSize, or if there is too little
// memory, which the code that runs kernels makes the error of the node, see Panicked.
func NewTensor(d DType, s Shape) *Tensor {
	t, err := AllocTensor(d, s)
	if err != nil {
		panic(err)
	}
	return t
}

// AllocTensor is NewTensor that returns the error: RESOURCE_EXHAUSTED if the
// tensor is not to be had within the memory limit, see SetMemoryLimit.
func AllocTensor(d DType, s Shape) (*Tensor, error) {
	if err := CheckSize(d, s); err != nil {
		return nil, err
	}
	t := &Tensor{dtype: d.Base()}
	t.setShape(s)
	n := s.NumElements()
	isObjects, err := t.newObjects(n)
	if !isObjects {
		t.buf, err = memory.TryNew(n * d.Size())
	}
	if err != nil {
		return nil, oom(d, s, "", err)
	}
	return t, nil
}

// newObjects gives t its Go objects if its elements are such.
func (t *Tensor) newObjects(n int) (isObjects bool, err error) {
	switch t.dtype {
	case String:
		t.obj, err = memory.TryMake[string](n)
	case Resource:
		t.obj, err = memory.TryMake[ResourceHandle](n)
	case Variant:
		t.obj, err = memory.TryMake[VariantValue](n)
	default:
		return false, nil
	}
	return true, err
}

func (t *Tensor) setShape(s Shape) {
	if len(s) <= len(t.inl) {
		t.shape = t.inl[:copy(t.inl[:], s):len(t.inl)]
		return
	}
	t.shape = s.Clone()
}

// TensorOf returns a tensor over buf, whose reference it takes over.
func TensorOf(d DType, s Shape, buf *Buffer) *Tensor {
	t := &Tensor{dtype: d.Base(), buf: buf}
	t.setShape(s)
	return t
}

// FromSlice returns a tensor over data: both are the same memory, which is never
// pooled and never updated in place. data must not be written to while the tensor is
// in use. Without a shape the tensor is a vector.
func FromSlice[T Elem](data []T, shape ...int) (*Tensor, error) {
	s := Shape(shape)
	if len(shape) == 0 {
		s = Shape{len(data)}
	}
	if s.NumElements() != len(data) {
		return nil, Errorf(InvalidArgument, "data must fill the shape: shape %v holds %d elements, data has %d", s, s.NumElements(), len(data))
	}
	return Wrap(data, s), nil
}

// Wrap is FromSlice for data that are known to fill the shape.
func Wrap[T Elem](data []T, s Shape) *Tensor {
	t := &Tensor{dtype: TypeOf[T]()}
	t.setShape(s)
	if strs, ok := any(data).([]string); ok {
		t.obj = strs
		return t
	}
	t.buf = memory.Wrap(bytesOf(data), nil)
	return t
}

// bytesOf views the memory of data, which keeps it alive.
func bytesOf[T Elem](data []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*TypeOf[T]().Size())
}

// Scalar returns a tensor of rank 0.
func Scalar[T Elem](v T) *Tensor {
	t := &Tensor{dtype: TypeOf[T]()}
	t.setShape(Shape{})
	if s, ok := any(v).(string); ok {
		t.obj = []string{s}
		return t
	}
	t.buf = memory.New(t.dtype.Size())
	memory.Slice[T](t.buf)[0] = v
	return t
}

// HandleTensor returns a scalar resource tensor.
func HandleTensor(h ResourceHandle) *Tensor {
	t := &Tensor{dtype: Resource, obj: []ResourceHandle{h}}
	t.setShape(Shape{})
	return t
}

// DType returns the element type of t.
func (t *Tensor) DType() DType { return t.dtype }

// Shape returns the shape of t, which the caller must not change.
func (t *Tensor) Shape() Shape { return t.shape }

// Rank returns the number of dimensions of t.
func (t *Tensor) Rank() int { return len(t.shape) }

// Dim returns the size of dimension i.
func (t *Tensor) Dim(i int) int { return t.shape[i] }

// Len returns the number of elements of t.
func (t *Tensor) Len() int { return t.shape.NumElements() }

// NumBytes returns the size of t's elements in memory; strings count their bytes.
func (t *Tensor) NumBytes() int {
	if t.buf != nil {
		return t.buf.Len()
	}
	n := 0
	if strs, ok := t.obj.([]string); ok {
		for _, s := range strs {
			n += len(s)
		}
	}
	return n
}

// Buffer returns the memory of t, nil for strings, resources and variants.
func (t *Tensor) Buffer() *Buffer { return t.buf }

// Addressable reports whether the host can read t's elements; tensors on an
// accelerator have to be copied first.
func (t *Tensor) Addressable() bool { return t.buf == nil || t.buf.Space() == "" }

// Share returns a new tensor over the same memory. The memory lives until both
// have been released or collected.
func (t *Tensor) Share() *Tensor {
	s := &Tensor{dtype: t.dtype, buf: t.buf, obj: t.obj}
	s.setShape(t.shape)
	if s.buf != nil {
		s.buf.Ref()
	}
	return s
}

// Release gives up t's reference to its memory; t must not be used any more.
// Tensors that are simply dropped are collected as any Go value.
func (t *Tensor) Release() {
	if t.buf != nil {
		t.buf.Unref()
	}
	t.buf, t.obj = nil, nil
}

// Retire is Release of a header that will soon describe a tensor of the same size again. Small
// memory of a pool stays with the header if it has no other reference: [OpContext.Alloc] uses it
// again, and GiveBack returns it to the pool. In a loop that saves a way to the pool and back for each node and iteration.
func (t *Tensor) Retire() {
	if t.buf != nil && t.spare == nil && t.buf.Idles() {
		t.spare, t.buf, t.obj = t.buf, nil, nil
		return
	}
	t.Release()
}

// GiveBack gives the memory that Retire has kept back to its pool.
func (t *Tensor) GiveBack() {
	if t.spare != nil {
		t.spare.Unref()
		t.spare = nil
	}
}

// takeSpare returns the memory that Retire has kept if it has n bytes, else nil.
func (t *Tensor) takeSpare(n int) (b *Buffer) {
	if t.spare != nil && t.spare.Len() == n {
		b, t.spare = t.spare, nil
	}
	return b
}

// Escape makes t's memory safe to be kept by the program: it never goes back
// to a pool.
func (t *Tensor) Escape() *Tensor {
	if t.buf != nil {
		t.buf.Escape()
	}
	return t
}

// Reshape returns a tensor with the same elements in another shape, which must
// have as many.
func (t *Tensor) Reshape(s Shape) (*Tensor, error) {
	if s.NumElements() != t.Len() {
		return nil, Errorf(InvalidArgument, "a reshape keeps the number of elements: %v has %d, %v has %d", t.shape, t.Len(), s, s.NumElements())
	}
	r := t.Share()
	r.setShape(s)
	return r, nil
}

// Reuse makes t, a header without other references, describe buf with the
// given type and shape. Executors keep one header for each scratch output.
func (t *Tensor) Reuse(d DType, s Shape, buf *Buffer, obj any) {
	t.dtype, t.buf, t.obj = d.Base(), buf, obj
	t.setShape(s)
}

// Bits returns a tensor of type d over t's memory; both types must have
// elements of equal size.
func (t *Tensor) Bits(d DType) (*Tensor, error) {
	if t.buf == nil || d.Size() != t.dtype.Size() {
		return nil, Errorf(InvalidArgument, "types of equal element size are needed, got %v and %v", t.dtype, d)
	}
	s := t.Share()
	s.dtype = d.Base()
	return s, nil
}

// GiveAway returns a tensor over t's memory, which the program has given away:
// it never writes to it again.
func (t *Tensor) GiveAway() *Tensor {
	s := t.Share()
	s.given = true
	return s
}

// Enter returns what a step or a graph may keep of t, a tensor that a program
// holds: a copy, or t's memory if the program has given that away.
func (t *Tensor) Enter() *Tensor {
	if t.given {
		return t.Share()
	}
	return t.Clone()
}

// EnterFrom is Enter that takes memory for a copy from a pool, which gets it
// back with the last reference.
func (t *Tensor) EnterFrom(p *Pool) (*Tensor, error) { return t.EnterAt(&Tensor{}, p) }

// EnterAt is EnterFrom that uses a header of the caller's if it can.
func (t *Tensor) EnterAt(header *Tensor, p *Pool) (_ *Tensor, err error) {
	if t.given {
		return t.Share(), nil
	}
	if t.buf == nil {
		return t.TryClone()
	}
	b, err := p.GetFor(0, t.buf.Len())
	if err != nil {
		return nil, oom(t.dtype, t.shape, "", err)
	}
	copy(b.Bytes(), t.buf.Bytes())
	header.Reuse(t.dtype, t.shape, b, nil)
	return header, nil
}

// Leave returns what a program gets of t, whose reference it takes over: t's
// memory if it has no other reference and is no piece of more, else a copy. The memory is never pooled
// again. Like NewTensor it panics if there is no memory for a copy.
func (t *Tensor) Leave() *Tensor {
	left, err := t.TryLeave()
	if err != nil {
		panic(err)
	}
	return left
}

// TryLeave is Leave that returns the error.
func (t *Tensor) TryLeave() (*Tensor, error) {
	if t.buf != nil && t.buf.Sole() && !t.buf.IsPiece() {
		return t.Escape(), nil
	}
	c, err := t.TryClone()
	t.Release()
	return c, err
}

// CopyTo writes the elements of t to dst, which must have as many of its type.
func (t *Tensor) CopyTo(dst *Tensor) error {
	switch {
	case t.dtype != dst.dtype && dtypes[t.dtype].storage != dst.dtype:
		return Errorf(InvalidArgument, "elements must be asked for in the tensor's own type: tensor is %v, asked for %v", t.dtype, dst.dtype)
	case t.Len() != dst.Len():
		return Errorf(InvalidArgument, "memory for a tensor must have room for just its elements: shape %v has %d, there is room for %d", t.shape, t.Len(), dst.Len())
	case t.buf == nil:
		copy(dst.obj.([]string), t.obj.([]string))
	case t.buf != dst.buf:
		copy(dst.buf.Bytes(), t.buf.Bytes())
	}
	return nil
}

// Clone returns a copy of t with memory of its own. Like NewTensor it panics if
// there is too little.
func (t *Tensor) Clone() *Tensor {
	c, err := t.TryClone()
	if err != nil {
		panic(err)
	}
	return c
}

// TryClone is Clone that returns the error.
func (t *Tensor) TryClone() (*Tensor, error) {
	c, err := AllocTensor(t.dtype, t.shape)
	if err != nil {
		return nil, err
	}
	switch o := t.obj.(type) {
	case []string:
		copy(c.obj.([]string), o)
	case []ResourceHandle:
		copy(c.obj.([]ResourceHandle), o)
	case []VariantValue:
		copy(c.obj.([]VariantValue), o)
	default:
		copy(c.buf.Bytes(), t.buf.Bytes())
	}
	return c, nil
}

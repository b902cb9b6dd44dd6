package tf

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Tensor is a dense, row-major array of elements of one type, as a program
// holds it. Its memory is the program's: what a session or an eager graph
// returns is never shared with its state, so that a program may keep it and
// write to its elements; what a program feeds is copied before it is used,
// unless the program has given it away with [Adopt].
//
// A Tensor and a [core.Tensor], the engine's, are converted into each other
// like any Go values of one structure: (*core.Tensor)(t). Such a conversion
// shares memory; code that writes it has to follow the rules of package core.
type Tensor core.Tensor

// A Value is anything that can be fed as a tensor. *Tensor is one.
type Value interface {
	AsTensor() (*Tensor, error)
}

func (t *Tensor) engine() *core.Tensor { return (*core.Tensor)(t) }

// AsTensor returns t.
func (t *Tensor) AsTensor() (*Tensor, error) {
	if t == nil {
		return nil, Errorf(InvalidArgument, "a tensor must not be nil")
	}
	return t, nil
}

// NewTensor returns a tensor of zeros (empty strings, null handles). The shape
// must be fully known, and the machine must have the memory: else the error is
// INVALID_ARGUMENT or RESOURCE_EXHAUSTED.
func NewTensor(d DType, s Shape) (*Tensor, error) {
	t, err := core.AllocTensor(d, s)
	return (*Tensor)(t), err
}

// FromSlice returns a tensor over data: both are the same memory, which stays
// the program's. Without a shape the tensor is a vector.
func FromSlice[T Elem](data []T, shape ...int) (*Tensor, error) {
	t, err := core.FromSlice(data, shape...)
	return (*Tensor)(t), err
}

// Adopt is FromSlice for data that the program gives away for good: it must not
// write to them afterwards. Sessions and graphs that get the tensor need not
// copy it.
func Adopt[T Elem](data []T, shape ...int) (*Tensor, error) {
	t, err := core.FromSlice(data, shape...)
	if err != nil {
		return nil, err
	}
	return (*Tensor)(t.GiveAway()), nil
}

// Scalar returns a tensor of rank 0.
func Scalar[T Elem](v T) *Tensor { return (*Tensor)(core.Scalar(v)) }

// ScalarOf returns a scalar of a numeric type d with the value nearest to x. A type of
// integers must have x itself: 2 is an int32, 2.5 is none.
func ScalarOf(d DType, x float64) (*Tensor, error) {
	t, err := core.ScalarOf(d, x)
	return (*Tensor)(t), err
}

// Data returns the elements of t without copying. Like a type assertion it
// panics if elements of t are not of type T; see Values. A nil tensor, which is
// returned beside an error, has no elements.
func Data[T Elem](t *Tensor) []T {
	if t == nil {
		return nil
	}
	return core.Data[T](t.engine())
}

// Values returns the elements of t without copying, or an error if they are
// not of type T.
func Values[T Elem](t *Tensor) ([]T, error) {
	if t == nil {
		return nil, Errorf(InvalidArgument, "a tensor must not be nil")
	}
	return core.Values[T](t.engine())
}

// DType returns the element type of t.
func (t *Tensor) DType() DType { return t.engine().DType() }

// Shape returns the shape of t, which the caller must not change.
func (t *Tensor) Shape() Shape { return t.engine().Shape() }

// Rank returns the number of dimensions of t.
func (t *Tensor) Rank() int { return t.engine().Rank() }

// Dim returns the size of dimension i.
func (t *Tensor) Dim(i int) int { return t.engine().Dim(i) }

// Len returns the number of elements of t.
func (t *Tensor) Len() int { return t.engine().Len() }

// NumBytes returns the size of t's elements in memory; strings count their bytes.
func (t *Tensor) NumBytes() int { return t.engine().NumBytes() }

// At returns element i, counted in row-major order, as a Go value of its type.
func (t *Tensor) At(i int) any { return t.engine().At(i) }

// Ints returns a copy of the elements of an Int32 or Int64 tensor as ints.
func (t *Tensor) Ints() ([]int, error) { return t.engine().Ints() }

// Reshape returns a tensor over the same elements in another shape, which must
// have as many.
func (t *Tensor) Reshape(s Shape) (*Tensor, error) {
	r, err := t.engine().Reshape(s)
	return (*Tensor)(r), err
}

// Clone returns a copy of t with memory of its own.
func (t *Tensor) Clone() *Tensor { return (*Tensor)(t.engine().Clone()) }

// String formats t as "float32[2,3]{1, 2, 3, ...}": type, shape and elements. Up to
// ten elements are one list. More are nested by dimension, and of dimensions longer
// than six the three at each end stand for all, as in TensorFlow's tf.print:
// "int32[100,2]{{0, 1}, {2, 3}, {4, 5}, ..., {194, 195}, {196, 197}, {198, 199}}".
func (t *Tensor) String() string { return t.engine().String() }

// Format implements [fmt.Formatter]. The verbs v and s give String. Other verbs
// format each element, in nested brackets as slices of slices and NumPy's arrays are
// printed, with the gaps that String has: "%.1f" gives "[[1.0 2.0] [3.0 4.0]]".
func (t *Tensor) Format(s fmt.State, verb rune) { t.engine().Format(s, verb) }

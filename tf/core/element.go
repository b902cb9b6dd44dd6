package core

import (
	"slices"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
)

// An ElementKernel is the kernel of an [Elementwise] op: each element of its only
// output is computed from the elements of the inputs at the same place, broadcast.
// Compute runs the whole op. Executors may run many such ops together instead, block
// by block, by their loops.
type ElementKernel struct {
	Compute
	// Shape returns the shape of the output, and the errors of Compute for inputs
	// that do not fit. It may put shapes of the same size into in, as which inputs
	// are broadcast. It must not keep in.
	Shape func(n *Node, in []Shape) (Shape, error)
	// Loop computes some elements as Compute does, to the same bits wherever they
	// are among others; nil: the kernel is only run as a whole.
	Loop Loop
	// Repeats says that Loop takes operands of one element that is repeated.
	Repeats bool
	// Columns, if set, computes rows of n elements of z as Loop does row by row. Of an
	// operand that is repeated there is one element for each row.
	Columns func(z []byte, in []Operand, n int)
	// Lanes, if set, is Loop in machine code, to the same bits. Operands and results
	// have elements of four bytes, or are bools. Where Loop has forms for an operand that is
	// repeated, Lanes computes as they do.
	Lanes Lanes
	// Rectifies, if set, says that an op of one operand is a rectifier, or that an op of two is
	// the gradient of one: it gives operand 0 where operand 1 passes, and 0 elsewhere.
	Rectifies *Rectifier
}

// A Rectifier gives its operand where that is greater than 0, and Most at most; NaN stays NaN.
// Gradients pass it where its operand, or its result, is greater than 0 and less than Most.
type Rectifier struct {
	Most float32 // NaN: there is no such bound
}

// A RectifiedKernel is the kernel of an op whose result is the gradient for its first input.
// Compute runs the op.
type RectifiedKernel struct {
	Compute
	// Rectified computes what the gradient of a rectifier, whose result the first input is,
	// makes of the op's result, to the same bits.
	Rectified func(c *OpContext, r Rectifier) error
}

// An operation in machine code is given as a function that adds to code what computes one
// result of the values of its operands:
//
//	func(c *core.LaneCode, in []core.LaneValue) (core.LaneValue, bool) { return c.Mul(in[0], in[0]), true }
type (
	Lanes     = machine.Lanes
	LaneCode  = machine.Code
	LaneValue = machine.Value
)

// A Loop sets the elements of z from those of the operands. z may be the memory of an
// operand that is not repeated. Several goroutines may call it at once.
type Loop func(z []byte, in []Operand)

// An Operand is as many elements as there are results, or one that is repeated.
type Operand struct {
	Data     []byte
	Repeated bool
}

// Elements views memory as elements of a type that is not held as Go objects.
func Elements[T Elem](b []byte) []T {
	var e T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))/unsafe.Sizeof(e))
}

// AsCompute returns what a kernel that does not wait computes, and whether it is one.
func AsCompute(k Kernel) (Compute, bool) {
	switch k := k.(type) {
	case Compute:
		return k, true
	case *ElementKernel:
		return k.Compute, true
	case *RowKernel:
		return k.Compute, true
	case *UpdateKernel:
		return k.Compute, true
	case *PartsKernel:
		return k.Compute, true
	case *ChannelKernel:
		return k.Compute, true
	case *ChannelGradKernel:
		return k.Compute, true
	case *RectifiedKernel:
		return k.Compute, true
	}
	return nil, false
}

// MapLoop returns the loop of an op with one operand.
func MapLoop[R, T Elem](f func(y []R, x []T)) Loop {
	if !plain[R]() || !plain[T]() {
		return nil
	}
	return func(z []byte, in []Operand) { f(Elements[R](z), Elements[T](in[0].Data)) }
}

// ZipLoop returns the loop of an op with two operands of one type, of which none is
// repeated.
func ZipLoop[R, T Elem](f func(z []R, x, y []T)) Loop {
	if !plain[R]() || !plain[T]() {
		return nil
	}
	return func(z []byte, in []Operand) {
		f(Elements[R](z), Elements[T](in[0].Data), Elements[T](in[1].Data))
	}
}

// BroadcastLoop is ZipLoop with forms for one operand that is repeated.
func BroadcastLoop[R, T Elem](f func(z []R, x, y []T), scalarX func(z []R, x T, y []T), scalarY func(z []R, x []T, y T)) Loop {
	if !plain[R]() || !plain[T]() {
		return nil
	}
	l := elementwise.Loops[R, T]{Zip: f, ScalarX: scalarX, ScalarY: scalarY}
	return func(z []byte, in []Operand) {
		l.Run(Elements[R](z), Elements[T](in[0].Data), in[0].Repeated, Elements[T](in[1].Data), in[1].Repeated)
	}
}

// BroadcastColumns is BroadcastLoop for ElementKernel.Columns.
func BroadcastColumns[R, T Elem](f func(z []R, x, y []T), scalarX func(z []R, x T, y []T), scalarY func(z []R, x []T, y T)) func(z []byte, in []Operand, n int) {
	if !plain[R]() || !plain[T]() {
		return nil
	}
	l := elementwise.Loops[R, T]{Zip: f, ScalarX: scalarX, ScalarY: scalarY}
	return func(z []byte, in []Operand, n int) {
		l.Columns(Elements[R](z), Elements[T](in[0].Data), in[0].Repeated, Elements[T](in[1].Data), in[1].Repeated, n)
	}
}

// plain reports whether elements of T are memory without Go objects.
func plain[T Elem]() bool { return TypeOf[T]().Size() > 0 }

// SameAsInput is the shape of an output for ops with one input.
func SameAsInput(_ *Node, in []Shape) (Shape, error) { return in[0], nil }

// BroadcastOf is the shape of an output for ops whose inputs are broadcast.
func BroadcastOf(_ *Node, in []Shape) (Shape, error) {
	s := in[0]
	for _, t := range in[1:] {
		both, ok := BroadcastShapes(s, t)
		if !ok {
			return nil, Errorf(InvalidArgument, "Incompatible shapes: %s vs. %s", s.String(), t.String())
		}
		s = both
	}
	return s, CheckSize(Complex128, s)
}

// SameShapes is the shape of an output for ops whose inputs have one shape.
func SameShapes(n *Node, in []Shape) (Shape, error) {
	for i, s := range in[1:] {
		if !slices.Equal(in[0], s) {
			return nil, Errorf(InvalidArgument, "Inputs to operation %s of type %s must have the same size and shape.  Input 0: %s != input %d: %s",
				n.Name, n.OpName(), in[0].String(), i+1, s.String())
		}
	}
	return in[0], nil
}

package tf

import (
	"math"
	"reflect"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Number is an element of a tensor, or an int, which becomes an int32 if it is one
// and else an int64, as Python's integers do.
type Number interface{ Elem | int }

// TensorOf returns a tensor of a copy of v: a number, bool or string, or slices and
// arrays of them, nested and of equal lengths, as tf.constant and np.array take
// them. An int becomes an int32, or all of them int64 if one has to, a uint a
// uint64, and a type of the program's own what it is defined as.
//
//	TensorOf([][]float32{{1, 2}, {3, 4}}) // float32, shape [2,2]
func TensorOf(v any) (*Tensor, error) {
	switch r := reflect.ValueOf(v); {
	case v == nil:
		return nil, Errorf(InvalidArgument, "a tensor is made of numbers, bools or strings, got nil")
	case r.Type() == reflect.TypeFor[*Tensor]():
		return v.(*Tensor).AsTensor()
	default:
		shape, elem := extent(r)
		elem, build := literalOf(elem)
		if build == nil {
			return nil, Errorf(InvalidArgument, "a tensor is made of numbers, bools or strings, got %T", v)
		}
		if err := shapeHolds(shape, r, 0); err != nil {
			return nil, err
		}
		l := &literal{shape: shape, elems: reflect.MakeSlice(reflect.SliceOf(elem), 0, max(shape.NumElements(), 0))}
		l.collect(r, 0)
		return (*Tensor)(build(l)), nil
	}
}

// literalOf returns the type that elements of type t become, and what makes tensors
// of them; nil if nothing does.
func literalOf(t reflect.Type) (reflect.Type, func(*literal) *core.Tensor) {
	if build := literals[t]; build != nil {
		return t, build
	}
	for elem, build := range literals {
		if elem.Kind() == t.Kind() && elem.PkgPath() == "" {
			return elem, build
		}
	}
	if t.Kind() == reflect.Uint {
		t = reflect.TypeFor[uint64]()
	}
	return t, literals[t]
}

// extent returns the lengths along the first elements of each level, and the type
// of the elements.
func extent(r reflect.Value) (Shape, reflect.Type) {
	shape, t := Shape{}, r.Type()
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		n := 0
		if r.IsValid() {
			n = r.Len()
		}
		if shape, t = append(shape, n), t.Elem(); n > 0 {
			r = r.Index(0)
		} else {
			r = reflect.Value{}
		}
	}
	return shape, t
}

// A literal is what TensorOf has found in its argument.
type literal struct {
	shape Shape
	elems reflect.Value // a slice of them
}

// shapeHolds refuses slices that differ in length from the first of their level. Nothing is
// allocated before: the first ones may be much longer than others.
func shapeHolds(shape Shape, r reflect.Value, level int) error {
	if level == len(shape) {
		return nil
	}
	if r.Len() != shape[level] {
		return Errorf(InvalidArgument, "slices of one level must have equal lengths: the first of level %d has %d elements, another %d", level, shape[level], r.Len())
	}
	if level == len(shape)-1 {
		return nil
	}
	for i := range r.Len() {
		if err := shapeHolds(shape, r.Index(i), level+1); err != nil {
			return err
		}
	}
	return nil
}

func (l *literal) collect(r reflect.Value, level int) {
	switch {
	case level == len(l.shape):
		l.elems = reflect.Append(l.elems, r.Convert(l.elems.Type().Elem()))
	case level == len(l.shape)-1 && r.Kind() == reflect.Slice && r.Type().Elem() == l.elems.Type().Elem():
		l.elems = reflect.AppendSlice(l.elems, r)
	default:
		for i := range r.Len() {
			l.collect(r.Index(i), level+1)
		}
	}
}

// literals makes tensors by the type of their elements.
var literals = map[reflect.Type]func(*literal) *core.Tensor{
	reflect.TypeFor[float32](): literally[float32], reflect.TypeFor[float64](): literally[float64],
	reflect.TypeFor[int8](): literally[int8], reflect.TypeFor[int16](): literally[int16],
	reflect.TypeFor[int32](): literally[int32], reflect.TypeFor[int64](): literally[int64],
	reflect.TypeFor[uint8](): literally[uint8], reflect.TypeFor[uint16](): literally[uint16],
	reflect.TypeFor[uint32](): literally[uint32], reflect.TypeFor[uint64](): literally[uint64],
	reflect.TypeFor[complex64](): literally[complex64], reflect.TypeFor[complex128](): literally[complex128],
	reflect.TypeFor[bool](): literally[bool], reflect.TypeFor[string](): literally[string],
	reflect.TypeFor[Half](): literally[Half], reflect.TypeFor[BF16](): literally[BF16],
	reflect.TypeFor[int](): literalInts,
}

func literally[T Elem](l *literal) *core.Tensor {
	return core.Wrap(l.elems.Interface().([]T), l.shape)
}

func literalInts(l *literal) *core.Tensor {
	v := l.elems.Interface().([]int)
	for _, n := range v {
		if n < math.MinInt32 || n > math.MaxInt32 {
			return core.Wrap(convertInts[int64](v), l.shape)
		}
	}
	return core.Wrap(convertInts[int32](v), l.shape)
}

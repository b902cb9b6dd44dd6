package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// likeInput is the shape function of an op whose output 0 has the shape of
// input i.
func likeInput(i int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		c.Set(0, c.In(i))
		return nil
	}
}

// noOutputs is the shape function of an op that has no outputs, or whose
// outputs may have any shape.
func noOutputs(*core.Infer) error { return nil }

// unknownDims returns a shape of rank n in which nothing else is known.
func unknownDims(n int) tf.Shape {
	s := make(tf.Shape, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

// wrapAxis counts a negative axis from the end; ok is false if axis is not in
// [-rank, rank).
func wrapAxis(axis, rank int) (_ int, ok bool) {
	if axis < 0 {
		axis += rank
	}
	return axis, axis >= 0 && axis < rank
}

// merged returns what two dimensions that must be equal are, and whether they
// can be.
func mergedDim(a, b int) (int, bool) {
	switch {
	case a < 0:
		return b, true
	case b < 0 || a == b:
		return a, true
	}
	return 0, false
}

// intsOf returns the elements of an integer tensor of any width.
func intsOf(t *core.Tensor) ([]int, error) {
	switch t.DType() {
	case tf.Int8:
		return widenInts(core.Data[int8](t)), nil
	case tf.Int16:
		return widenInts(core.Data[int16](t)), nil
	}
	return t.Ints()
}

func widenInts[T int8 | int16](v []T) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = int(x)
	}
	return out
}

// appendInts appends to dst what intsOf returns.
func appendInts(dst []int, t *core.Tensor) ([]int, error) {
	switch t.DType() {
	case tf.Int32:
		for _, v := range core.Data[int32](t) {
			dst = append(dst, int(v))
		}
		return dst, nil
	case tf.Int64:
		for _, v := range core.Data[int64](t) {
			dst = append(dst, int(v))
		}
		return dst, nil
	}
	v, err := intsOf(t)
	return append(dst, v...), err
}

// scalarInt returns the one element of an integer tensor.
func scalarInt(t *core.Tensor, name string) (int, error) {
	if t.Len() != 1 {
		return 0, tf.Errorf(tf.InvalidArgument, "%s must be a scalar, got shape %s", name, t.Shape().String())
	}
	var room [1]int
	v, err := appendInts(room[:0], t)
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

// shapeOf reads a vector of sizes. It bounds them so that a tensor of that
// shape can exist or is refused by Alloc.
func shapeOf(t *core.Tensor, name string) (tf.Shape, error) {
	if t.Rank() != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "%s must be a vector of {int32,int64}, got shape %s", name, t.Shape().String())
	}
	v, err := intsOf(t)
	return append(tf.Shape{}, v...), err
}

// product returns the number of elements of a known shape or part of one.
func product(s []int) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

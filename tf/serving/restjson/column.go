package restjson

import (
	"math"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
)

// A column collects the elements of one tensor.
type column interface {
	// add appends the elements of a value that has a shape, and checks it.
	add(d *document, n int32, shape tf.Shape) error
	len() int
	tensor(shape tf.Shape) (*tf.Tensor, error)
}

type elements[T tf.Elem] struct {
	name string // of the type
	data []T
	read func(d *document, n int32) (T, error)
	// bulk appends the elements of an array that has nothing but such values, nil if
	// there is no faster way than one by one. It reports whether it has done so.
	bulk func(to []T, nodes []node) ([]T, bool)
}

var errType = tf.Errorf(tf.InvalidArgument, "the value is not of the type") // add says of which

func (c *elements[T]) len() int { return len(c.data) }

func (c *elements[T]) tensor(shape tf.Shape) (*tf.Tensor, error) {
	if len(shape) == 0 && len(c.data) == 1 {
		return tf.Scalar(c.data[0]), nil
	}
	return tf.Adopt(c.data, shape...)
}

func (c *elements[T]) add(d *document, n int32, shape tf.Shape) error {
	return c.fill(d, n, 0, shape)
}

// fill appends a value that lies so deep in the arrays of a tensor. It recurses
// less deep than the parser lets values be nested.
func (c *elements[T]) fill(d *document, n int32, level int, shape tf.Shape) error {
	if !d.is(n, array) {
		return c.leaf(d, n, level, shape)
	}
	if level >= len(shape) {
		return tf.Errorf(tf.InvalidArgument, "Encountered list at unexpected level: %d expected < %d", level, len(shape))
	}
	if size := int(d.nodes[n].size); size != shape[level] {
		return tf.Errorf(tf.InvalidArgument, "Encountered list at unexpected size: %d at level: %d expected size: %d", size, level, shape[level])
	}
	if last := n + d.nodes[n].size; c.bulk != nil && level == len(shape)-1 && int(last) < len(d.nodes) {
		if data, ok := c.bulk(c.data, d.nodes[n+1:last+1]); ok {
			c.data = data
			return nil
		}
	}
	return d.children(n, func(_ int, child int32) error { return c.fill(d, child, level+1, shape) })
}

func (c *elements[T]) leaf(d *document, n int32, level int, shape tf.Shape) error {
	if level != len(shape) {
		return d.fault(n, "found at incorrect level: %d in the JSON DOM. Expected at level: %d", level+1, len(shape))
	}
	v, err := c.read(d, n)
	if err == errType {
		return d.fault(n, "Type: %v is not of expected type: %s", d.nodes[n].kind, c.name)
	}
	if err != nil {
		return err
	}
	c.data = append(c.data, v)
	return nil
}

// newColumn returns a column for elements of a type. Room is made for n of them.
func newColumn(t tf.DType, n int) column {
	switch t {
	case tf.Float32:
		return floats[float32](t, n)
	case tf.Float64:
		return floats[float64](t, n)
	case tf.Float16:
		return newElements(t, n, narrow(numeric.HalfFromFloat32))
	case tf.BFloat16:
		return newElements(t, n, narrow(numeric.BFloat16FromFloat32))
	case tf.Int8:
		return ints[int8](t, n, math.MinInt8, math.MaxInt8)
	case tf.Int16:
		return ints[int16](t, n, math.MinInt16, math.MaxInt16)
	case tf.Int32:
		return ints[int32](t, n, math.MinInt32, math.MaxInt32)
	case tf.Int64:
		return ints[int64](t, n, math.MinInt64, math.MaxInt64)
	case tf.Uint8:
		return uints[uint8](t, n, math.MaxUint8)
	case tf.Uint16:
		return uints[uint16](t, n, math.MaxUint16)
	case tf.Uint32:
		return uints[uint32](t, n, math.MaxUint32)
	case tf.Uint64:
		return uints[uint64](t, n, math.MaxUint64)
	case tf.Bool:
		return newElements(t, n, readBool)
	case tf.String:
		return newElements(t, n, readString)
	}
	return newElements(t, 0, func(d *document, n int32) (bool, error) {
		return false, tf.Errorf(tf.Unimplemented, "Conversion of JSON Value: %s to type: %s", d.debug(n), t.CName())
	})
}

func newElements[T tf.Elem](t tf.DType, n int, read func(*document, int32) (T, error)) *elements[T] {
	return &elements[T]{name: t.CName(), data: make([]T, 0, n), read: read}
}

func floats[T float32 | float64](t tf.DType, n int) column {
	c := newElements(t, n, func(d *document, n int32) (T, error) {
		if !d.is(n, number) {
			return 0, errType
		}
		return T(d.float64(n)), nil
	})
	c.bulk = numbers[T]
	return c
}

// narrow reads numbers of 16 bits. TensorFlow Serving refuses them.
func narrow[T tf.Half | tf.BF16](from func(float32) T) func(*document, int32) (T, error) {
	return func(d *document, n int32) (T, error) {
		if !d.is(n, number) {
			return 0, errType
		}
		return from(roundToOdd(d.float64(n))), nil
	}
}

// roundToOdd returns a float32 that rounds to any narrower type as x does: an inexact
// one has an odd last bit (Boldo and Melquiond, Emulation of FMA and correctly rounded
// sums, 2008).
func roundToOdd(x float64) float32 {
	f := float32(x)
	if d := float64(f); d != x && !math.IsNaN(x) {
		bits := math.Float32bits(f)
		if math.Abs(d) > math.Abs(x) {
			bits--
		}
		f = math.Float32frombits(bits | 1)
	}
	return f
}

// numbers appends the values of nodes that are all numbers. Those have no children:
// the elements of an array lie side by side if its first ones do.
func numbers[T float32 | float64](to []T, nodes []node) ([]T, bool) {
	for i := range nodes {
		if nodes[i].kind != number {
			return nil, false
		}
		to = append(to, T(nodes[i].float64()))
	}
	return to, true
}

func ints[T int8 | int16 | int32 | int64](t tf.DType, n int, low, high int64) column {
	return newElements(t, n, func(d *document, n int32) (T, error) {
		x, ok := d.int64(n, low, high)
		if !ok {
			return 0, errType
		}
		return T(x), nil
	})
}

func uints[T uint8 | uint16 | uint32 | uint64](t tf.DType, n int, high uint64) column {
	return newElements(t, n, func(d *document, n int32) (T, error) {
		x, ok := d.uint64(n, high)
		if !ok {
			return 0, errType
		}
		return T(x), nil
	})
}

func readBool(d *document, n int32) (bool, error) {
	if d.is(n, boolTrue) || d.is(n, boolFalse) {
		return d.is(n, boolTrue), nil
	}
	return false, errType
}

func readString(d *document, n int32) (string, error) {
	switch d.nodes[n].kind {
	case text:
		return d.text(n), nil
	case object:
		return d.bytes(n)
	}
	return "", errType
}

// shapeOf returns the shape that the first elements of nested arrays tell.
func (d *document) shapeOf(n int32) tf.Shape {
	shape := tf.Shape{}
	for d.is(n, array) {
		size := int(d.nodes[n].size)
		shape = append(shape, size)
		if size == 0 {
			break
		}
		n++
	}
	return shape
}

// checkRank refuses what would be a tensor of too many dimensions.
func checkRank(n int) error {
	if n > maxRank {
		return tf.Errorf(tf.InvalidArgument, "a tensor has at most %d dimensions, got arrays nested %d deep", maxRank, n)
	}
	return nil
}

// hasShape reports whether shapeOf would return a shape.
func (d *document) hasShape(n int32, shape tf.Shape) bool {
	for _, size := range shape {
		if !d.is(n, array) || int(d.nodes[n].size) != size {
			return false
		}
		n++
		if size == 0 {
			return true // shapeOf stops there, and so does every shape that it has returned
		}
	}
	return !d.is(n, array)
}

// leaves returns how many elements arrays of a shape have, at most as many as a
// document may have.
func (d *document) leaves(shape tf.Shape, rows int) int {
	n := rows
	for _, size := range shape {
		if n *= size; n > len(d.nodes) {
			return len(d.nodes)
		}
	}
	return n
}

package lookup

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A column holds the values of a table, cells of any type, width of them to a
// row. Which rows are in use the table knows.
type column interface {
	// set makes row at what row i of t is.
	set(at int, t *core.Tensor, i int)
	// get makes row i of t what row at is.
	get(t *core.Tensor, i, at int)
	// same reports whether row at is row i of t.
	same(at int, t *core.Tensor, i int) bool
	// move copies a row.
	move(to, from int)
	// resize changes the number of rows; new ones are zero.
	resize(rows int)
}

type cells[V any] struct {
	data  []V
	width int
	of    func(*core.Tensor) []V
	equal func(a, b V) bool
}

func (c *cells[V]) row(i int) []V { return c.data[i*c.width : (i+1)*c.width] }

func (c *cells[V]) rowOf(t *core.Tensor, i int) []V { return c.of(t)[i*c.width : (i+1)*c.width] }

func (c *cells[V]) set(at int, t *core.Tensor, i int) { copy(c.row(at), c.rowOf(t, i)) }
func (c *cells[V]) get(t *core.Tensor, i, at int)     { copy(c.rowOf(t, i), c.row(at)) }
func (c *cells[V]) move(to, from int)                 { copy(c.row(to), c.row(from)) }

func (c *cells[V]) same(at int, t *core.Tensor, i int) bool {
	other := c.rowOf(t, i)
	for k, v := range c.row(at) {
		if !c.equal(v, other[k]) {
			return false
		}
	}
	return true
}

func (c *cells[V]) resize(rows int) {
	n := rows * c.width
	if n <= len(c.data) {
		clear(c.data[n:])
		c.data = c.data[:n]
		return
	}
	c.data = append(c.data, core.Make[V](n-len(c.data))...)
}

// newColumn returns an empty column for values of type d, nil if tables hold no
// such values.
func newColumn(d tf.DType, width int) column {
	switch d {
	case tf.Float32:
		return elements[float32](width)
	case tf.Float64:
		return elements[float64](width)
	case tf.Int32:
		return elements[int32](width)
	case tf.Int64:
		return elements[int64](width)
	case tf.Bool:
		return elements[bool](width)
	case tf.String:
		return elements[string](width)
	case tf.Resource:
		return &cells[core.ResourceHandle]{width: width, of: (*core.Tensor).Handles, equal: func(a, b core.ResourceHandle) bool { return a.Name == b.Name && a.Container == b.Container }}
	case tf.Variant:
		return &cells[core.VariantValue]{width: width, of: (*core.Tensor).Variants, equal: func(a, b core.VariantValue) bool { return false }}
	}
	return nil
}

func elements[V tf.Elem](width int) column {
	return &cells[V]{width: width, of: core.Data[V], equal: func(a, b V) bool { return a == b || a != a && b != b }} // NaN is one value
}

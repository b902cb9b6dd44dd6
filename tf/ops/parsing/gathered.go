package parsing

import (
	"sync"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// gathered is the values of a column of all examples, and where those of each
// example end. Its memory is used again by later columns.
type gathered[T tf.Elem] struct {
	values []T
	ends   []int
}

// gatheredBy has a pool of *gathered[T] for each type T that features have: batches
// are parsed in every step, and few of their columns say ahead how long they are.
var gatheredBy = map[tf.DType]*sync.Pool{tf.Float32: {}, tf.Int64: {}, tf.String: {}}

// newGathered returns room for n examples, without values. Release gives it back.
func newGathered[T tf.Elem](n int) *gathered[T] {
	g, ok := gatheredBy[tf.TypeOf[T]()].Get().(*gathered[T])
	if !ok {
		g = &gathered[T]{}
	}
	if cap(g.ends) < n {
		g.ends = core.Make[int](n)
	}
	if cap(g.values) < n {
		g.values = core.Make[T](n)[:0]
	}
	g.ends = g.ends[:n]
	return g
}

// release gives the memory back. No string stays in it: it would keep an example.
func (g *gathered[T]) release() {
	if cap(g.values) > mostFound || cap(g.ends) > mostFound {
		return
	}
	if words, ok := any(g.values).([]string); ok {
		clear(words)
	}
	g.values = g.values[:0]
	gatheredBy[tf.TypeOf[T]()].Put(g)
}

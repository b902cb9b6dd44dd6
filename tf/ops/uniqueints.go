package ops

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// uniqueScratch is the memory of one search for distinct ids.
type uniqueScratch struct {
	table  []int32
	ints   []int
	places []hashPlace
	hashes []uint64
}

// uniqueScratches are there to be used again: ids of embeddings are made unique in
// every step.
var uniqueScratches = sync.Pool{New: func() any { return new(uniqueScratch) }}

// reserve makes room for n ids in a table of some size, all of whose places are
// empty.
func (s *uniqueScratch) reserve(n, size int) {
	s.table, s.ints = atLeast(s.table, size), atLeast(s.ints, 3*n)
	clear(s.table)
}

// atLeast returns n elements, those of s if it has room for them.
func atLeast[T any](s []T, n int) []T {
	if cap(s) < n {
		return core.Make[T](n)
	}
	return s[:n]
}

// results makes the memory of u that of s, with room for n slices.
func (u *uniques) results(s *uniqueScratch, n int) {
	u.scratch = s
	u.index, u.first, u.count = s.ints[:n:n], s.ints[n:n:2*n], s.ints[2*n:2*n:3*n]
}

// release gives the memory of u back. u must not be used any more.
func (u *uniques) release() {
	if s := u.scratch; s != nil {
		*u = uniques{}
		uniqueScratches.Put(s)
	}
}

// uniqueSecrets make hashes of ids that no input can know, and so no input can be
// such that all its ids meet in one place.
var uniqueSecrets = [2]uint64{rand.Uint64(), rand.Uint64() | 1}

// uniqueIDs finds the distinct ones among x, if these are of the types of ids.
func uniqueIDs[T comparable](u *uniques, x []T) bool {
	if len(x) > math.MaxInt32/2 {
		return false
	}
	switch x := any(x).(type) {
	case []int32:
		uniqueInts(u, x)
	case []int64:
		uniqueInts(u, x)
	case []tf.Half:
		uniqueInts(u, halfIDs(x))
	case []tf.BF16:
		uniqueInts(u, halfIDs(x))
	default:
		return false
	}
	return true
}

// halfIDs returns numbers that are equal where those of x are. No two NaNs are, nor
// are 0 and -0, as in TensorFlow, which finds numbers of 16 bits by a hash of them.
func halfIDs[H tf.Half | tf.BF16](x []H) []int64 {
	ids := core.Make[int64](len(x))
	for i, v := range widen(x) {
		if ids[i] = int64(x[i]); v != v {
			ids[i] = -1 - int64(i)
		}
	}
	return ids
}

// widen returns x as float32.
func widen[H tf.Half | tf.BF16](x []H) []float32 {
	y := core.Make[float32](len(x))
	elementwise.Widen(y, x)
	return y
}

// uniqueInts finds the distinct ones among x by a table with open addressing, of
// twice as many places at least. A place has 1 + the number of a distinct one.
func uniqueInts[T int32 | int64](u *uniques, x []T) {
	n, size := len(x), 1<<bits.Len(uint(2*len(x)))
	s := uniqueScratches.Get().(*uniqueScratch)
	s.reserve(n, size)
	u.results(s, n)
	table := s.table
	for i, v := range x {
		high, low := bits.Mul64(uint64(v)^uniqueSecrets[0], uniqueSecrets[1])
		at := int(high^low) & (size - 1)
		for table[at] != 0 && x[u.first[table[at]-1]] != v {
			at = (at + 1) & (size - 1)
		}
		if table[at] == 0 {
			table[at] = int32(u.add(i)) + 1
		}
		u.put(i, int(table[at])-1)
	}
}

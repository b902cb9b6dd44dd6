package ops

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// intTables are tables of uniqueInts, to be used again: ids of embeddings are made
// unique in every step.
var intTables = sync.Pool{New: func() any { return new([]int32) }}

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
	default:
		return false
	}
	return true
}

// uniqueInts finds the distinct ones among x by a table with open addressing, of
// twice as many places at least. A place has 1 + the number of a distinct one.
func uniqueInts[T int32 | int64](u *uniques, x []T) {
	size := 1 << bits.Len(uint(2*len(x)))
	kept := intTables.Get().(*[]int32)
	defer intTables.Put(kept)
	if cap(*kept) < size {
		*kept = core.Make[int32](size)
	}
	table := (*kept)[:size]
	clear(table)
	u.first, u.count = core.Make[int](len(x))[:0], core.Make[int](len(x))[:0]
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

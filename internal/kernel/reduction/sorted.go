package reduction

import (
	"math"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

const (
	leastSorted = 64 // results of a row that are worth passes over all of it
	mostPassed  = 16 // elements of a row for each result
)

// A sortKey is where an element is and a number that is the less the earlier it comes.
type sortKey struct {
	key uint64
	at  int64
}

// A sorter orders elements by their keys, byte by byte from the last on.
type sorter struct{ keys, other []sortKey }

// room returns memory for n keys.
func (s *sorter) room(n int) []sortKey {
	if s.keys == nil {
		s.keys, s.other = memory.Make[sortKey](n), memory.Make[sortKey](n)
	}
	return s.keys
}

// descendingKeys fills keys for the elements of a row, the greatest first. Both zeros
// have one key.
func descendingKeys[T numeric.Real](keys []sortKey, row []T) []sortKey {
	var one T = 1
	switch {
	case one/2 == 0:
		sign, unused := uint64(1)<<63, 64-8*unsafe.Sizeof(one)
		if one-2 > 0 { // no sign
			sign = 0
		}
		for i, v := range row {
			keys[i] = sortKey{^(uint64(v)<<unused ^ sign), int64(i)}
		}
	case unsafe.Sizeof(one) == 4:
		for i, v := range row {
			b := int32(math.Float32bits(float32(v + 0)))
			keys[i] = sortKey{uint64(^uint32(b ^ b>>31 | math.MinInt32&^b)), int64(i)}
		}
	default:
		for i, v := range row {
			b := int64(math.Float64bits(float64(v + 0)))
			keys[i] = sortKey{^uint64(b ^ b>>63 | math.MinInt64&^b), int64(i)}
		}
	}
	return keys
}

// descending sets at to where the first of the keys in order are; equal ones stay in
// theirs.
func (s *sorter) descending(at []int64, keys []sortKey) []int64 {
	from, to, varying := keys, s.other, uint64(0)
	for _, k := range keys {
		varying |= k.key ^ keys[0].key
	}
	for shift := 0; shift < 64; shift += 8 {
		if varying>>shift&0xff != 0 {
			passKeys(to, from, shift)
			from, to = to, from
		}
	}
	for i := range at {
		at[i] = from[i].at
	}
	return at
}

// passKeys orders keys by one byte.
func passKeys(to, from []sortKey, shift int) {
	var begin [256]int
	for _, k := range from {
		begin[uint8(k.key>>(shift&63))]++
	}
	sum := 0
	for i, n := range begin {
		begin[i], sum = sum, sum+n
	}
	for _, k := range from {
		p := &begin[uint8(k.key>>(shift&63))]
		to[*p] = k
		*p++
	}
}

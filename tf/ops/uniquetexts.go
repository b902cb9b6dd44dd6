package ops

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

// A parallel runs f over [0, n) in pieces of at least grain, as OpContext.Par does.
type parallel = func(n, grain int, f func(lo, hi int))

// A hashPlace of a table has a hash, and 1 + the number of the distinct text that has it. It
// is 0 if the place is empty.
type hashPlace struct {
	hash   uint64
	number int
}

// textSeed makes hashes of texts that no input can know.
var textSeed = maphash.MakeSeed()

// textsOfTask is the least number of texts that are worth a task of their own.
const textsOfTask = 1 << 11

// uniqueTexts finds the distinct ones among texts by their hashes: so only the search among
// hashes, which is short, has to go on in order. It is not ok if two texts
// have one hash of 64 bits.
func uniqueTexts(u *uniques, par parallel, texts []string) (ok bool) {
	s := uniqueScratches.Get().(*uniqueScratch)
	s.hashes = atLeast(s.hashes, len(texts))
	h := s.hashes
	par(len(texts), textsOfTask, func(lo, hi int) {
		for i, v := range texts[lo:hi] {
			h[lo+i] = maphash.String(textSeed, v)
		}
	})
	u.byHashes(s)
	if u.sameTexts(par, texts) {
		return true
	}
	u.release()
	return false
}

// byHashes finds the distinct hashes of s by a table with open addressing, of which a third
// is empty at least.
func (u *uniques) byHashes(s *uniqueScratch) {
	n := len(s.hashes)
	size := 1 << bits.Len(uint(n+n/2))
	s.ints, s.places = atLeast(s.ints, 3*n), atLeast(s.places, size)
	u.results(s, n)
	places := s.places
	clear(places)
	for i, h := range s.hashes {
		at := int(h) & (size - 1)
		for places[at].number != 0 && places[at].hash != h {
			at = (at + 1) & (size - 1)
		}
		if places[at].number == 0 {
			places[at] = hashPlace{h, u.add(i) + 1}
		}
		u.put(i, places[at].number-1)
	}
}

// sameTexts reports whether each text of x is the distinct one that it was taken for.
func (u *uniques) sameTexts(par parallel, x []string) bool {
	var other atomic.Bool
	par(len(x), textsOfTask, func(lo, hi int) {
		for i, v := range x[lo:hi] {
			if x[u.first[u.index[lo+i]]] != v {
				other.Store(true)
				return
			}
		}
	})
	return !other.Load()
}

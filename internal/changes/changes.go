// Package changes is how kernels change the values of variables: piece by piece, since a
// variable whose old value somebody holds (a save, a fetch) is copied to new memory as
// the change goes along, and past the caches where that memory is large.
package changes

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// Grain is the least number of elements worth a task of their own.
const Grain = 16 << 10

// piece is how many elements are made ready and changed at a time. It is a multiple of
// what loops take at once, so that pieces give the same bits as a whole.
const piece = 1 << 13

// Each calls f for the elements from lo to hi, after they have been made ready: piece by
// piece if that takes anything.
func Each(lo, hi int, f func(lo, hi int), vars ...*core.Change) {
	fresh := false
	for _, v := range vars {
		fresh = fresh || v.Fresh()
	}
	if !fresh {
		f(lo, hi)
		return
	}
	for ; lo < hi; lo += piece {
		end := min(lo+piece, hi)
		for _, v := range vars {
			v.Ready(lo, end)
		}
		f(lo, end)
	}
}

// streamMin is the bytes of a variable from which on its new value passes the caches by.
// A smaller one is likely to be in a cache when the next step reads it.
const streamMin = 1 << 20

// Streams reports whether the new values of variables had better be written past the
// caches: all of them go to other memory, and are large.
func Streams(vars ...*core.Change) bool {
	for i, v := range vars {
		if !v.Fresh() || v.T.NumBytes() < streamMin || slices.Contains(vars[:i], v) {
			return false
		}
	}
	return true
}

// Stream calls f for stretches of n elements, each of which begins where a piece does,
// so that vectors are aligned.
func Stream(c *core.OpContext, n int, f func(lo, hi int)) {
	c.ParallelFor((n+piece-1)/piece, max(1, Grain/piece), func(lo, hi int) { f(lo*piece, min(hi*piece, n)) })
}

package memory

import (
	"sync"
	"sync/atomic"
)

// unknownPhysical stands for the memory of a machine that does not tell: more
// than any has for one tensor, less than a Go program can ask for and survive.
const unknownPhysical = 1 << 38

var machine = sync.OnceValue(physical)

// limit is what tests leave of the machine; 0: all of it.
var limit atomic.Int64

// Physical returns the bytes of memory that the machine has. Asking Go for more
// ends the process, so that code that allocates on behalf of others asks here first.
func Physical() int {
	if n := limit.Load(); n > 0 {
		return min(int(n), machine())
	}
	return machine()
}

// Limit makes the machine one of no more than n bytes, for tests that ask for
// anything, until undo is called.
func Limit(n int) (undo func()) {
	before := limit.Swap(int64(n))
	return func() { limit.Store(before) }
}

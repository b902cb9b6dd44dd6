// Package requestid gives requests numbers by which a server notices one that
// it has had already: a network that repeats a request must not make a step
// run twice.
package requestid

import (
	"math/rand/v2"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// New returns a number for a new request. It is never zero, which stands for a
// request that is not tracked.
func New() int64 {
	for {
		if id := int64(rand.Uint64()); id != 0 {
			return id
		}
	}
}

// Recent remembers the last requests of a server. It is safe for concurrent
// use.
type Recent struct {
	limit int

	mu   sync.Mutex
	seen map[int64]struct{}
	ring []int64 // in the order of their arrival, from next on
	next int
}

// NewRecent returns a memory of the last limit requests.
func NewRecent(limit int) *Recent {
	return &Recent{limit: limit, seen: map[int64]struct{}{}}
}

// Track remembers a request, or fails if it has come before. method names it in
// the error as TensorFlow does: "RunStep (Master)".
func (r *Recent) Track(id int64, method string) error {
	if id == 0 || r.insert(id) {
		return nil
	}
	return core.Errorf(core.Aborted, "The same %s request was received twice. Its id is %d", method, id)
}

// insert reports whether id is new.
func (r *Recent) insert(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, twice := r.seen[id]; twice {
		return false
	}
	r.seen[id] = struct{}{}
	if len(r.ring) < r.limit {
		r.ring = append(r.ring, id)
		return true
	}
	delete(r.seen, r.ring[r.next])
	r.ring[r.next] = id
	r.next = (r.next + 1) % r.limit
	return true
}

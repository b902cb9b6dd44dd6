package lifecycle

import (
	"io"
	"sync/atomic"
)

// A Handle is a version that has been loaded. It counts the requests that hold it,
// and the manager as one of them for as long as new requests may get it: the count
// never grows from zero.
type Handle[M io.Closer] struct {
	ID    ID
	Model M
	refs  atomic.Int64
	idle  chan struct{} // closed when the count is zero
}

// hold is called with the manager's lock held, which keeps the manager's own
// reference where it is.
func (h *Handle[M]) hold() *Handle[M] {
	h.refs.Add(1)
	return h
}

// Release gives the version back. The caller does not use it afterwards.
func (h *Handle[M]) Release() {
	if h.refs.Add(-1) == 0 {
		close(h.idle)
	}
}

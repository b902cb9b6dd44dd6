package verbs

import (
	"container/list"
	"errors"
	"sync"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/memory"
)

// An mrCache keeps memory registered from which tensors are sent: a step sends
// what lies where the last step's lay, variables above all. Registering takes as
// long as copying hundreds of kilobytes, so that small memory is registered when
// it is sent from a second time.
//
// Memory in the cache stays reachable, so that its address means it. Only memory
// of the garbage collector's is kept: for other memory there is no sign when it is
// unmapped. Peers cannot reach any of it. It is safe for concurrent use.
type mrCache struct {
	dev   Device
	limit int // bytes

	mu    sync.Mutex
	bytes int
	known map[uintptr]*cachedMR
	order list.List            // of *cachedMR, the last used one first
	seen  map[uintptr]struct{} // addresses that were sent from once
	errs  []error              // of what could not be deregistered
}

type cachedMR struct {
	mr    MemoryRegion
	mem   []byte
	users int
	gone  bool // not in the cache any more
	elem  *list.Element
}

const (
	// leastCached is what is always copied.
	leastCached = 2 << 10
	// maxSeen bounds the addresses that are remembered.
	maxSeen = 1 << 14
)

func newMRCache(dev Device, limit int) *mrCache {
	return &mrCache{dev: dev, limit: limit, known: map[uintptr]*cachedMR{}, seen: map[uintptr]struct{}{}}
}

// get returns the registration of a buffer's memory, or nothing if it is not
// worth it. The caller has to put it back.
func (c *mrCache) get(buf *memory.Buffer) *cachedMR {
	if buf.Len() < leastCached || buf.Len() > c.limit || !buf.Collected() {
		return nil
	}
	mem := buf.Bytes()
	at := uintptr(unsafe.Pointer(&mem[0]))
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.known[at]
	if e != nil && len(e.mem) < len(mem) {
		c.forget(e)
		e = nil
	}
	if e == nil && c.worth(at, len(mem)) {
		e = c.add(at, mem)
	}
	if e != nil {
		e.users++
		c.order.MoveToFront(e.elem)
	}
	return e
}

// worth reports whether memory is to be registered, and remembers it otherwise.
func (c *mrCache) worth(at uintptr, n int) bool {
	_, again := c.seen[at]
	if again || n >= c.dev.Attributes().CopyBelow {
		delete(c.seen, at)
		return true
	}
	if len(c.seen) >= maxSeen {
		clear(c.seen)
	}
	c.seen[at] = struct{}{}
	return false
}

// add registers memory, in place of what has not been used for longest.
func (c *mrCache) add(at uintptr, mem []byte) *cachedMR {
	for e := c.order.Back(); e != nil && c.bytes+len(mem) > c.limit; {
		old := e.Value.(*cachedMR)
		e = e.Prev()
		if old.users == 0 {
			c.forget(old)
		}
	}
	if c.bytes+len(mem) > c.limit {
		return nil
	}
	mr, err := c.dev.Register(mem, 0)
	if err != nil {
		return nil // locked memory has limits; what cannot be registered is copied
	}
	e := &cachedMR{mr: mr, mem: mem}
	e.elem = c.order.PushFront(e)
	c.known[at] = e
	c.bytes += len(mem)
	return e
}

// forget takes a registration out of the cache, and ends it when it is not in use.
func (c *mrCache) forget(e *cachedMR) {
	delete(c.known, uintptr(unsafe.Pointer(&e.mem[0])))
	c.order.Remove(e.elem)
	c.bytes -= len(e.mem)
	e.gone = true
	c.end(e)
}

func (c *mrCache) end(e *cachedMR) {
	if e.gone && e.users == 0 {
		if err := e.mr.Deregister(); err != nil {
			c.errs = append(c.errs, err)
		}
		e.mem = nil
	}
}

// put gives a registration back.
func (c *mrCache) put(e *cachedMR) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	c.end(e)
}

// close ends all registrations. None may be in use.
func (c *mrCache) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.order.Front(); e != nil; e = c.order.Front() {
		c.forget(e.Value.(*cachedMR))
	}
	return errors.Join(c.errs...)
}

package soft

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// A region is registered memory. One key serves both sides, since remote
// access needs a permission beside it.
type region struct {
	dev    *Device
	mem    []byte
	key    uint32
	access verbs.Access

	mu    sync.Mutex
	gone  bool
	users map[*queuePair]int // that are reading or writing just now
	idle  sync.Cond
}

// Register makes mem known to the device. The device keeps it reachable.
func (d *Device) Register(mem []byte, access verbs.Access) (verbs.MemoryRegion, error) {
	if len(mem) == 0 {
		return nil, fmt.Errorf("soft: memory to be registered must not be empty")
	}
	if access&verbs.RemoteWrite != 0 && access&verbs.LocalWrite == 0 {
		return nil, fmt.Errorf("soft: remote write access needs local write access too")
	}
	r := &region{dev: d, mem: mem, access: access, users: map[*queuePair]int{}}
	r.idle.L = &r.mu
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() != nil {
		return nil, verbs.ErrClosed
	}
	for d.nextKey == 0 || d.regions[d.nextKey] != nil {
		d.nextKey++
	}
	r.key = d.nextKey
	d.regions[r.key] = r
	d.nextKey++
	return r, nil
}

func (r *region) Addr() uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(r.mem)))) }
func (r *region) LKey() uint32 { return r.key }
func (r *region) RKey() uint32 { return r.key }

// Deregister takes the memory from the device. A peer that is writing there
// could take for ever to finish, so its connection is cut.
func (r *region) Deregister() error {
	r.dev.mu.Lock()
	known := r.dev.regions[r.key] == r
	delete(r.dev.regions, r.key)
	r.dev.mu.Unlock()
	if !known {
		return fmt.Errorf("soft: the memory region has been deregistered before")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = true
	for q := range r.users {
		q.fail(verbs.LocProtErr)
	}
	for len(r.users) > 0 {
		r.idle.Wait()
	}
	return nil
}

// use returns n bytes of a region for a transfer of q, which ends with done,
// or nothing if q may not use them in that way.
func (d *Device) use(q *queuePair, key uint32, addr uint64, n int, access verbs.Access) (mem []byte, done func()) {
	if n == 0 {
		return nil, func() {}
	}
	d.mu.Lock()
	r := d.regions[key]
	d.mu.Unlock()
	if r == nil || r.access&access != access {
		return nil, nil
	}
	off := addr - r.Addr() // wraps around below the region
	if off >= uint64(len(r.mem)) || uint64(n) > uint64(len(r.mem))-off || !r.enter(q) {
		return nil, nil
	}
	return r.mem[off:][:n], func() { r.leave(q) }
}

func (r *region) enter(q *queuePair) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return false
	}
	r.users[q]++
	return true
}

func (r *region) leave(q *queuePair) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users[q]--; r.users[q] == 0 {
		delete(r.users, q)
	}
	r.idle.Broadcast()
}

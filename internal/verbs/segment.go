package verbs

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// A segment is registered memory for one transfer. While it is held, its memory
// is not used for anything else.
type segment struct {
	buf  *memory.Buffer // nil: no bytes at all
	addr uint64
	mr   MemoryRegion
	own  bool // mr is of this segment alone
	kept *cachedMR
	home *mrCache // of kept
}

// sge returns n bytes at offset off for a work request.
func (s *segment) sge(off, n int) SGE {
	if s.buf == nil || n == 0 {
		return SGE{}
	}
	return SGE{Addr: s.addr + uint64(off), Length: uint32(n), LKey: s.mr.LKey()}
}

// remote returns what a peer has to know to write there.
func (s *segment) remote() (addr uint64, rkey uint32) {
	if s.buf == nil {
		return 0, 0
	}
	return s.addr, s.mr.RKey()
}

func (s *segment) bytes() []byte {
	if s.buf == nil {
		return nil
	}
	return s.buf.Bytes()
}

// release gives the memory back. No transfer may be under way.
func (s *segment) release() error {
	if s.buf == nil {
		return nil
	}
	var err error
	if s.own {
		err = s.mr.Deregister()
	}
	if s.kept != nil {
		s.home.put(s.kept)
	}
	s.buf.Unref()
	*s = segment{}
	return err
}

// registered returns the part of the arena that a buffer is, if it is there.
func (a *Adapter) registered(buf *memory.Buffer) (segment, bool) {
	r, off := buf.Region()
	if r == nil || buf.Len() == 0 || r.Key != a.mr {
		return segment{}, false
	}
	return segment{buf: buf, addr: a.mr.Addr() + uint64(off), mr: a.mr}, true
}

// room returns n bytes of registered memory, of the arena if it has them.
func (a *Adapter) room(n int) (segment, error) {
	if n == 0 {
		return segment{}, nil
	}
	if buf, ok := a.arena.Get(n); ok {
		s, _ := a.registered(buf)
		return s, nil
	}
	buf := memory.New(n)
	s, err := a.register(buf, LocalWrite|RemoteWrite)
	if err != nil {
		buf.Unref()
	}
	return s, err
}

// register registers a buffer for one transfer, and owns it then.
func (a *Adapter) register(buf *memory.Buffer, access Access) (segment, error) {
	mr, err := a.dev.Register(buf.Bytes(), access)
	if err != nil {
		return segment{}, core.Errorf(core.ResourceExhausted, "cannot register %d bytes for RDMA: %v", buf.Len(), err)
	}
	return segment{buf: buf, addr: mr.Addr(), mr: mr, own: true}, nil
}

// over returns a segment that is buf's own memory, which stays the caller's,
// if that can be and is worth it.
func (a *Adapter) over(buf *memory.Buffer, access Access) (segment, bool) {
	s, ok := a.registered(buf)
	if !ok && buf.Len() >= a.dev.Attributes().CopyBelow {
		var err error
		s, err = a.register(buf, access)
		ok = err == nil // locked memory has limits, the arena has its share already
	}
	if ok {
		buf.Ref()
	}
	return s, ok
}

// source returns a segment that is buf's own memory, or false if what is in buf has
// to be copied.
func (a *Adapter) source(buf *memory.Buffer) (segment, bool) {
	if e := a.cached(buf); e != nil {
		return segment{buf: buf.Ref(), addr: e.mr.Addr(), mr: e.mr, kept: e, home: a.sources}, true
	}
	s, ok := a.over(buf, 0)
	return s, ok || buf.Len() == 0
}

// cached returns the kept registration of a buffer outside of the arena.
func (a *Adapter) cached(buf *memory.Buffer) *cachedMR {
	if r, _ := buf.Region(); r != nil && r.Key == a.mr {
		return nil
	}
	return a.sources.get(buf)
}

// target returns a segment where bytes for buf can be written. If it is not
// over buf, they have to be copied from there.
func (a *Adapter) target(buf *memory.Buffer) (segment, error) {
	if s, ok := a.over(buf, LocalWrite|RemoteWrite); ok || buf.Len() == 0 {
		return s, nil
	}
	return a.room(buf.Len())
}

// Alloc returns an allocator that takes memory from the arena, where tensors
// arrive without being copied, as long as there is some, and then from next.
func (a *Adapter) Alloc(next rendezvous.Alloc) rendezvous.Alloc {
	return func(d core.DType, s core.Shape) (*memory.Buffer, error) {
		if err := core.CheckSize(d, s); err != nil {
			return nil, err
		}
		if buf, ok := a.arena.Get(s.NumElements() * d.Size()); ok {
			return buf, nil
		}
		return next(d, s)
	}
}

// unavailable is the error of all that waits on a connection that is lost.
func unavailable(peer string, why error) error {
	return &core.Error{Code: core.Unavailable, Msg: fmt.Sprintf("RDMA connection to %s lost: %v", peer, why), Err: why}
}

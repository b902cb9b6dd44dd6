package memory

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/invariants"
)

// The state word of a buffer is its reference count with the escaped bit
// below it, so that one atomic operation changes either and sees both.
const (
	escapedBit = 1
	oneRef     = 2
)

// Buffer is a reference-counted block of bytes. Memory that this package
// allocates starts at a multiple of [Alignment]. The count starts at one, held
// by the maker of the buffer.
//
// All methods are safe for concurrent use by holders of a reference; the bytes
// themselves are not synchronized.
type Buffer struct {
	ptr   unsafe.Pointer // nil only when the host cannot address the memory
	n     int
	state atomic.Int64
	owner owner  // nil: the garbage collector alone owns the memory
	claim *claim // the holder of the memory; nil where that is not counted
}

// owner is where a buffer came from and what hears of its last reference going.
type owner interface {
	release(b *Buffer)
}

// New returns n zero bytes of ordinary Go memory that are never pooled. It
// panics with [*Exhausted] if they are not to be had.
func New(n int) *Buffer { return must(newBuffer(n, nil)) }

// TryNew is New that returns the error.
func TryNew(n int) (*Buffer, error) { return newBuffer(n, nil) }

func newBuffer(n int, h *holder) (*Buffer, error) {
	ptr, c, err := block(n, h, allocate)
	if err != nil {
		return nil, err
	}
	b := &Buffer{ptr: ptr, n: n, claim: c}
	b.state.Store(oneRef)
	return b, nil
}

// Bytes returns the memory. It panics for a buffer that the host cannot
// address. The slice is valid while a reference is held, or for ever once the
// buffer has escaped.
func (b *Buffer) Bytes() []byte {
	if invariants.Enabled || b.ptr == nil {
		b.checkReadable()
	}
	return unsafe.Slice((*byte)(b.ptr), b.n)
}

// Len is the number of bytes.
func (b *Buffer) Len() int { return b.n }

// Ref adds a reference and returns b.
func (b *Buffer) Ref() *Buffer {
	s := b.state.Add(oneRef)
	if invariants.Enabled && s < 2*oneRef && s&escapedBit == 0 {
		panic("memory: Ref of a released buffer")
	}
	return b
}

// Unref drops a reference. The last one returns the memory to where it came
// from, after which b must not be used.
func (b *Buffer) Unref() {
	if s := b.state.Add(-oneRef); s < oneRef {
		b.last(s)
	}
}

// last is kept out of Unref, which is small enough to be inlined without it.
//
//go:noinline
func (b *Buffer) last(s int64) {
	if s < 0 {
		panic("memory: Unref of a buffer without references")
	}
	b.claim.drop()
	if b.owner != nil {
		b.owner.release(b)
	}
}

// Sole says whether the caller's reference is the only one and no user code
// knows the memory, which makes an update in place invisible to others.
func (b *Buffer) Sole() bool {
	if b.state.Load() != oneRef {
		return false
	}
	p, ok := b.owner.(part)
	return !ok || p.whole.Sole()
}

// Idles reports whether the caller may keep memory that it has no use for at the moment,
// instead of giving it back to its pool: the caller has the only reference, and the memory
// does not count against a step. With invariants on it reports false, so that a use after the
// release is detected.
func (b *Buffer) Idles() bool {
	if invariants.Enabled || b.claim != nil || b.state.Load() != oneRef {
		return false
	}
	_, pooled := b.owner.(*class)
	return pooled
}

// Escape tells that user code now knows the memory: it is never recycled.
func (b *Buffer) Escape() {
	if b.Escaped() {
		return
	}
	b.state.Or(escapedBit)
	b.claim.drop() // it is the program's
	if whole := b.within(); whole != nil {
		whole.Escape()
	}
}

// Escaped says whether user code may hold a slice of the memory.
func (b *Buffer) Escaped() bool {
	if b.state.Load()&escapedBit != 0 {
		return true
	}
	whole := b.within()
	return whole != nil && whole.Escaped()
}

// within returns the buffer that b is a part of, or nil.
func (b *Buffer) within() *Buffer {
	switch p := b.owner.(type) {
	case part:
		return p.whole
	case cut:
		return p.whole
	}
	return nil
}

// Within reports whether b is whole, or a part of it.
func (b *Buffer) Within(whole *Buffer) bool { return b == whole || whole != nil && b.within() == whole }

// checkReadable panics with the reason why the host must not touch the bytes.
func (b *Buffer) checkReadable() {
	if s := b.state.Load(); s < oneRef && s&escapedBit == 0 {
		panic("memory: use of a released buffer")
	}
	if b.ptr == nil {
		panic(fmt.Sprintf("memory: the host cannot address the %d bytes of this buffer: they are in space %q", b.n, b.Space()))
	}
}

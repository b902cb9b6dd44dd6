package memory

import (
	"runtime"
	"unsafe"
)

// Wrap returns a buffer over memory that the caller goes on knowing: it is
// escaped from the start, so it is neither recycled nor updated in place. keep
// stays reachable as long as the buffer does; it may be nil.
func Wrap(b []byte, keep any) *Buffer {
	w := &Buffer{ptr: address(b), n: len(b)}
	if keep != nil {
		w.owner = &kept{owner: keep}
	}
	w.state.Store(oneRef | escapedBit)
	return w
}

// AnyAddress reports whether this machine's loops can read elements at any address.
const AnyAddress = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"

// WrapAnywhere is Wrap for memory whose elements may begin at any address: constants in
// the middle of a file. It is for machines with [AnyAddress]. Nothing is ever written to
// it.
func WrapAnywhere(b []byte) *Buffer {
	w := Wrap(b, nil)
	w.owner = anywhere{}
	return w
}

// anywhere is the owner of memory that need not be aligned.
type anywhere struct{}

func (anywhere) release(*Buffer) {}

// anywhere reports whether b need not be aligned.
func (b *Buffer) anywhere() bool {
	switch h := b.owner.(type) {
	case anywhere:
		return true
	case part:
		return h.whole.anywhere()
	case cut:
		return h.whole.anywhere()
	}
	return false
}

// Adopt returns a buffer over memory that the caller hands over: free is
// called once with the last reference, or never when the buffer escapes.
func Adopt(b []byte, free func()) *Buffer {
	a := &Buffer{ptr: address(b), n: len(b), owner: &adopted{free: free}}
	a.state.Store(oneRef)
	return a
}

// address is where b starts, never nil.
func address(b []byte) unsafe.Pointer {
	if len(b) == 0 {
		return empty
	}
	return unsafe.Pointer(unsafe.SliceData(b))
}

// kept is the owner of wrapped memory.
type kept struct{ owner any }

func (*kept) release(*Buffer) {}

// adopted is the owner of memory whose owner wants it back.
type adopted struct{ free func() }

func (a *adopted) release(b *Buffer) {
	if !b.Escaped() {
		a.free()
	}
}

// Sub returns a buffer over n bytes of b from offset off. It holds a
// reference on b until its own last one goes.
func (b *Buffer) Sub(off, n int) *Buffer {
	s := &Buffer{ptr: address(b.Bytes()[off:][:n:n]), n: n, owner: part{whole: b.Ref()}}
	s.state.Store(oneRef | b.state.Load()&escapedBit)
	return s
}

// part is the owner of a buffer that lies inside another.
type part struct{ whole *Buffer }

func (p part) release(*Buffer) { p.whole.Unref() }

// Piece is Sub for one of the pieces that b is cut into. They do not overlap, and
// whoever cuts b gives it up and reads it no more: so each piece has a sole owner
// or not, whatever becomes of the others.
func (b *Buffer) Piece(off, n int) *Buffer {
	s := b.Sub(off, n)
	s.owner = cut(s.owner.(part))
	return s
}

// IsPiece reports whether b is a piece of something larger, which lives as long, or has
// a block of more than twice its size: no memory to be kept for long.
func (b *Buffer) IsPiece() bool {
	switch o := b.owner.(type) {
	case cut:
		return true
	case *class:
		return o.size > 2*spanLen(b.n)
	}
	return false
}

// cut is the owner of a buffer that shares no byte with others.
type cut part

func (p cut) release(*Buffer) { p.whole.Unref() }

// NewOpaque returns a buffer of n bytes in a memory space that the host cannot
// address; handle is what that space's device knows the memory by. A handle
// with a method Release() has it called with the last reference.
func NewOpaque(space string, handle any, n int) *Buffer {
	checkSize(n)
	b := &Buffer{n: n, owner: &opaque{space: space, handle: handle}}
	b.state.Store(oneRef)
	return b
}

// opaque is the owner of memory in another space than the host's.
type opaque struct {
	space  string
	handle any
}

func (o *opaque) release(*Buffer) {
	if r, ok := o.handle.(interface{ Release() }); ok {
		r.Release()
	}
}

// Space names the memory space, "" for the host's.
func (b *Buffer) Space() string {
	if o, ok := b.owner.(*opaque); ok {
		return o.space
	}
	return ""
}

// Handle is what the device of an opaque buffer knows the memory by, nil for
// host memory.
func (b *Buffer) Handle() any {
	if o, ok := b.owner.(*opaque); ok {
		return o.handle
	}
	return nil
}

// Collected says whether the memory is the garbage collector's: a reference to the
// bytes keeps them, where they are and for this use. Other memory may be unmapped
// by its owner at any time after the last reference.
func (b *Buffer) Collected() bool {
	switch h := b.owner.(type) {
	case nil: // of New, or of Wrap, which makes it escaped
		return b.ptr != nil && !b.Escaped()
	case *class:
		return true
	case part:
		return h.whole.Collected()
	}
	return false
}

package memory

import (
	"fmt"
	"math"
	"strings"
	"unsafe"
)

// Alignment is the alignment of all memory that this package allocates: a
// cache line, which is also the widest vector register.
const Alignment = 64

// empty is the address of buffers without bytes: nil means opaque memory.
var empty = allocateAligned(Alignment)

// allocate returns n zero bytes of Go memory at a multiple of Alignment. The
// pointer keeps the whole allocation alive.
func allocate(n int) unsafe.Pointer {
	checkSize(n)
	if n == 0 {
		return empty
	}
	p := allocateAligned(roundUp(n))
	adviseHuge(p, roundUp(n))
	return p
}

// allocateDirty is allocate of bytes of any value. Go clears memory that it collected
// before it gives it out again, which takes as long as a copy into it. Blocks for huge
// pages are left to allocate: they must not be touched before the system is advised.
func allocateDirty(n int) unsafe.Pointer {
	checkSize(n)
	if n == 0 || n >= hugeLeast() {
		return allocate(n)
	}
	// A Builder's memory is the only one of the standard library's that is not cleared. It
	// has no other user once the Builder is gone, so that it may be written to.
	var b strings.Builder
	b.Grow(roundUp(n))
	_ = b.WriteByte(0) // an empty string need not have an address; there is no error
	p := unsafe.Pointer(unsafe.StringData(b.String()))
	if uintptr(p)%Alignment != 0 {
		return allocate(n)
	}
	return p
}

// allocateAligned expects Go's size classes to align multiples of Alignment,
// as they happen to do, and asks for more bytes only should that ever change.
func allocateAligned(n int) unsafe.Pointer {
	b := make([]byte, n)
	if misaligned(b) != 0 {
		b = make([]byte, n+Alignment)
		b = b[(Alignment-misaligned(b))%Alignment:]
	}
	return unsafe.Pointer(unsafe.SliceData(b))
}

func misaligned(b []byte) uintptr {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b))) % Alignment
}

// roundUp is the smallest multiple of Alignment that holds n bytes.
func roundUp(n int) int {
	return (n + Alignment - 1) &^ (Alignment - 1)
}

func checkSize(n int) {
	if n < 0 || n > math.MaxInt-2*Alignment {
		panic(fmt.Sprintf("memory: a buffer cannot have %d bytes", n))
	}
}

// poison overwrites released memory, so that code that still reads it computes
// nonsense instead of yesterday's numbers.
func poison(b []byte) {
	for i := range b {
		b[i] = 0xDB
	}
}

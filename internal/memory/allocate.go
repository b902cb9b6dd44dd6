package memory

import (
	"fmt"
	"math"
	"unsafe"
)

// Alignment is the alignment of all memory that this package allocates: a
// cache line, which is also the widest vector register.
const Alignment = 64

// empty is the address of buffers without bytes: nil means opaque memory.
var empty [Alignment]byte

// allocate returns n zero bytes of Go memory at a multiple of Alignment. The
// pointer keeps the whole allocation alive.
func allocate(n int) unsafe.Pointer {
	checkSize(n)
	if n == 0 {
		return unsafe.Pointer(&empty)
	}
	// Go's size classes happen to align such sizes; asking for more bytes
	// is only needed should that ever change.
	b := make([]byte, roundUp(n))
	if misaligned(b) != 0 {
		b = make([]byte, roundUp(n)+Alignment)
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

// poison overwrites released memory, so that whoever still reads it computes
// nonsense instead of yesterday's numbers.
func poison(b []byte) {
	for i := range b {
		b[i] = 0xDB
	}
}

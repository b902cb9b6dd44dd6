package memory

import (
	"fmt"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/invariants"
)

// Slice views b as elements of T, which must hold no pointers: the garbage
// collector does not look into buffers. It panics when the length is no whole
// number of elements or the memory is not aligned for them; [Buffer.Aligned]
// asks first. Memory of [WrapAnywhere] need not be aligned.
func Slice[T any](b *Buffer) []T {
	var z T
	size := unsafe.Sizeof(z)
	if invariants.Enabled || b.ptr == nil || size == 0 || uintptr(b.n)%size != 0 || !b.Aligned(int(unsafe.Alignof(z))) {
		checkElements(b, size, unsafe.Alignof(z)) // says what is wrong
	}
	return unsafe.Slice((*T)(b.ptr), uintptr(b.n)/unsafe.Sizeof(z))
}

// Aligned says whether the memory starts at a multiple of align, which holds
// for every power of two up to [Alignment] unless the memory was wrapped,
// adopted or is part of another buffer.
func (b *Buffer) Aligned(align int) bool {
	return uintptr(b.ptr)%uintptr(align) == 0
}

func checkElements(b *Buffer, size, align uintptr) {
	_ = b.Bytes() // panics where the memory must not be read
	if size == 0 || uintptr(b.n)%size != 0 {
		panic(fmt.Sprintf("memory: a buffer of %d bytes is no whole number of elements of %d bytes", b.n, size))
	}
	if !b.Aligned(int(align)) && !b.anywhere() {
		panic(fmt.Sprintf("memory: elements need memory aligned to %d bytes, this buffer starts at %#x", align, uintptr(b.ptr)))
	}
}

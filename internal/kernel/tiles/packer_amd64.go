//go:build !noasm

package tiles

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Packer copies parts of a matrix into the order of the micro-kernels. Both
// set dst[i·ldd+j], for i < k and j < n <= 16, and may write more, after what
// they were to write: the caller packs in ascending order and leaves
// packSlack.
type Packer[T numeric.Float] struct {
	// Rows takes n rows of src: src[j·lds+i].
	Rows func(n, k int, src []T, lds int, dst []T, ldd int)
	// Cols takes n columns of src: src[i·lds+j].
	Cols func(n, k int, src []T, lds int, dst []T, ldd int)
}

// PackSlack elements after a packed block may be overwritten by packing.
const PackSlack = 16 * 32

// PortablePacker returns the packer that defines what packing is.
func PortablePacker[T numeric.Float]() Packer[T] {
	return Packer[T]{Rows: packRowsPortable[T], Cols: packColsPortable[T]}
}

// packRowsPortable reads four rows side by side.
func packRowsPortable[T numeric.Float](n, k int, src []T, lds int, dst []T, ldd int) {
	j := 0
	for ; j+4 <= n; j += 4 {
		r0, r1 := src[j*lds:][:k], src[(j+1)*lds:][:k]
		r2, r3 := src[(j+2)*lds:][:k], src[(j+3)*lds:][:k]
		at := j
		for i := range r0 {
			d := (*[4]T)(dst[at : at+4])
			d[0], d[1], d[2], d[3] = r0[i], r1[i], r2[i], r3[i]
			at += ldd
		}
	}
	for ; j < n; j++ {
		for i, v := range src[j*lds:][:k] {
			dst[i*ldd+j] = v
		}
	}
}

func packColsPortable[T numeric.Float](n, k int, src []T, lds int, dst []T, ldd int) {
	for i := range k {
		copy(dst[i*ldd:i*ldd+n], src[i*lds:i*lds+n])
	}
}

// GrowAligned returns a slice of at least n elements that begins at a cache
// line, s itself if it is long enough.
func GrowAligned[T any](s []T, n int) []T {
	if len(s) >= n {
		return s
	}
	var zero T
	const line = 64
	size := int(unsafe.Sizeof(zero))
	s = memory.Make[T](n + line/size)
	off := int(-uintptr(unsafe.Pointer(&s[0])) % line)
	return s[off/size:]
}

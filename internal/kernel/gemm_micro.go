//go:build amd64 && !noasm

package kernel

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/memory"
)

// microKernels are the innermost loops of a matrix product for one instruction
// set: each family has a kernel for every height of a tile, the first for 1.
// Strides are in elements. With beta 0 the tile of C is overwritten, else
// added to.
type microKernels[T Float] struct {
	tileM int // the greatest height
	lanes int // elements of a vector; a full tile is two vectors wide

	rowsFull           []rowsKernel[T]
	rowsEdge, rowsHalf []rowsEdgeKernel[T]
	packEdge, packHalf []packEdgeKernel[T]
	packFirst          []packFirstKernel[T]
	packFull           []packFullKernel[T]

	// The kernels of convolutions.
	runsFull, runsEdge, runsHalf []runsKernel[T]
	sumsFull, sumsEdge, sumsHalf []runsKernel[T]

	pack packer[T]
}

type (
	// rowsKernel reads A in rows that are lda apart.
	rowsKernel[T Float] func(k int, a *T, lda int, b *T, ldb int, c *T, ldc int, beta int)
	// rowsEdgeKernel is rowsKernel for fewer columns.
	rowsEdgeKernel[T Float] func(k int, a *T, lda int, b *T, ldb int, c *T, ldc int, beta int, width int)
	// packEdgeKernel reads A packed, for fewer columns than a full tile.
	packEdgeKernel[T Float] func(k int, a *T, b *T, ldb int, c *T, ldc int, beta int, width int)
	// packFirstKernel reads A packed and copies the panel of B to pb.
	packFirstKernel[T Float] func(k int, a *T, b *T, ldb int, pb *T, c *T, ldc int, beta int)
	// packFullKernel reads both packed and fetches next into the cache.
	packFullKernel[T Float] func(k int, a *T, b, next *T, c *T, ldc int, beta int)
)

// panel is the number of columns of a full tile.
func (m *microKernels[T]) panel() int { return 2 * m.lanes }

// rowsTile computes a tile of any width from rows of A.
func (m *microKernels[T]) rowsTile(h, width, k int, a *T, lda int, b *T, ldb int, c *T, ldc, beta int) {
	switch {
	case width == m.panel():
		m.rowsFull[h-1](k, a, lda, b, ldb, c, ldc, beta)
	case width <= m.lanes:
		m.rowsHalf[h-1](k, a, lda, b, ldb, c, ldc, beta, width)
	default:
		m.rowsEdge[h-1](k, a, lda, b, ldb, c, ldc, beta, width)
	}
}

// packedEdge computes a tile that is narrower than a full one from packed A.
func (m *microKernels[T]) packedEdge(h, width, k int, a, b *T, ldb int, c *T, ldc, beta int) {
	if width <= m.lanes {
		m.packHalf[h-1](k, a, b, ldb, c, ldc, beta, width)
	} else {
		m.packEdge[h-1](k, a, b, ldb, c, ldc, beta, width)
	}
}

// packer copies parts of a matrix into the order of the micro-kernels. Both
// set dst[i·ldd+j], for i < k and j < n <= 16, and may write more, after what
// they were to write: the caller packs in ascending order and leaves
// packSlack.
type packer[T Float] struct {
	// rows takes n rows of src: src[j·lds+i].
	rows func(n, k int, src []T, lds int, dst []T, ldd int)
	// cols takes n columns of src: src[i·lds+j].
	cols func(n, k int, src []T, lds int, dst []T, ldd int)
}

// portablePacker returns the packer that defines what packing is.
func portablePacker[T Float]() packer[T] {
	return packer[T]{rows: packRowsPortable[T], cols: packColsPortable[T]}
}

// packRowsPortable reads four rows side by side.
func packRowsPortable[T Float](n, k int, src []T, lds int, dst []T, ldd int) {
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

func packColsPortable[T Float](n, k int, src []T, lds int, dst []T, ldd int) {
	for i := range k {
		copy(dst[i*ldd:i*ldd+n], src[i*lds:i*lds+n])
	}
}

// growAligned returns a slice of at least n elements that begins at a cache
// line, s itself if it is long enough.
func growAligned[T any](s []T, n int) []T {
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

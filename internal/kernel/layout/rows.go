package layout

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// The types of rows that a loop can move without a call.
type (
	bytes2  [2]byte
	bytes4  [4]byte
	bytes8  [8]byte
	bytes16 [16]byte
	bytes32 [32]byte
	bytes64 [64]byte
)

// TakeRows makes row i of dst, inner bytes, the row of src that idx[i] names. Rows of
// negative indices stay as they are. Short rows of the usual widths move in a loop that
// calls nothing: so the processor waits for many of them at once.
func TakeRows[I numeric.Index](dst, src []byte, idx []I, inner int) {
	switch inner {
	case 1:
		take(dst, src, idx)
	case 2:
		take(whole[bytes2](dst), whole[bytes2](src), idx)
	case 4:
		take(whole[bytes4](dst), whole[bytes4](src), idx)
	case 8:
		take(whole[bytes8](dst), whole[bytes8](src), idx)
	case 16:
		take(whole[bytes16](dst), whole[bytes16](src), idx)
	case 32:
		take(whole[bytes32](dst), whole[bytes32](src), idx)
	case 64:
		take(whole[bytes64](dst), whole[bytes64](src), idx)
	default:
		takeRows(dst, src, idx, inner)
	}
}

// whole views b as rows of the type T of bytes.
func whole[T any](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

func take[T any, I numeric.Index](dst, src []T, idx []I) {
	dst = dst[:len(idx)]
	for i, k := range idx {
		if k >= 0 {
			dst[i] = src[k]
		}
	}
}

// takeRows is TakeRows for rows of any type and width.
func takeRows[T any, I numeric.Index](dst, src []T, idx []I, inner int) {
	far := kernel.Far(src)
	for i, k := range idx {
		if next := i + kernel.RowsAhead; far && next < len(idx) && idx[next] >= 0 {
			kernel.Prefetch(src[int(idx[next])*inner:][:inner])
		}
		if k >= 0 {
			copy(dst[i*inner:][:inner], src[int(k)*inner:][:inner])
		}
	}
}

// PutRows makes the row of dst that idx[i] names, inner bytes, row i of src, in order.
// Negative indices are left out. Short rows move as in [TakeRows].
func PutRows[I numeric.Index](dst, src []byte, idx []I, inner int) {
	switch inner {
	case 1:
		put(dst, src, idx)
	case 2:
		put(whole[bytes2](dst), whole[bytes2](src), idx)
	case 4:
		put(whole[bytes4](dst), whole[bytes4](src), idx)
	case 8:
		put(whole[bytes8](dst), whole[bytes8](src), idx)
	case 16:
		put(whole[bytes16](dst), whole[bytes16](src), idx)
	case 32:
		put(whole[bytes32](dst), whole[bytes32](src), idx)
	case 64:
		put(whole[bytes64](dst), whole[bytes64](src), idx)
	default:
		ScatterUpdate(dst, src, idx, inner)
	}
}

func put[T any, I numeric.Index](dst, src []T, idx []I) {
	src = src[:len(idx)]
	for i, k := range idx {
		if k >= 0 {
			dst[k] = src[i]
		}
	}
}

// RowNumbers finds rows of a matrix, which are the slices of a tensor of leading
// dimensions dims: rows[i] becomes the number of the one that the i-th len(dims) indices of
// idx point to, -1 if they lie outside. It reports whether all lie inside.
func RowNumbers[I numeric.Index](rows []int64, idx []I, dims []int) bool {
	var outside int64 // has the sign bit if an index is below 0 or above its last value
	switch len(dims) {
	case 1:
		last := int64(dims[0]) - 1
		for i, v := range idx[:len(rows)] {
			rows[i] = int64(v)
			outside |= int64(v) | (last - int64(v))
		}
	case 2:
		n, m := int64(dims[0]), int64(dims[1])
		idx = idx[:2*len(rows)]
		for i := range rows {
			v, w := int64(idx[2*i]), int64(idx[2*i+1])
			rows[i] = v*m + w
			outside |= v | (n - 1 - v) | w | (m - 1 - w)
		}
	default:
		for i := range rows {
			row := int64(0)
			for k, x := range idx[i*len(dims):][:len(dims)] {
				v, n := int64(x), int64(dims[k])
				row = row*n + v
				outside |= v | (n - 1 - v)
			}
			rows[i] = row
		}
	}
	return outside >= 0 || findOutside(rows, idx, dims)
}

// findOutside sets the numbers of those rows to -1 that lie outside. It returns false.
func findOutside[I numeric.Index](rows []int64, idx []I, dims []int) bool {
	for i := range rows {
		for k, x := range idx[i*len(dims):][:len(dims)] {
			if x < 0 || int(x) >= dims[k] {
				rows[i] = -1
			}
		}
	}
	return false
}

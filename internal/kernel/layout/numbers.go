package layout

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Numbers are moved as integers of their size, so that loops that move exist once for each size, not for each type.

// TransposeNumbers is [Transpose] for numbers.
func TransposeNumbers[T numeric.Number](par kernel.Par, t *Transposition, dst, src []T) {
	switch unsafe.Sizeof(*new(T)) {
	case 1:
		Transpose(par, t, viewed[uint8](dst), viewed[uint8](src))
	case 2:
		Transpose(par, t, viewed[uint16](dst), viewed[uint16](src))
	case 4:
		Transpose(par, t, viewed[uint32](dst), viewed[uint32](src))
	case 8:
		Transpose(par, t, viewed[uint64](dst), viewed[uint64](src))
	case 16:
		Transpose(par, t, viewed[complex128](dst), viewed[complex128](src))
	}
}

// CopyNumbers is [CopyView] for numbers.
func CopyNumbers[T numeric.Number](par kernel.Par, dst []T, to View, src []T, from View, shape []int) {
	switch unsafe.Sizeof(*new(T)) {
	case 1:
		CopyView(par, viewed[uint8](dst), to, viewed[uint8](src), from, shape)
	case 2:
		CopyView(par, viewed[uint16](dst), to, viewed[uint16](src), from, shape)
	case 4:
		CopyView(par, viewed[uint32](dst), to, viewed[uint32](src), from, shape)
	case 8:
		CopyView(par, viewed[uint64](dst), to, viewed[uint64](src), from, shape)
	case 16:
		CopyView(par, viewed[complex128](dst), to, viewed[complex128](src), from, shape)
	}
}

// viewed is x as elements of another type of the same size.
func viewed[To, T any](x []T) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

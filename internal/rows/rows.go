// Package rows moves elements of tensors of any type, for ops whose results
// are made of elements of their inputs at other places, and checks where the
// rows of ragged tensors begin.
package rows

import (
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Move copies n elements, from s on, to where d is.
type Move func(d, s, n int)

// Mover returns what copies elements of src to dst, which must be of one type.
func Mover(dst, src *core.Tensor) Move {
	switch dst.DType() {
	case core.String:
		return between(core.Data[string](dst), core.Data[string](src))
	case core.Resource:
		return between(dst.Handles(), src.Handles())
	case core.Variant:
		return between(dst.Variants(), src.Variants())
	}
	switch dst.DType().Size() {
	case 1:
		return between(words[uint8](dst), words[uint8](src))
	case 2:
		return between(words[uint16](dst), words[uint16](src))
	case 4:
		return between(words[uint32](dst), words[uint32](src))
	case 8:
		return between(words[uint64](dst), words[uint64](src))
	}
	return between(words[complex128](dst), words[complex128](src))
}

func between[C any](dst, src []C) Move {
	return func(d, s, n int) { move(dst, src, d, s, n) }
}

func move[C any](dst, src []C, d, s, n int) {
	if n == 1 {
		dst[d] = src[s]
		return
	}
	copy(dst[d:d+n], src[s:s+n])
}

// Copy copies n elements of src, from s on, to where d is in dst, which must be of the
// same type. It makes no Move for it, which would be an allocation for each element of
// a dataset.
func Copy(dst, src *core.Tensor, d, s, n int) {
	switch dst.DType() {
	case core.String:
		move(core.Data[string](dst), core.Data[string](src), d, s, n)
		return
	case core.Resource:
		move(dst.Handles(), src.Handles(), d, s, n)
		return
	case core.Variant:
		move(dst.Variants(), src.Variants(), d, s, n)
		return
	}
	switch dst.DType().Size() {
	case 1:
		move(words[uint8](dst), words[uint8](src), d, s, n)
	case 2:
		move(words[uint16](dst), words[uint16](src), d, s, n)
	case 4:
		move(words[uint32](dst), words[uint32](src), d, s, n)
	case 8:
		move(words[uint64](dst), words[uint64](src), d, s, n)
	default:
		move(words[complex128](dst), words[complex128](src), d, s, n)
	}
}

// words views the memory of t as elements of T, which must have the size of
// t's own.
func words[T core.Elem](t *core.Tensor) []T {
	if t.Len() == 0 {
		return nil
	}
	return memory.Slice[T](t.Buffer())
}

// Fill sets n elements of dst, from d on, to element s of src.
func Fill(dst, src *core.Tensor, d, s, n int) {
	if n <= 0 {
		return
	}
	Mover(dst, src)(d, s, 1)
	within := Mover(dst, dst)
	for k := 1; k < n; k *= 2 {
		within(d+k, d, min(k, n-k))
	}
}

// Clear sets all elements of t to zero, the empty string or no handle.
func Clear(t *core.Tensor) {
	switch t.DType() {
	case core.String:
		clear(core.Data[string](t))
	case core.Resource:
		clear(t.Handles())
	case core.Variant:
		clear(t.Variants())
	default:
		clear(t.Buffer().Bytes())
	}
}

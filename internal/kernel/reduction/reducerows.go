package reduction

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/memory"
)

// ReduceRows folds each row of n elements of src into an element of dst, to the bits
// of Reduce where that keeps the first of two axes: rows may be folded some at a time.
func ReduceRows[T memory.Plain](dst, src []T, n int, f Fold[T]) {
	kernel.Fill(dst, f.Init)
	switch n {
	case 0:
		return
	case 1: // as Reduce does
		f.Rows(dst, src[:len(dst)])
		return
	}
	if n > foldChunk {
		for i := range dst {
			dst[i] = f.Join(f.Init, foldAll(kernel.Serial, src[i*n:(i+1)*n], f))
		}
		return
	}
	for i := range dst {
		dst[i] = f.Join(f.Init, f.Run(src[i*n:(i+1)*n]))
	}
}

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
	f.each(dst, src, n)
}

// each sets dst to the folds of rows.
func (f *Fold[T]) each(dst, x []T, n int) {
	if f.Each != nil && len(dst) > 1 && f.Each(dst, x, n) {
		return
	}
	for i := range dst {
		dst[i] = f.Join(f.Init, f.Run(x[i*n:(i+1)*n]))
	}
}

// rowsBy makes Each of a loop whose first accumulator is the fold's Init. Longer rows are cut, and
// the scheduler cannot interrupt a call.
func rowsBy(loop *foldLoop) func(dst, x []float32, n int) bool {
	return func(dst, x []float32, n int) bool {
		if *loop == nil || n > sumF32Chunk {
			return false
		}
		for len(dst) > 0 {
			rows := min(len(dst), max(1, foldChunk/n))
			_ = x[rows*n-1]
			(*loop)(&dst[0], &x[0], rows, n)
			dst, x = dst[rows:], x[rows*n:]
		}
		return true
	}
}

var sumRows, mostOfRows, leastOfRows = rowsBy(&simd.sums), rowsBy(&simd.most), rowsBy(&simd.least)

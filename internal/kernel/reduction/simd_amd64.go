//go:build !noasm

package reduction

import "github.com/gorge-tf/gorge/internal/kernel"

func init() {
	kernel.Dispatch(&simd, folds(sumAVX2, squaresAVX2, prodAVX2, maxOfAVX2, minOfAVX2, vectorLoops{
		expShift: expShiftOf(expShiftAVX2), softmaxRows: softmaxRowsAVX2, sum64: sum64AVX2,
	}), folds(kernel.ByMemory[foldLoop](sumAVX2, sumAVX512), kernel.ByMemory[foldLoop](squaresAVX2, squaresAVX512),
		kernel.ByMemory[foldLoop](prodAVX2, prodAVX512), kernel.ByMemory[foldLoop](maxOfAVX2, maxOfAVX512),
		kernel.ByMemory[foldLoop](minOfAVX2, minOfAVX512), vectorLoops{
			expShift: expShiftOf(expShiftAVX512), softmaxRows: softmaxRowsAVX512, sum64: sum64AVX512,
		}))
}

// folds adds the folds to others.
func folds(sum, squares, prod, most, least foldLoop, l vectorLoops) vectorLoops {
	l.sum, l.squares, l.prod, l.maxOf, l.minOf = foldOf(sum), foldOf(squares), foldOf(prod), foldOf(most), foldOf(least)
	l.sums, l.most, l.least = sum, most, least
	return l
}

// foldOf makes a fold of an assembly function; the caller bounds the length.
func foldOf(f foldLoop) func(x []float32) float32 {
	return func(x []float32) float32 { return f(nil, firstF32(x), 1, len(x)) }
}

// firstF32 is the address of the first element, nil if there is none.
func firstF32(x []float32) *float32 {
	if len(x) == 0 {
		return nil
	}
	return &x[0]
}

// expShiftOf makes a loop of an assembly function. The sums of the chunks are
// added in order.
func expShiftOf(f func(y, x *float32, n int, shift float32) float32) func(y, x []float32, shift float32) float32 {
	return func(y, x []float32, shift float32) float32 {
		var s float32
		for len(y) > 0 {
			n := min(len(y), sumF32Chunk)
			s += f(&y[0], &x[0], n, shift)
			y, x = y[n:], x[n:]
		}
		return s
	}
}

//go:build !noasm

package reduction

import "github.com/gorge-tf/gorge/internal/kernel"

func init() {
	kernel.Dispatch(&simd, vectorLoops{
		sum: foldOf(sumAVX2), maxOf: foldOf(maxOfAVX2), minOf: foldOf(minOfAVX2), expShift: expShiftOf(expShiftAVX2), softmaxRows: softmaxRowsAVX2,
		squares: foldOf(squaresAVX2), prod: foldOf(prodAVX2), sum64: sum64AVX2,
	}, vectorLoops{
		sum: foldOf(kernel.ByMemory(sumAVX2, sumAVX512)), maxOf: foldOf(kernel.ByMemory(maxOfAVX2, maxOfAVX512)), minOf: foldOf(kernel.ByMemory(minOfAVX2, minOfAVX512)),
		expShift: expShiftOf(expShiftAVX512), softmaxRows: softmaxRowsAVX512,
		squares: foldOf(kernel.ByMemory(squaresAVX2, squaresAVX512)), prod: foldOf(kernel.ByMemory(prodAVX2, prodAVX512)), sum64: sum64AVX512,
	})
}

// foldOf makes a fold of an assembly function; the caller bounds the length.
func foldOf(f func(x *float32, n int) float32) func(x []float32) float32 {
	return func(x []float32) float32 { return f(firstF32(x), len(x)) }
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

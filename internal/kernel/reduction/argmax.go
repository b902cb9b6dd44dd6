package reduction

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// ArgMax sets dst to the position of the greatest of n elements, for src of
// shape outer × n × inner. The first of equals wins, NaN never does.
func ArgMax[I numeric.Index, T numeric.Real](par kernel.Par, dst []I, src []T, outer, n, inner int) {
	argBest(par, dst, src, outer, n, inner, argMaxOf[T])
}

// ArgMin is ArgMax for the least element.
func ArgMin[I numeric.Index, T numeric.Real](par kernel.Par, dst []I, src []T, outer, n, inner int) {
	argBest(par, dst, src, outer, n, inner, argMinOf[T])
}

func argBest[I numeric.Index, T numeric.Real](par kernel.Par, dst []I, src []T, outer, n, inner int, best func(x []T, n, stride int) int) {
	par(outer, max(1, kernel.ElementGrain/max(1, n*inner)), func(lo, hi int) {
		for o := lo; o < hi; o++ {
			for i := range inner {
				dst[o*inner+i] = I(best(src[o*n*inner+i:], n, inner))
			}
		}
	})
}

// argMaxOf looks at n elements that are stride apart.
func argMaxOf[T numeric.Real](x []T, n, stride int) int {
	if at, ok := argInPieces(x, n, stride, simd.maxOf, func(a, b float32) bool { return a > b }); ok {
		return at
	}
	at := firstNumber(x, n, stride)
	best := x[at*stride]
	for i := at + 1; i < n; i++ {
		if v := x[i*stride]; v > best {
			at, best = i, v
		}
	}
	return at
}

func argMinOf[T numeric.Real](x []T, n, stride int) int {
	if at, ok := argInPieces(x, n, stride, simd.minOf, func(a, b float32) bool { return a < b }); ok {
		return at
	}
	at := firstNumber(x, n, stride)
	best := x[at*stride]
	for i := at + 1; i < n; i++ {
		if v := x[i*stride]; v < best {
			at, best = i, v
		}
	}
	return at
}

// argPiece is how many elements are looked at together.
const argPiece = 128

// argInPieces finds the piece that holds the best element, and looks for it
// there, if the processor has an instruction for that. It leaves rows with NaN
// to others.
func argInPieces[T numeric.Real](x []T, n, stride int, fold func([]float32) float32, better func(a, b float32) bool) (at int, ok bool) {
	xf, is32 := kernel.AsFloat32(x)
	if !is32 || fold == nil || stride != 1 || n < argPiece {
		return 0, false
	}
	best := fold(xf[:argPiece])
	for i := argPiece; i < n && best == best; i += argPiece {
		if v := fold(xf[i:min(i+argPiece, n)]); better(v, best) || v != v {
			at, best = i, v
		}
	}
	for best == best && xf[at] != best {
		at++
	}
	return at, best == best
}

// firstNumber is where a search begins: NaN is no number to compare with. If
// there is nothing else, it is 0.
func firstNumber[T numeric.Real](x []T, n, stride int) int {
	for i := range n {
		if v := x[i*stride]; v == v {
			return i
		}
	}
	return 0
}

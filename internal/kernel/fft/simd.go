package fft

// vectorLoops holds the loops of this package that the processor runs with vector
// instructions. A nil field means that the portable loop serves.
type vectorLoops[T Real] struct {
	passes [6]func(y, x *T, n, stride int, w *T) // by their radix
	split  func(z *T, n int, w *T)
	join   func(z *T, n int, w *T, scale T)
	swap   func(z *T, n int, scale T)
	times  func(z *T, n int, w *T)
	take   func(z, x *T, n, apart, im, lanes, pairs int)
	put    func(x, z *T, n, apart, im, lanes, pairs int, scale T)
	turn   func(dst, src *T, ldd, lds int)
	masked bool // whether take and put can leave lanes out
}

// simd and simdDouble are set once, before main starts, by the file of the architecture.
var (
	simd       vectorLoops[float32]
	simdDouble vectorLoops[float64]
)

// DoubleLoops reports whether there are vector loops in double precision.
func DoubleLoops() bool { return simdDouble.swap != nil }

func loopsOf[T Real]() *vectorLoops[T] {
	if l, ok := any(&simd).(*vectorLoops[T]); ok {
		return l
	}
	return any(&simdDouble).(*vectorLoops[T])
}

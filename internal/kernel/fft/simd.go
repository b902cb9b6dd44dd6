package fft

// vectorLoops holds the loops of this package that the processor runs with vector
// instructions. A nil field means that the portable loop serves.
type vectorLoops struct {
	// fft3, fft4, fft5, fftSplit and fftJoin are passes of radix 3, 4 and 5, splitReal and
	// joinReal.
	fft3, fft4, fft5 func(y, x *float32, n, stride int, w *float32)
	fftSplit         func(z *float32, n int, w *float32)
	fftJoin          func(z *float32, n int, w *float32, scale float32)
}

// simd is set once, before main starts, by the file of the architecture.
var simd vectorLoops

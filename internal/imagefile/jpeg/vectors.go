package jpeg

// vectorLoops are loops in vector instructions. Their results are those of the functions
// in Go that call them, to the bit.
type vectorLoops struct {
	fast     func(dst *byte, stride int, b, q *[64]int16)
	accurate func(dst *byte, stride int, b *[64]int16, q *[64]uint16)
	pixels   func(dst, y, cb, cr *byte, n int)
	wide     func(dst, near *byte, n int)
	square   func(dst, near, far *byte, n int)
}

// simd are the loops that this machine can run.
var simd vectorLoops

// atOnce is the number of samples in a step of a loop.
const atOnce = 16

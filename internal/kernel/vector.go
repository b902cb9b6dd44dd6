package kernel

import "unsafe"

// vectorChunk elements are the most that a call into assembly gets: the
// scheduler cannot interrupt it, and the garbage collector waits.
const vectorChunk = 16 << 10

// Loops over float32, as packages of loops keep those in assembly.
type (
	unaryLoop  func(y, x []float32)
	binaryLoop func(z, x, y []float32)
	scalarLoop func(z, x []float32, s float32)
)

// unaryOf makes a loop of an assembly function.
func unaryOf(f func(y, x *float32, n int)) unaryLoop {
	return func(y, x []float32) {
		for len(y) > 0 {
			n := min(len(y), vectorChunk)
			f(&y[0], &x[0], n)
			y, x = y[n:], x[n:]
		}
	}
}

// binaryOf makes a loop of an assembly function.
func binaryOf(f func(z, x, y *float32, n int)) binaryLoop {
	return func(z, x, y []float32) {
		for len(z) > 0 {
			n := min(len(z), vectorChunk)
			f(&z[0], &x[0], &y[0], n)
			z, x, y = z[n:], x[n:], y[n:]
		}
	}
}

// scalarOf makes a loop of an assembly function.
func scalarOf(f func(z, x *float32, n int, s float32)) scalarLoop {
	return func(z, x []float32, s float32) {
		for len(z) > 0 {
			n := min(len(z), vectorChunk)
			f(&z[0], &x[0], n, s)
			z, x = z[n:], x[n:]
		}
	}
}

// asF32 is x itself where T is float32.
func asF32[T any](x []T) ([]float32, bool) {
	y, ok := any(x).([]float32)
	return y, ok
}

// scalarF32 is x itself where T is float32.
func scalarF32[T any](x T) (float32, bool) {
	y, ok := any(x).(float32)
	return y, ok
}

// words views elements as numbers of their size. Bools are 0 and 1.
func words[W uint8 | uint32 | uint64 | float32, T any](x []T) []W {
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// ceilDiv is a/b rounded up.
func ceilDiv(a, b int) int { return (a + b - 1) / b }

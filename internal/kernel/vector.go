package kernel

import "unsafe"

// VectorChunk elements are the most that a call into assembly gets: the
// scheduler cannot interrupt it, and the garbage collector waits.
const VectorChunk = 16 << 10

// Loops over float32, as packages of loops keep those in assembly.
type (
	UnaryLoop  func(y, x []float32)
	BinaryLoop func(z, x, y []float32)
	ScalarLoop func(z, x []float32, s float32)
)

// UnaryOf makes a loop of an assembly function.
func UnaryOf(f func(y, x *float32, n int)) UnaryLoop {
	return func(y, x []float32) {
		for len(y) > 0 {
			n := min(len(y), VectorChunk)
			f(&y[0], &x[0], n)
			y, x = y[n:], x[n:]
		}
	}
}

// BinaryOf makes a loop of an assembly function.
func BinaryOf(f func(z, x, y *float32, n int)) BinaryLoop {
	return func(z, x, y []float32) {
		for len(z) > 0 {
			n := min(len(z), VectorChunk)
			f(&z[0], &x[0], &y[0], n)
			z, x, y = z[n:], x[n:], y[n:]
		}
	}
}

// ScalarOf makes a loop of an assembly function.
func ScalarOf(f func(z, x *float32, n int, s float32)) ScalarLoop {
	return func(z, x []float32, s float32) {
		for len(z) > 0 {
			n := min(len(z), VectorChunk)
			f(&z[0], &x[0], n, s)
			z, x = z[n:], x[n:]
		}
	}
}

// AsFloat32 is x itself where T is float32.
func AsFloat32[T any](x []T) ([]float32, bool) {
	y, ok := any(x).([]float32)
	return y, ok
}

// ScalarFloat32 is x itself where T is float32.
func ScalarFloat32[T any](x T) (float32, bool) {
	y, ok := any(x).(float32)
	return y, ok
}

// Words views elements as numbers of their size. Bools are 0 and 1.
func Words[W uint8 | uint16 | uint32 | uint64 | float32, T any](x []T) []W {
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// CeilDiv is a/b rounded up.
func CeilDiv(a, b int) int { return (a + b - 1) / b }

package elementwise

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Bits know no types: machine code for words serves all integers.
var bitAnd, bitOr, bitXor = Compile(Lanes2((*machine.Code).And)), Compile(Lanes2((*machine.Code).Or)), Compile(Lanes2((*machine.Code).Xor))

// BitAnd sets z = x & y.
func BitAnd[T numeric.Integer](z, x, y []T) {
	n := zipWords(bitAnd, z, x, y)
	kernel.Zip(z[n:], x[n:], y[n:], func(a, b T) T { return a & b })
}

// BitOr sets z = x | y.
func BitOr[T numeric.Integer](z, x, y []T) {
	n := zipWords(bitOr, z, x, y)
	kernel.Zip(z[n:], x[n:], y[n:], func(a, b T) T { return a | b })
}

// BitXor sets z = x ^ y.
func BitXor[T numeric.Integer](z, x, y []T) {
	n := zipWords(bitXor, z, x, y)
	kernel.Zip(z[n:], x[n:], y[n:], func(a, b T) T { return a ^ b })
}

// BitNot sets y = ^x.
func BitNot[T numeric.Integer](y, x []T) { kernel.Map(y, x, func(v T) T { return ^v }) }

// zipWords runs c over the words that elements are or lie in, and returns of how many elements
// it has set the results.
func zipWords[T numeric.Integer](c *Compiled, z, x, y []T) (done int) {
	x, y = x[:len(z)], y[:len(z)]
	words := len(z) * int(unsafe.Sizeof(T(0))) / int(machine.Word)
	if c.Run(words, wordsOf(x), wordsOf(y), wordsOf(z)) {
		return words * int(machine.Word) / int(unsafe.Sizeof(T(0)))
	}
	return 0
}

// wordsOf is a stream of the words that elements are or lie in.
func wordsOf[T any](x []T) Stream {
	return Stream{unsafe.Pointer(unsafe.SliceData(x)), int(machine.Word)}
}

package elementwise

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// A bitLoop is an operation on bits, which know no types: its loops serve all integers.
type bitLoop struct {
	code  *Compiled // of words
	longs func(z, x, y []uint64)
	bytes func(z, x, y []uint8)
}

var (
	bitAnd = bitLoop{Compile(Lanes2((*machine.Code).And)), andBits[uint64], andBits[uint8]}
	bitOr  = bitLoop{Compile(Lanes2((*machine.Code).Or)), orBits[uint64], orBits[uint8]}
	bitXor = bitLoop{Compile(Lanes2((*machine.Code).Xor)), xorBits[uint64], xorBits[uint8]}
)

func andBits[T uint64 | uint8](z, x, y []T) { kernel.Zip(z, x, y, func(a, b T) T { return a & b }) }
func orBits[T uint64 | uint8](z, x, y []T)  { kernel.Zip(z, x, y, func(a, b T) T { return a | b }) }
func xorBits[T uint64 | uint8](z, x, y []T) { kernel.Zip(z, x, y, func(a, b T) T { return a ^ b }) }

// BitAnd sets z = x & y.
func BitAnd[T numeric.Integer](z, x, y []T) { bitAnd.run(bytesOf(z), bytesOf(x), bytesOf(y)) }

// BitOr sets z = x | y.
func BitOr[T numeric.Integer](z, x, y []T) { bitOr.run(bytesOf(z), bytesOf(x), bytesOf(y)) }

// BitXor sets z = x ^ y.
func BitXor[T numeric.Integer](z, x, y []T) { bitXor.run(bytesOf(z), bytesOf(x), bytesOf(y)) }

// BitNot sets y = ^x.
func BitNot[T numeric.Integer](y, x []T) { kernel.Map(y, x, func(v T) T { return ^v }) }

func (l *bitLoop) run(z, x, y []byte) {
	x, y = x[:len(z)], y[:len(z)]
	const word, long = int(machine.Word), 8
	done := len(z) / word * word
	if !l.code.Run(done/word, wordsOf(x), wordsOf(y), wordsOf(z)) {
		done = len(z) / long * long
		l.longs(longsOf(z), longsOf(x), longsOf(y))
	}
	l.bytes(z[done:], x[done:], y[done:])
}

// wordsOf is a stream of the words in x.
func wordsOf(x []byte) Stream {
	return Stream{unsafe.Pointer(unsafe.SliceData(x)), int(machine.Word)}
}

// longsOf views whole groups of eight bytes.
func longsOf(x []byte) []uint64 {
	if len(x) < 8 {
		return nil // a pointer to eight bytes must not leave the memory
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(x))), len(x)/8)
}

func bytesOf[T numeric.Integer](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(T(0))))
}

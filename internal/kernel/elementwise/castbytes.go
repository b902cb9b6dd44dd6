package elementwise

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/machine"
)

// Casts from and to bytes in machine code.
var (
	// byteToFloat puts a byte into the last digits of 2^23, whose unit is 1, and takes 2^23 away.
	byteToFloat = Compile(Lanes1(func(c *machine.Code, x machine.Value) machine.Value {
		return c.Sub(c.Or(x, c.Float(1<<23)), c.Float(1<<23))
	}))
	floatToBool = Compile(Lanes1(func(c *machine.Code, x machine.Value) machine.Value { return c.NotEqual(x, c.Word(0)) }))
	wordToByte  = Compile(Lanes1(func(_ *machine.Code, x machine.Value) machine.Value { return x }))
)

// The casts run machine code if src is what it converts, or report that they did not. They are
// not generic: there is one of each.

func floatsToBools(dst []bool, src any) bool {
	x, ok := src.([]float32)
	return ok && floatToBool.Run(len(dst), Along(x[:len(dst)]), Along(dst))
}

func bytesToFloats(dst []float32, src any) bool {
	x, ok := src.([]uint8)
	return ok && byteToFloat.Run(len(dst), Along(x[:len(dst)]), Along(dst))
}

func wordsToBytes(dst []int8, src any) bool {
	x, ok := src.([]int32)
	return ok && wordToByte.Run(len(dst), Along(x[:len(dst)]), Along(dst))
}

// truncateToBytes sets dst to the last bytes of src's whole numbers, if it can.
func truncateToBytes(dst []uint8, src any) bool {
	x, ok := src.([]float32)
	if !ok || simd.truncate == nil {
		return false
	}
	EachBlock(len(dst), func(lo, hi int, buf []float32) {
		simd.truncate(buf, x[lo:hi])
		if !wordToByte.Run(hi-lo, Along(buf), Along(dst[lo:hi])) {
			words := kernel.Words[uint32](buf)
			for i := range words {
				dst[lo+i] = uint8(words[i])
			}
		}
	})
	return true
}

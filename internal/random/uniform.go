package random

import (
	"math"

	"github.com/gorge-tf/gorge/internal/memory"
)

// oneCall is how many numbers a call into assembly makes at most: the scheduler cannot interrupt it.
const oneCall = 16 << 10

// UniformFloat32 fills out with numbers in [0, 1), beginning with group.
func UniformFloat32(base Philox, group uint64, out []float32) {
	base.Skip(group)
	for len(out) >= Group {
		n := min(len(out)/Group*Group, oneCall)
		base.fillUniforms(out[:n])
		out = out[n:]
	}
	if len(out) > 0 {
		var last [Group]float32
		base.fillUniforms(last[:])
		copy(out, last[:])
	}
}

// UniformFloat64 fills out with numbers in [0, 1), beginning with group.
func UniformFloat64(base Philox, group uint64, out []float64) {
	fillBy2(base, group, out, float64From)
}

// UniformHalf fills out with numbers in [0, 1), beginning with group.
func UniformHalf(base Philox, group uint64, out []uint16) {
	fillBy1(base, group, out, func(w uint32) uint16 {
		return halfFrom(float32(w&0x3ff) / 1024)
	})
}

// UniformBFloat16 fills out with numbers in [0, 1), beginning with group.
func UniformBFloat16(base Philox, group uint64, out []uint16) {
	fillBy1(base, group, out, func(w uint32) uint16 {
		return bfloat16From(float32(w&0x7f) / 128)
	})
}

// UniformInt fills out with integers in [low, high), beginning with group. They
// are as biased as a remainder is. low must be less than high.
func UniformInt[T int32 | uint32](base Philox, group uint64, low, high T, out []T) {
	span := uint32(high) - uint32(low)
	fillBy1(base, group, out, func(w uint32) T {
		return low + T(w%span)
	})
}

// UniformInt64 fills out with integers in [low, high), beginning with group.
// They are as biased as a remainder is. low must be less than high.
func UniformInt64[T int64 | uint64](base Philox, group uint64, low, high T, out []T) {
	span := uint64(high) - uint64(low)
	fillBy2(base, group, out, func(w0, w1 uint32) T {
		return low + T(join(w0, w1)%span)
	})
}

// Bits fills out with integers of the type's full range, beginning with group.
func Bits[T int32 | uint32](base Philox, group uint64, out []T) {
	fillBy1(base, group, out, func(w uint32) T { return T(w) })
}

// Bits64 fills out with integers of the type's full range, beginning with
// group.
func Bits64[T int64 | uint64](base Philox, group uint64, out []T) {
	fillBy2(base, group, out, func(w0, w1 uint32) T { return T(join(w0, w1)) })
}

// fillBy1 makes every element from one word.
func fillBy1[T any](base Philox, group uint64, out []T, from func(w uint32) T) {
	base.Skip(group)
	base.eachWords(len(out), func(words []uint32) {
		n := min(len(words), len(out))
		for i, w := range words[:n] {
			out[i] = from(w)
		}
		out = out[n:]
	})
}

// fillBy2 makes every element from two words.
func fillBy2[T any](base Philox, group uint64, out []T, from func(w0, w1 uint32) T) {
	base.Skip(group)
	base.eachWords(2*len(out), func(words []uint32) {
		n := min(len(words)/2, len(out))
		for i := range out[:n] {
			out[i] = from(words[2*i], words[2*i+1])
		}
		out = out[n:]
	})
}

// chunk is how many words are made at a time: they stay in the innermost cache.
const chunk = 1 << 10

// eachWords gives f the next words, in chunks of whole blocks, until there were n or
// more.
func (p *Philox) eachWords(n int, f func(words []uint32)) {
	n = (n + Group - 1) / Group * Group
	words, loan := memory.Lend[uint32](min(n, chunk))
	defer loan.Return()
	for ; n > 0; n -= len(words) {
		words = words[:min(n, len(words))]
		p.fillWords(words, 1)
		f(words)
	}
}

// float32From puts 23 bits of a word into the mantissa of a number in [1, 2).
func float32From(w uint32) float32 {
	return math.Float32frombits(127<<23|w&(1<<23-1)) - 1
}

// float64From does the same with 52 bits, the high ones from the first word.
func float64From(w0, w1 uint32) float64 {
	return math.Float64frombits(1023<<52|join(w1, w0&(1<<20-1))) - 1
}

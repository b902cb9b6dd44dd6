package random

import "math"

// UniformFloat32 fills out with numbers in [0, 1), beginning with group.
func UniformFloat32(base Philox, group uint64, out []float32) {
	base.Skip(group)
	for ; len(out) >= Group; out = out[Group:] {
		w0, w1, w2, w3 := base.Next()
		o := out[:Group:Group]
		o[0], o[1], o[2], o[3] = float32From(w0), float32From(w1), float32From(w2), float32From(w3)
	}
	if len(out) > 0 {
		var last [Group]float32
		UniformFloat32(base, 0, last[:])
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
	fillBlocks(base, group, out, func(w0, w1, w2, w3 uint32) [Group]T {
		return [Group]T{from(w0), from(w1), from(w2), from(w3)}
	})
}

// fillBy2 makes every element from two words.
func fillBy2[T any](base Philox, group uint64, out []T, from func(w0, w1 uint32) T) {
	base.Skip(group)
	for len(out) >= Group64 {
		w0, w1, w2, w3 := base.Next()
		out[0], out[1] = from(w0, w1), from(w2, w3)
		out = out[Group64:]
	}
	if len(out) > 0 {
		w0, w1, _, _ := base.Next()
		out[0] = from(w0, w1)
	}
}

// fillBlocks makes every group from one block.
func fillBlocks[T any](base Philox, group uint64, out []T, from func(w0, w1, w2, w3 uint32) [Group]T) {
	base.Skip(group)
	for len(out) > 0 {
		g := from(base.Next())
		out = out[copy(out, g[:]):]
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

package random

import "math"

// halfFrom rounds to the nearest half, ties to even.
func halfFrom(f float32) uint16 {
	b := math.Float32bits(f)
	sign, mag := uint16(b>>16)&0x8000, b&0x7fffffff
	const (
		minNormal = 113 << 23 // 2^-14
		overflow  = 143<<23 - 1<<12
	)
	switch {
	case mag > 255<<23:
		return sign | 0x7e00
	case mag >= overflow:
		return sign | 0x7c00
	case mag < minNormal:
		// Adding 2^-1 leaves a multiple of 2^-24, the step between
		// subnormals, in the low bits, rounded as the hardware rounds.
		return sign | uint16(math.Float32bits(math.Float32frombits(mag)+0.5)-126<<23)
	}
	return sign | uint16((mag-112<<23+0xfff+mag>>13&1)>>13)
}

// bfloat16From rounds to the nearest bfloat16, ties to even. f is no NaN.
func bfloat16From(f float32) uint16 {
	b := math.Float32bits(f)
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// fromHalf is the number that the bits of a half stand for.
func fromHalf(h uint16) float64 {
	exponent, fraction := int(h>>10&0x1f), float64(h&0x3ff)
	v := math.Ldexp(1024+fraction, exponent-25)
	switch {
	case exponent == 0:
		v = math.Ldexp(fraction, -24)
	case exponent == 31 && fraction == 0:
		v = math.Inf(1)
	case exponent == 31:
		v = math.NaN()
	}
	if h&0x8000 != 0 {
		return -v
	}
	return v
}

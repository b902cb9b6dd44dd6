package numeric

import "math"

// Half is an IEEE 754 binary16: 1 sign bit, 5 exponent bits, 10 fraction bits.
type Half uint16

// BFloat16 is the upper half of a float32: 1 sign bit, 8 exponent bits, 7
// fraction bits.
type BFloat16 uint16

// HalfFloat lists the 16-bit floating point types.
type HalfFloat interface{ Half | BFloat16 }

const (
	halfInf  = 0x7c00
	halfNaN  = 0x7e00
	halfSign = 0x8000
	// The first float32 that rounds beyond the largest Half, 65504.
	halfOverflow = 0x477ff000
	// The smallest normal Half, 2^-14, as float32 bits.
	halfMinNormal = 0x38800000
	bfloatNaN     = 0x7fc0
)

// HalfFromFloat32 rounds to the nearest Half, ties to even. A NaN becomes a quiet one and keeps the
// upper bits of its payload, as processors do it.
func HalfFromFloat32(f float32) Half {
	b := math.Float32bits(f)
	sign := Half(b >> 16 & halfSign)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return sign | halfNaN | Half(b>>13&0x3ff)
	case b >= halfOverflow:
		return sign | halfInf
	case b < halfMinNormal:
		// Adding 0.5 puts the unit of a subnormal Half, 2^-24, into the last
		// place of the sum, so the addition itself rounds as wanted.
		return sign | Half(math.Float32bits(math.Float32frombits(b)+0.5)-0x3f000000)
	}
	odd := b >> 13 & 1
	return sign | Half((b-(112<<23)+0xfff+odd)>>13)
}

// Float32 returns the exact value; a NaN becomes a quiet one.
func (h Half) Float32() float32 {
	sign := uint32(h&halfSign) << 16
	b := uint32(h&0x7fff) << 13
	switch {
	case b > halfInf<<13:
		return math.Float32frombits(sign | b | 0x7fc00000)
	case b == halfInf<<13:
		return math.Float32frombits(sign | b | 0x7f800000)
	case b < 1<<23:
		return math.Float32frombits(sign | math.Float32bits(float32(b)*(1.0/(1<<37))))
	}
	return math.Float32frombits(sign | (b + 112<<23))
}

// BFloat16FromFloat32 rounds to the nearest BFloat16, ties to even.
func BFloat16FromFloat32(f float32) BFloat16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return BFloat16(b>>16&0x8000) | bfloatNaN
	}
	return BFloat16((b + 0x7fff + b>>16&1) >> 16)
}

// Float32 returns the exact value.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

package tftest

import "math"

// The number of representable numbers from a to b: floating-point formats are
// sign and magnitude, so that magnitudes, as integers, count in order.

func floatSteps(a, b float32) uint64 {
	return steps(uint64(math.Float32bits(a)), uint64(math.Float32bits(b)), 31)
}

func doubleSteps(a, b float64) uint64 {
	return steps(math.Float64bits(a), math.Float64bits(b), 63)
}

func shortSteps(a, b uint16) uint64 { return steps(uint64(a), uint64(b), 15) }

// steps counts from the bits of a to those of b; sign is the number of the sign bit.
func steps(a, b uint64, sign uint) uint64 {
	x, y := magnitude(a, sign), magnitude(b, sign)
	if a>>sign != b>>sign {
		return x + y
	}
	return max(x, y) - min(x, y)
}

func magnitude(bits uint64, sign uint) uint64 { return bits &^ (1 << sign) }

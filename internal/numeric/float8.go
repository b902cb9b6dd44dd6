package numeric

import "math"

// A Float8 says how a floating-point type of 8 bits is laid out.
type Float8 struct {
	mantissa, bias int
	greatest       uint8 // the greatest finite number
	nan            uint8
	infinite       bool // one more than the greatest number is infinity; if not, what overflows is NaN
}

// The floating-point types of 8 bits that can be converted.
var (
	Float8E5M2   = Float8{mantissa: 2, bias: 15, greatest: 0x7b, nan: 0x7e, infinite: true}
	Float8E4M3FN = Float8{mantissa: 3, bias: 7, greatest: 0x7e, nan: 0x7f}
)

// Decode returns the number that b stands for.
func (f Float8) Decode(b uint8) float32 {
	code := b & 0x7f
	v := math.NaN()
	switch {
	case code <= f.greatest:
		v = f.finite(int(code))
	case f.infinite && code == f.greatest+1:
		v = math.Inf(1)
	}
	if b > 0x7f {
		v = -v
	}
	return float32(v)
}

func (f Float8) finite(code int) float64 {
	exponent, m := code>>f.mantissa, code&(1<<f.mantissa-1)
	if exponent == 0 {
		return math.Ldexp(float64(m), 1-f.bias-f.mantissa)
	}
	return math.Ldexp(float64(m|1<<f.mantissa), exponent-f.bias-f.mantissa)
}

// Encode rounds v to the nearest number, ties to even.
func (f Float8) Encode(v float64) uint8 {
	sign := uint8(math.Float64bits(v)>>56) & 0x80
	if math.IsNaN(v) {
		return sign | f.nan
	}
	code := math.MaxInt
	if !math.IsInf(v, 0) {
		code = f.code(math.Abs(v))
	}
	switch {
	case code <= int(f.greatest):
		return sign | uint8(code)
	case f.infinite:
		return sign | (f.greatest + 1)
	}
	return sign | f.nan
}

// code counts the steps of the type from 0 to v, which all are one bit apart.
func (f Float8) code(v float64) int {
	if v == 0 {
		return 0
	}
	_, exponent := math.Frexp(v)
	exponent = max(exponent-1, 1-f.bias)
	steps := math.RoundToEven(math.Ldexp(v, f.mantissa-exponent))
	return (exponent+f.bias-1)<<f.mantissa + int(steps)
}

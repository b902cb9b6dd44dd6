package numeric

import (
	"math"
	"math/bits"
	"strconv"
)

// mostDigits is how many digits a number may have behind the point to be written quickly.
const mostDigits = 15

var powers = func() (p [mostDigits + 1]uint64) {
	p[0] = 1
	for i := range mostDigits {
		p[i+1] = 10 * p[i]
	}
	return p
}()

// AppendFixed is strconv.AppendFloat in format f of a float64, with so many digits behind the
// point. The exact number times 10^digits, rounded, has all digits in one integer where that
// is less than 2^63.
func AppendFixed(b []byte, v float64, digits int) []byte {
	u := math.Float64bits(v)
	shift := 1075 - int(u>>52&0x7ff)
	if shift < 1 || digits < 0 || digits > mostDigits {
		return strconv.AppendFloat(b, v, 'f', digits, 64)
	}
	high, low := bits.Mul64(u&(1<<52-1)|1<<52, powers[digits]) // >> shift, and less than 2^103
	if shift < 64 {
		if high>>(shift-1) != 0 {
			return strconv.AppendFloat(b, v, 'f', digits, 64)
		}
	} else {
		rest := low << 8
		if high, low = 0, high<<8|low>>56; rest != 0 {
			low |= 1 // more than what it is, which matters only in the middle
		}
		shift = min(shift-56, 63)
	}
	n, rest, half := high<<(64-shift)|low>>shift, low&(1<<shift-1), uint64(1)<<(shift-1)
	if rest > half || rest == half && n&1 != 0 {
		n++
	}
	if u>>63 != 0 {
		b = append(b, '-')
	}
	return appendPoint(b, n, digits)
}

// appendPoint writes n with a point before its last digits.
func appendPoint(b []byte, n uint64, digits int) []byte {
	b = strconv.AppendUint(b, n/powers[digits], 10)
	if digits == 0 {
		return b
	}
	n %= powers[digits]
	b = append(append(b, '.'), "000000000000000"[:digits]...)
	for i := len(b) - 1; n > 0; i-- {
		b[i] = '0' + byte(n%10)
		n /= 10
	}
	return b
}

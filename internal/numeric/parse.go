package numeric

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// ParseFloat returns the floating-point number that a text spells for TensorFlow: with
// what C counts as space around it, decimal, hexadecimal also without an exponent,
// infinite, or NaN, which may have a sign and what C calls its payload. What is too
// large is infinite.
func ParseFloat(s string, bits int) (float64, bool) {
	s = trim(s)
	if v, ok := parseShort(s, bits); ok {
		return v, true
	}
	if v, err := strconv.ParseFloat(s, bits); err == nil {
		return v, strings.IndexByte(s, '_') < 0
	}
	if isNaN(s) {
		return math.NaN(), true
	}
	if strings.ContainsAny(s, "xX") && !strings.ContainsAny(s, "pP") {
		s += "p0"
	}
	v, err := strconv.ParseFloat(s, bits)
	return v, (err == nil || errors.Is(err, strconv.ErrRange)) && !strings.Contains(s, "_")
}

// isNaN reports whether s spells NaN: with a sign or without, and with letters, digits and
// underscores in parentheses behind it or without.
func isNaN(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	const nan = "nan"
	if len(s) < len(nan) || !strings.EqualFold(s[:len(nan)], nan) {
		return false
	}
	payload, open := strings.CutPrefix(s[len(nan):], "(")
	if !open {
		return payload == ""
	}
	payload, closed := strings.CutSuffix(payload, ")")
	return closed && strings.Trim(payload, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// shortDigits is how many digits a number may have that a float64 holds exactly.
const shortDigits = 15

var powersOfTen = [shortDigits + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseShort is ParseFloat for few digits with or without a point and a minus. A quotient
// of two exact numbers is rounded once; to be rounded to a float32 as well it must not be
// half way between two of these.
func parseShort(s string, bits int) (float64, bool) {
	number, negative := strings.CutPrefix(s, "-")
	whole, fraction, point := uint64(0), 0, 0
	for i := range len(number) {
		switch c := number[i]; {
		case '0' <= c && c <= '9':
			whole, fraction = whole*10+uint64(c-'0'), fraction+point
		case c == '.' && point == 0:
			point = 1
		default:
			return 0, false
		}
	}
	if n := len(number) - point; n == 0 || n > shortDigits {
		return 0, false
	}
	v := float64(whole) / powersOfTen[fraction]
	if negative {
		v = -v
	}
	if bits == 32 {
		const beyond = 1<<29 - 1 // the bits that a float32 lacks
		if math.Float64bits(v)&beyond == 1<<28 {
			return 0, false
		}
		v = float64(float32(v))
	}
	return v, true
}

// ParseInt returns the decimal integer of so many bits that a text spells for
// TensorFlow, with what C counts as space around it.
func ParseInt(s string, bits int) (int64, bool) {
	v, err := strconv.ParseInt(trim(s), 10, bits)
	return v, err == nil
}

// ParseUint is ParseInt for integers without a sign, but for a plus.
func ParseUint(s string, bits int) (uint64, bool) {
	v, err := strconv.ParseUint(strings.TrimPrefix(trim(s), "+"), 10, bits)
	return v, err == nil
}

// trim takes off what C counts as space.
func trim(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	for s != "" && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

package numeric

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// ParseFloat returns the floating-point number that a text spells for TensorFlow: with
// what C counts as space around it, decimal, hexadecimal also without an exponent,
// infinite, or NaN, which may have a sign. What is too large is infinite.
func ParseFloat(s string, bits int) (float64, bool) {
	s = trim(s)
	if v, err := strconv.ParseFloat(s, bits); err == nil {
		return v, strings.IndexByte(s, '_') < 0
	}
	if n := len(s) - len("nan"); n >= 0 && strings.EqualFold(s[n:], "nan") {
		return math.NaN(), n == 0 || s[:n] == "+" || s[:n] == "-"
	}
	if strings.ContainsAny(s, "xX") && !strings.ContainsAny(s, "pP") {
		s += "p0"
	}
	v, err := strconv.ParseFloat(s, bits)
	return v, (err == nil || errors.Is(err, strconv.ErrRange)) && !strings.Contains(s, "_")
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

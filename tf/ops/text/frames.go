package text

// A frame tells how many bytes the first character of s has, which is not empty. It reports
// false if they are none for sure. Bytes that cannot be one character are read apart, as ICU
// does: what stands behind the first of them is not lost.
type frame func(s string) (n int, ok bool)

// within reports whether b is in one of the stretches of bytes, of which the first and the
// last ones are listed.
func within(stretches string, b byte) bool {
	for i := 0; i+1 < len(stretches); i += 2 {
		if stretches[i] <= b && b <= stretches[i+1] {
			return true
		}
	}
	return false
}

// pairs makes the frame of characters of two bytes, which are in the given stretches.
func pairs(first, second string) frame {
	return func(s string) (int, bool) {
		if len(s) < 2 || !within(first, s[0]) {
			return 1, true
		}
		if !within(second, s[1]) {
			return 1, false
		}
		return 2, true
	}
}

// The bytes of EUC; the outer two of eucAny are in no character.
const (
	eucByte = "\xA1\xFE"
	eucAny  = "\xA0\xFF"
)

// euc is the frame of EUC with one set of characters.
func euc(s string) (int, bool) {
	n, ok := pairs(eucByte, eucAny)(s)
	if n == 2 {
		return 2, within(eucByte, s[1])
	}
	return n, ok && !within("\x80\xA0\xFF\xFF", s[0])
}

// japaneseEUC has two sets of characters more: one of a byte, behind 8E, and one of two,
// behind 8F.
func japaneseEUC(s string) (int, bool) {
	switch s[0] {
	case 0x8E:
		return pairs("\x8E\x8E", "\xA0\xE4\xFF\xFF")(s)
	case 0x8F:
		if len(s) > 1 && !within(eucByte, s[1]) && within(eucAny, s[1]) {
			return 2, false
		}
		return longer(s, eucByte, eucByte)
	}
	return euc(s)
}

// quadruples is the frame of GB18030: of two bytes, or of four if the second one is a digit.
func quadruples(s string) (int, bool) {
	const first = "\x81\xFE"
	if len(s) > 1 && within(first, s[0]) && within("09", s[1]) {
		return longer(s, "09", "\x81\xFE", "09")
	}
	return pairs(first, "\x40\x7E\x80\xFF")(s)
}

// longer is the frame of a character that has bytes of the given stretches behind its first
// one. If s ends before, all of it is.
func longer(s string, behind ...string) (int, bool) {
	for i, stretches := range behind {
		switch {
		case i+1 == len(s):
			return len(s), false
		case !within(stretches, s[i+1]):
			return 1, false
		}
	}
	return len(behind) + 1, true
}

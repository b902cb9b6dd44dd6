// Package icu has what ICU, TensorFlow's library for Unicode, does in its own way:
// how it reads text that is not UTF-8, and how it numbers scripts.
package icu

import "unicode/utf8"

// DecodeUTF8 reads the first character of s, which is not empty. It takes the
// longest beginning of a character for one error: U+FFFD, and false.
func DecodeUTF8(s string) (rune, int, bool) {
	r, size := utf8.DecodeRuneInString(s)
	if r != utf8.RuneError || size > 1 {
		return r, size, true
	}
	n := 1
	for n < min(len(s), utf8.UTFMax-1) && beginsUTF8(s[:n+1]) {
		n++
	}
	return utf8.RuneError, n, false
}

// beginsUTF8 reports whether s, two bytes or more, can be the beginning of a
// character that is longer.
func beginsUTF8(s string) bool {
	low, high := byte(0x80), byte(0xBF)
	switch lead := s[0]; {
	case lead < 0xE0 || lead > 0xF4 || lead < 0xF0 && len(s) > 2:
		return false
	case lead == 0xE0:
		low = 0xA0
	case lead == 0xED:
		high = 0x9F
	case lead == 0xF0:
		low = 0x90
	case lead == 0xF4:
		high = 0x8F
	}
	if s[1] < low || s[1] > high {
		return false
	}
	return len(s) == 2 || s[2]&0xC0 == 0x80
}

package tftext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/gorge-tf/gorge/internal/icu"
	"github.com/gorge-tf/gorge/tf/core"
)

// folded returns NFKC_Casefold of s.
func folded(s string) string {
	if strings.IndexFunc(s, changes) < 0 && utf8.ValidString(s) {
		return normalized(s, norm.NFC)
	}
	core.Room(3 * len(s))
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		r, size, ok := icu.DecodeUTF8(s)
		if ok {
			fold(&b, r, s[:size])
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return normalized(b.String(), norm.NFC)
}

// changes reports whether r is not surely its own case folding.
func changes(r rune) bool {
	return 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf
}

// fold writes the case folding of r, which is s.
func fold(b *strings.Builder, r rune, s string) {
	if r < utf8.RuneSelf {
		b.WriteRune(foldLetter(r))
		return
	}
	parts := s
	if d := norm.NFKD.PropertiesString(s).Decomposition(); d != nil {
		parts = string(d)
	}
	for _, r := range parts {
		switch {
		case r == 'ß', r == 'ẞ':
			b.WriteString("ss")
		case !ignorable(r):
			b.WriteRune(foldLetter(r))
		}
	}
}

// foldLetter returns the form of a letter that all its forms have in common: the
// small one but for the letters of Cherokee, whose capitals are older.
func foldLetter(r rune) rune {
	switch {
	case r == 'ı': // its capital is that of i
		return r
	case unicode.Is(unicode.Cherokee, r):
		return unicode.ToUpper(r)
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// ignorable reports whether r is a Default_Ignorable_Code_Point of Unicode.
func ignorable(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r):
		return true
	case 0xFFF9 <= r && r <= 0xFFFB, 0x13430 <= r && r <= 0x13440, unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.Is(unicode.Cf, r)
}

package text

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// A letter appends to b what the letter r becomes, which is at s[i].
type letter func(b []byte, s string, i int, r rune) []byte

// all changes all letters of s, which is UTF-8.
func (l letter) all(s string) string {
	b := make([]byte, 0, len(s))
	for i, r := range s {
		b = l(b, s, i, r)
	}
	return string(b)
}

// tabled is the end of the alphabets that a caseTable knows: Latin, Greek, Cyrillic and
// Armenian.
const tabled = 0x590

// A caseTable has what letters become. It is 0 for those that become several or depend on
// others.
type caseTable struct {
	letters [tabled]uint16
	other   letter
}

func (l letter) table() func() *caseTable {
	return sync.OnceValue(func() *caseTable {
		t := &caseTable{other: l}
		for r := range rune(tabled) {
			if changed := []rune(l.all(string(r))); len(changed) == 1 && r != capitalSigma {
				t.letters[r] = uint16(changed[0])
			}
		}
		return t
	})
}

// text appends s to b with all letters changed, up to a byte 0: TensorFlow reads a C string.
func (t *caseTable) text(b []byte, s string) []byte {
	s, _, _ = strings.Cut(s, "\x00")
	begin := len(b)
	b = append(b, s...)
	for i, c := range b[begin:] {
		if c >= utf8.RuneSelf {
			return t.wide(b[:begin+i], wellFormed(s), i)
		}
		b[begin+i] = byte(t.letters[c])
	}
	return b
}

// wide appends s to b from a place on.
func (t *caseTable) wide(b []byte, s string, from int) []byte {
	for i := from; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			b = append(b, byte(t.letters[c]))
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r < tabled && t.letters[r] != 0 {
			b = utf8.AppendRune(b, rune(t.letters[r]))
		} else {
			b = t.other(b, s, i, r)
		}
		i += size
	}
	return b
}

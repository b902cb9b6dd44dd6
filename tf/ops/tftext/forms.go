package tftext

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/gorge-tf/gorge/internal/icu"
	"github.com/gorge-tf/gorge/tf/core"
)

// mostMarks is how many characters in a row may be marks for package norm, which
// puts a joiner between more than 30 marks. A character decomposes into at most
// three marks.
const mostMarks = 9

// normalized returns s in a normalization form. Package norm is not asked where it
// does otherwise than ICU: for many marks in a row, and for what follows bytes
// that are not UTF-8.
func normalized(s string, form norm.Form) string {
	switch {
	case !utf8.ValidString(s), manyMarks(s):
		return normalizedPieces(s, form)
	case form.IsNormalString(s):
		return s
	}
	core.Room(3 * len(s))
	return form.String(s)
}

// manyMarks reports whether s has a run of more than mostMarks marks.
func manyMarks(s string) bool {
	run := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			run = 0
			i++
			continue
		}
		p := norm.NFD.PropertiesString(s[i:])
		if run++; p.CCC() == 0 {
			run = 0
		}
		if run > mostMarks {
			return true
		}
		i += max(p.Size(), 1)
	}
	return false
}

// A piece is a character, with its canonical combining class, or a byte that is
// not UTF-8, as a negative number.
type piece struct {
	char  rune
	class uint8
}

// normalizedPieces is the algorithm of Unicode Standard Annex 15: decompose, order
// marks, compose.
func normalizedPieces(s string, form norm.Form) string {
	core.Room(16 * len(s))
	all := decomposed(s, form)
	order(all)
	if form == norm.NFC || form == norm.NFKC {
		all = composed(all)
	}
	out := make([]byte, 0, len(s))
	for _, p := range all {
		if p.char < 0 {
			out = append(out, byte(-p.char))
		} else {
			out = utf8.AppendRune(out, p.char)
		}
	}
	return string(out)
}

// decomposed returns the pieces of s, which are decomposed.
func decomposed(s string, form norm.Form) (all []piece) {
	d := norm.NFD
	if form == norm.NFKC || form == norm.NFKD {
		d = norm.NFKD
	}
	for len(s) > 0 {
		_, size, ok := icu.DecodeUTF8(s)
		if !ok {
			for i := range size {
				all = append(all, piece{-rune(s[i]), 0})
			}
		} else {
			for _, r := range d.String(s[:size]) {
				all = append(all, piece{r, d.PropertiesString(string(r)).CCC()})
			}
		}
		s = s[size:]
	}
	return all
}

// order sorts each run of marks by their classes.
func order(all []piece) {
	for i := 0; i < len(all); i++ {
		j := i
		for j < len(all) && all[j].class > 0 {
			j++
		}
		slices.SortStableFunc(all[i:j], func(a, b piece) int { return int(a.class) - int(b.class) })
		i = j
	}
}

// composed joins characters that have a composition. A mark is joined with the
// last character that is none, unless one of its class, or a character that is no
// mark, is between them.
func composed(all []piece) []piece {
	out := all[:0]
	start, last := -1, uint8(0) // of out: the character to join with; the class of what follows it
	for _, p := range all {
		adjacent := start == len(out)-1
		if start >= 0 && (adjacent || last != 0 && last < p.class) {
			if r, ok := compose(out[start].char, p.char); ok {
				out[start].char = r
				continue
			}
		}
		out = append(out, p)
		last = p.class
		if p.class == 0 {
			start = len(out) - 1
		}
	}
	return out
}

// compose returns the character that a and b are together.
func compose(a, b rune) (rune, bool) {
	if a < 0 || b < 0 {
		return 0, false
	}
	pair := string([]rune{a, b})
	both := norm.NFC.String(pair)
	r, size := utf8.DecodeRuneInString(both)
	return r, size == len(both) && len(both) > 0 && both != pair
}

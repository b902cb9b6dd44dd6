package text

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCaseTables compares tables with letter by letter: all letters alone, and random texts.
func TestCaseTables(t *testing.T) {
	tables := map[string]letter{"lower": lowerLetter, "upper": upperLetter}
	pieces := []string{"a", "Z", "é", "É", "Σ", "ς", "ß", "İ", "'", " ", "ж", "Ж", "ﬁ", "Ꙁ", "中", "𐐀", "\x00", "\xff", "\xe2\x82", "\u0590", "\u058f", "Ֆ", "և", "long ascii Text 0123"}
	rng := rand.New(rand.NewPCG(1, 2))
	for name, l := range tables {
		table := l.table()()
		compare := func(s string) {
			before, _, _ := strings.Cut(s, "\x00")
			want := l.all(wellFormed(before))
			if got := table.text([]byte("before"), s); string(got) != "before"+want {
				t.Fatalf("%s of %q: %q, want %q", name, s, got, want)
			}
		}
		for r := range rune(0x20000) {
			compare(string(r))
		}
		for range 20000 {
			var s strings.Builder
			for range rng.IntN(8) {
				s.WriteString(pieces[rng.IntN(len(pieces))])
			}
			compare(s.String())
		}
	}
}

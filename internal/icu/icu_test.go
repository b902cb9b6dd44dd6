package icu

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"
)

// TestDecodeUTF8TakesTheLongestBeginning compares with a search: an error is as long
// as the longest text that some bytes would complete to a character, or one byte.
func TestDecodeUTF8TakesTheLongestBeginning(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lead := []byte{'a', 0x7F, 0x80, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0x8F, 0x90, 0x9F, 0xA0}
	for range 20000 {
		b := make([]byte, 1+r.IntN(4))
		for i := range b {
			b[i] = lead[r.IntN(len(lead))]
		}
		c, size, ok := DecodeUTF8(string(b))
		want, n := utf8.DecodeRune(b)
		valid := want != utf8.RuneError || n > 1
		if !valid {
			n = longestBeginning(b)
		}
		if c != want || size != n || ok != valid {
			t.Fatalf("%x: got %U, %d bytes, %t; want %U, %d, %t", b, c, size, ok, want, n, valid)
		}
	}
}

// longestBeginning returns how many bytes of b, one or more, are the beginning of a
// character.
func longestBeginning(b []byte) int {
	for n := min(len(b), 3); n > 1; n-- {
		if completes(b[:n:n]) {
			return n
		}
	}
	return 1
}

func completes(b []byte) bool {
	for x := 0x80; x < 0xC0; x++ {
		c := append(b, byte(x))
		if utf8.Valid(c) && utf8.RuneCount(c) == 1 || len(c) < 4 && completes(c) {
			return true
		}
	}
	return false
}

func TestScript(t *testing.T) {
	const common, latin, han, nagMundari = 0, 25, 17, 199
	for r, want := range map[rune]int32{'a': latin, '1': common, '日': han, 0x1E4D0: nagMundari, -1: InvalidScript, 0x110000: InvalidScript, 0x378: UnknownScript} {
		if got := Script(r); got != want {
			t.Errorf("script of %U is %d, want %d", r, got, want)
		}
	}
}

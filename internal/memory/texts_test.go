package memory

import (
	"strings"
	"testing"
)

func TestTextsStayAsTheyWere(t *testing.T) {
	var texts Texts
	var got, want []string
	b := make([]byte, 0, 300)
	for i := range 500 {
		want = append(want, strings.Repeat(string(rune('a'+i%26)), i*7%300))
		b = append(b[:0], want[i]...)
		got = append(got, texts.Of(b))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("text %d is %q, want %q", i, got[i], want[i])
		}
	}
}

func TestOneTextTakesLittle(t *testing.T) {
	var texts Texts
	for range 3 {
		texts.Of([]byte("short"))
	}
	if n := cap(texts.block); n > 64 {
		t.Errorf("three short texts take %d bytes", n)
	}
	for range 10000 {
		texts.Of([]byte("short"))
	}
	if n := cap(texts.block); n != textBlock {
		t.Errorf("blocks of many texts have %d bytes, want %d", n, textBlock)
	}
}

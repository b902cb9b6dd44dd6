package main

import (
	"io"
	"strings"
	"testing"
)

// The most frequent character, the space, is less than a fifth of the rhyme.
func TestGuessesTheLastVerse(t *testing.T) {
	accuracy, verse, err := run(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if spaces := float64(strings.Count(rhyme, " ")) / float64(len(rhyme)); accuracy < 0.75 || spaces > 0.25 {
		t.Errorf("%.2f of the characters are guessed, %.2f are spaces", accuracy, spaces)
	}
	words, known := strings.Fields(verse), 0
	for _, w := range words {
		if strings.Contains(rhyme, w) {
			known++
		}
	}
	if len(verse) != written || known*10 < len(words)*6 {
		t.Errorf("%d of %d words of %q are the rhyme's", known, len(words), verse)
	}
}

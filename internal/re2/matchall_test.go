package re2

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestMatchAll compares texts that are matched together with each by package regexp, among them some
// that are not UTF-8, more states than there is memory for, and several goroutines.
func TestMatchAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 1500 {
		expr := randomExpr(rng, 3)
		if rng.IntN(2) == 0 {
			expr = whole(expr)
		}
		texts := make([]string, rng.IntN(12))
		for i := range texts {
			texts[i] = randomText(rng)
		}
		testMatchAll(t, expr, texts)
	}
	testMatchAll(t, "[ab]*a[ab]{16}c", []string{strings.Repeat("ab", 1<<12), strings.Repeat("ba", 1<<13), manyStates(rng), manyStates(rng) + "c"})
}

// manyStates is a text whose automaton has more states than there is memory for.
func manyStates(rng *rand.Rand) string {
	b := make([]byte, 1<<14)
	for i := range b {
		b[i] = "ab"[rng.IntN(2)]
	}
	return string(b)
}

func testMatchAll(t *testing.T, expr string, texts []string) {
	t.Helper()
	p, err := Compile(expr)
	if err != nil {
		t.Fatal(expr, err)
	}
	re, want := regexp.MustCompile(expr), make([]bool, len(texts))
	for i, s := range texts {
		want[i] = re.MatchString(s)
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			got := make([]bool, len(texts))
			if p.MatchAll(got, texts); !slices.Equal(got, want) {
				t.Errorf("%q matches %.200q: %v, want %v", expr, fmt.Sprint(texts), got, want)
			}
		})
	}
	all.Wait()
}

// Bytes that are not UTF-8 match nothing in either of two texts.
func TestMatchAllOfOtherBytes(t *testing.T) {
	p, err := CompileWhole(".*")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]bool, 5)
	p.MatchAll(got, []string{"a\xff", "b", "c", "\xff", "é"})
	if want := []bool{false, true, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

package re2

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMatchesAreThoseOfRegexp compares random expressions in random texts with package
// regexp.
func TestMatchesAreThoseOfRegexp(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	quick := 0
	for range 4000 {
		expr := randomExpr(rng, 3)
		p, err := Compile(expr)
		if err != nil {
			t.Fatal(expr, err)
		}
		if p.auto() != nil {
			quick++
		}
		for range 8 {
			compareMatches(t, p, expr, randomText(rng), rng.IntN(4)-1)
		}
	}
	if quick < 2000 {
		t.Errorf("only %d expressions have an automaton", quick)
	}
}

func compareMatches(t *testing.T, p *Pattern, expr, text string, most int) {
	t.Helper()
	re := regexp.MustCompile(expr)
	if got, want := p.Match(text), re.MatchString(text); got != want {
		t.Fatalf("%q matches %q: %t, want %t", expr, text, got, want)
	}
	for _, groups := range []bool{false, true} {
		var want []int
		for _, m := range re.FindAllStringSubmatchIndex(text, most) {
			if !groups {
				m = m[:2]
			}
			want = append(want, m...)
		}
		if got := p.Matches(nil, text, most, groups); !slices.Equal(got, want) {
			t.Fatalf("%d of %q in %q, groups %t: %v, want %v", most, expr, text, groups, got, want)
		}
	}
}

// randomExpr returns an expression of some depth.
func randomExpr(rng *rand.Rand, depth int) string {
	if depth == 0 {
		leaves := []string{"a", "b", "ab", "é", "[ab]", "[^a]", ".", `\w`, `(?i)B`, "^", "$", `\A`, `\z`, "", `[b-é]`, `(?s).`, `\b`}
		n := len(leaves)
		if rng.IntN(8) > 0 {
			n-- // no \b
		}
		return leaves[rng.IntN(n)]
	}
	x := randomExpr(rng, depth-1)
	switch rng.IntN(6) {
	case 0:
		return "(?:" + x + "|" + randomExpr(rng, depth-1) + ")"
	case 1:
		return "(" + x + ")"
	case 2:
		return "(?:" + x + ")" + []string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}?"}[rng.IntN(8)]
	}
	return x + randomExpr(rng, depth-1)
}

func randomText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(12) {
		b.WriteString([]string{"a", "b", "B", "a", "é", "\n", "c"}[rng.IntN(7)])
	}
	return b.String()
}

// TestLongTextsAreNotSlow tries what would look at the rest of a text from each of its
// characters on, and more states than there is memory for.
func TestLongTextsAreNotSlow(t *testing.T) {
	long := strings.Repeat("ab", 1<<14)
	for _, expr := range []string{"(?:ab)*c|b(?:ab)*d", "[ab]*a[ab]{12}c", "a[ab]{200}b", "(a|b)+$", "a$"} {
		p, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		compareMatches(t, p, expr, long, -1)
	}
}

// TestConcurrentTexts builds an automaton by several texts at once.
func TestConcurrentTexts(t *testing.T) {
	p, err := Compile(`([a-e]+|é[^b]*)\d`)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	for i := range 4 {
		go func() {
			rng := rand.New(rand.NewPCG(uint64(i), 0))
			for range 200 {
				p.Matches(nil, randomText(rng)+"1"+randomText(rng), -1, true)
			}
			done <- true
		}()
	}
	for range 4 {
		<-done
	}
}

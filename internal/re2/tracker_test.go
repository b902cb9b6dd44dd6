package re2

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTrackedGroups compares groups of random matches with those that package regexp finds.
func TestTrackedGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	tracked, lost := 0, 0
	for range 20000 {
		expr := randomExpr(rng, 4)
		p, err := Compile(expr)
		if err != nil {
			t.Fatal(expr, err)
		}
		if a := p.auto(); a == nil || !a.plain || p.Groups() == 0 || p.track() == nil {
			continue
		}
		tracked++
		for range 8 {
			s := randomText(rng)
			m := p.plain.FindStringIndex(s)
			if m == nil {
				continue
			}
			s = s[m[0]:m[1]]
			want := p.within().FindStringSubmatchIndex(s)[2:]
			got, ok := p.track().groups([]int{7}, s, 0)
			if !ok {
				lost++
			}
			if ok && !slices.Equal(got[1:], want) || got[0] != 7 || !ok && len(got) != 1 {
				t.Fatalf("groups of %q in %q: %v, want %v", expr, s, got[1:], want)
			}
		}
	}
	if tracked < 500 || lost == 0 || lost > tracked {
		t.Errorf("%d expressions are tracked, %d matches were not", tracked, lost)
	}
}

// TestTrackers knows what can be tracked.
func TestTrackers(t *testing.T) {
	optional := func(n int) (all string) {
		for i := range n {
			all += string(rune(0x4E00+2*i)) + "?"
		}
		return all + "(x)"
	}
	for expr, want := range map[string]bool{
		`(\w+)@(\w+)\.com`: true, `(a)|(b)`: true, `((a)|b)*c`: true, `(?i)(k+)x`: true, `(é+)[^é]`: true,
		`(a|abc)b?`: false, `(a*)*`: false, `(.*)@(.*)`: false, `(a?)(a?)`: false,
		strings.Repeat("(a)", 12): true, strings.Repeat("(a)", 13): false, "(a{200})": true, "(a{260})": false,
		optional(60): true, optional(120): false,
	} {
		p, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		if a := p.auto(); a != nil && (p.track() != nil) != want || a == nil && want {
			t.Errorf("%.40q is tracked: %t, want %t", expr, !want, want)
		}
	}
}

// TestSeek compares what is looked for from each place on with attempts at all places.
func TestSeek(t *testing.T) {
	rng, found := rand.New(rand.NewPCG(11, 12)), 0
	for range 4000 {
		expr := randomExpr(rng, 3)
		p, err := Compile(expr)
		if err != nil {
			t.Fatal(expr, err)
		}
		a := p.auto()
		if a == nil {
			continue
		}
		s := randomText(rng) + randomText(rng) + randomText(rng)
		for at := 0; at <= len(s); at++ {
			if at < len(s) && !utf8.RuneStart(s[at]) {
				continue
			}
			steps := 1 << 20
			want, _ := a.try(s, at, &steps)
			if got := a.seek(s, at); got > want || got < 0 != (want < 0) || got >= 0 && got < at {
				t.Fatalf("%q in %q from %d on begins at %d or behind, want %d", expr, s, at, got, want)
			} else if got == want && want > at {
				found++
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d places were found by looking once", found)
	}
}

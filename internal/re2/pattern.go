// Package re2 runs regular expressions as RE2 does: package regexp, which has the
// same syntax, reads text that is not UTF-8 in another way and names errors in
// other words.
package re2

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// A Pattern is a regular expression that, like RE2, matches no byte that does not
// belong to a character in UTF-8. Package regexp takes such a byte for U+FFFD.
type Pattern struct {
	plain  *regexp.Regexp
	strict func() *regexp.Regexp // without U+FFFD, for text that is not UTF-8
	auto   func() *automaton     // which is faster, or nil
	within func() *regexp.Regexp // of a match, for its groups, or nil
	track  func() *tracker       // which finds them faster, or nil
}

// Compile compiles an expression. Describe has RE2's words for its errors.
func Compile(expr string) (*Pattern, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	auto := sync.OnceValue(func() *automaton { return newAutomaton(expr) })
	return &Pattern{
		re, sync.OnceValue(func() *regexp.Regexp { return withoutReplacement(expr, re) }),
		auto,
		sync.OnceValue(func() *regexp.Regexp {
			whole, err := regexp.Compile(whole(expr))
			if err != nil {
				return nil
			}
			return whole
		}),
		sync.OnceValue(func() *tracker { return newTracker(auto().prog, re.NumSubexp()) }),
	}, nil
}

// CompileWhole compiles an expression that has to match all of a text.
func CompileWhole(expr string) (*Pattern, error) {
	if _, err := syntax.Parse(expr, syntax.Perl); err != nil {
		return nil, err
	}
	return Compile(whole(expr))
}

func whole(expr string) string { return `\A(?:` + expr + `)\z` }

// stepsPerByte is how much of a text an automaton looks at before another way is taken:
// it begins anew at each place where a match might begin.
const stepsPerByte = 32

// Match reports whether the expression matches in s.
func (p *Pattern) Match(s string) bool {
	if a := p.auto(); a != nil && utf8.ValidString(s) {
		if found, known := a.matchesIn(s, a.seeks[1], 0); known {
			return found
		}
	}
	return p.For(s).MatchString(s)
}

// MatchAll sets y to Match of each text.
func (p *Pattern) MatchAll(y []bool, texts []string) {
	i := 0
	if a := p.auto(); a != nil {
		for ; i+1 < len(texts); i += 2 {
			s, t := texts[i], texts[i+1]
			if !utf8.ValidString(s) || !utf8.ValidString(t) {
				y[i], y[i+1] = p.Match(s), p.Match(t)
				continue
			}
			here, there, at := walkTwo(a.seeks[1], a.seeks[1], s, t)
			var known, both bool
			y[i], known = a.matchesIn(s, here, at)
			if y[i+1], both = a.matchesIn(t, there, at); !known || !both {
				y[i], y[i+1] = p.For(s).MatchString(s), p.For(t).MatchString(t)
			}
		}
	}
	for ; i < len(texts); i++ {
		y[i] = p.Match(texts[i])
	}
}

// Matches appends to dst where the matches in s are, as many as most unless that is
// negative: for each where it begins and ends and, with groups, the same of all its groups.
func (p *Pattern) Matches(dst []int, s string, most int, groups bool) []int {
	n, size := len(dst), 2
	if groups = groups && p.Groups() > 0; groups {
		size *= 1 + p.Groups()
	}
	if a := p.auto(); a != nil && utf8.ValidString(s) && (!groups || a.plain && p.within() != nil) {
		var ok bool
		if dst, ok = p.quickMatches(a, dst, s, most, groups); ok {
			return dst
		}
	}
	dst = dst[:n]
	for _, m := range p.For(s).FindAllStringSubmatchIndex(s, most) {
		dst = append(dst, m[:size]...)
	}
	return dst
}

// quickMatches is Matches by an automaton. It is not ok if that is too slow. Of matches
// of nothing it takes those that package regexp takes.
func (p *Pattern) quickMatches(a *automaton, dst []int, s string, most int, groups bool) (_ []int, ok bool) {
	steps := stepsPerByte * (len(s) + 1)
	for at, last := 0, -1; at <= len(s) && most != 0; {
		from, to := a.find(s, at, &steps)
		if to < 0 {
			return dst, to != endless
		}
		accept := to != at || from != last
		if last = to; to > at {
			at = to
		} else {
			_, size := utf8.DecodeRuneInString(s[at:])
			at += max(size, 1)
		}
		if !accept {
			continue
		}
		most--
		if dst = append(dst, from, to); groups {
			dst = p.appendGroups(dst, s[from:to], from)
		}
	}
	return dst, true
}

// appendGroups appends where the groups of a match s are that begins at a place.
func (p *Pattern) appendGroups(dst []int, s string, begin int) []int {
	if t := p.track(); t != nil {
		if out, ok := t.groups(dst, s, begin); ok {
			return out
		}
	}
	m := p.within().FindStringSubmatchIndex(s)
	for _, at := range m[2:] {
		if at >= 0 {
			at += begin
		}
		dst = append(dst, at)
	}
	return dst
}

// For returns the expression for a text.
func (p *Pattern) For(s string) *regexp.Regexp {
	if utf8.ValidString(s) {
		return p.plain
	}
	return p.strict()
}

// Groups returns how many groups the expression captures.
func (p *Pattern) Groups() int { return p.plain.NumSubexp() }

// withoutReplacement compiles expr so that it does not match U+FFFD, which text
// that is not UTF-8 hardly has beside its wrong bytes. An expression that has no
// such form stays what it is.
func withoutReplacement(expr string, plain *regexp.Regexp) *regexp.Regexp {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return plain
	}
	dropReplacement(tree)
	if re, err := regexp.Compile(tree.String()); err == nil {
		return re
	}
	return plain
}

func dropReplacement(re *syntax.Regexp) {
	for _, sub := range re.Sub {
		dropReplacement(sub)
	}
	ranges := re.Rune
	switch re.Op {
	case syntax.OpLiteral:
		if slices.Contains(ranges, utf8.RuneError) {
			re.Op, re.Rune = syntax.OpNoMatch, nil
		}
		return
	case syntax.OpAnyChar:
		ranges = []rune{0, utf8.MaxRune}
	case syntax.OpAnyCharNotNL:
		ranges = []rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune}
	case syntax.OpCharClass:
	default:
		return
	}
	re.Op, re.Rune = syntax.OpCharClass, nil
	for i := 0; i < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if lo > utf8.RuneError || hi < utf8.RuneError {
			re.Rune = append(re.Rune, lo, hi)
			continue
		}
		if lo < utf8.RuneError {
			re.Rune = append(re.Rune, lo, utf8.RuneError-1)
		}
		if hi > utf8.RuneError {
			re.Rune = append(re.Rune, utf8.RuneError+1, hi)
		}
	}
}

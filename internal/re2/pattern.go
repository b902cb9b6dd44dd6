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
}

// Compile compiles an expression. Describe has RE2's words for its errors.
func Compile(expr string) (*Pattern, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	return &Pattern{re, sync.OnceValue(func() *regexp.Regexp { return withoutReplacement(expr, re) })}, nil
}

// CompileWhole compiles an expression that has to match all of a text.
func CompileWhole(expr string) (*Pattern, error) {
	if _, err := syntax.Parse(expr, syntax.Perl); err != nil {
		return nil, err
	}
	return Compile(`\A(?:` + expr + `)\z`)
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

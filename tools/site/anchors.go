package main

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// anchors names headings as GitHub does, so that links work in both places.
type anchors map[string]bool

// Generate returns the name of a heading: lower case, without punctuation, with hyphens
// for spaces, and with a number if there is one of that name already.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(string(heading)))
	free := name
	for i := 1; a[free]; i++ {
		free = name + "-" + strconv.Itoa(i)
	}
	a[free] = true
	return []byte(free)
}

// Put marks a name as taken.
func (a anchors) Put(name []byte) { a[string(name)] = true }

// Package measure counts lines and functions of source files.
package measure

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Source is what hand-written files have.
type Source struct {
	Files                  int
	Lines, Blank, Comments int   // Comments: lines with nothing but a comment
	Functions              []int // the lines of each, its first and last included; not of those without a body
}

// Add counts a file.
func (s *Source) Add(set *token.FileSet, f *ast.File, src []byte) {
	s.Files++
	for line := range strings.Lines(string(src)) {
		s.Lines++
		switch line = strings.TrimSpace(line); {
		case line == "":
			s.Blank++
		case strings.HasPrefix(line, "//"):
			s.Comments++
		}
	}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			s.Functions = append(s.Functions, set.Position(d.End()).Line-set.Position(d.Pos()).Line+1)
		}
	}
}

// CommentShare returns how many of the lines that are not blank are comments, in percent.
func (s *Source) CommentShare() float64 {
	return 100 * float64(s.Comments) / float64(s.Lines-s.Blank)
}

// Share returns how many lines a share of the functions, from 0 to 1, has at most. There
// must be functions.
func (s *Source) Share(of float64) int {
	slices.Sort(s.Functions)
	return s.Functions[int(of*float64(len(s.Functions)-1))]
}

package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// refusals are the words by which the doc of a function of an op says what it refuses,
// or what it takes.
var refusals = regexp.MustCompile(`(?i:\b(fails?|errors?|must|refuses?|refused|allowed|at least|at most|limits?)\b)|\b[A-Z]+_[A-Z]+\b`)

// TestOpDocsSayWhatIsRefused: the doc of an op's function says what
// makes the graph, or the step, fail.
func TestOpDocsSayWhatIsRefused(t *testing.T) {
	seen := 0
	for dir, files := range sources(t) {
		if !strings.HasPrefix(dir, "tf/ops") {
			continue
		}
		for _, file := range files {
			for _, f := range opFunctions(t, file) {
				seen++
				if !refusals.MatchString(f.Doc.Text()) {
					t.Errorf("%s: the doc of %s must say what is refused, with which code", filepath.ToSlash(file), f.Name.Name)
				}
			}
		}
	}
	if seen < 1000 {
		t.Errorf("%d functions of ops are documented, want more than 1000", seen)
	}
}

// opFunctions returns the exported functions of a hand-written file.
func opFunctions(t *testing.T, file string) (all []*ast.FuncDecl) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if ast.IsGenerated(f) {
		return nil
	}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.IsExported() {
			all = append(all, d)
		}
	}
	return all
}

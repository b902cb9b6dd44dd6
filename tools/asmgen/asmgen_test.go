package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommittedFiles fails when the package's files are not what the
// generator writes now.
func TestCommittedFiles(t *testing.T) {
	if err := run("../../internal", true); err != nil {
		t.Error(err)
	}
}

func TestGenerateIsRepeatable(t *testing.T) {
	dir := t.TempDir()
	for _, f := range families {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(f.name)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(dir, false); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err != nil {
		t.Error(err)
	}
	path := filepath.Join(dir, "kernel", "cpuid_amd64.s")
	if err := os.WriteFile(path, []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a changed file is reported as %v", err)
	}
}

func TestNoVectorIsCopiedToItself(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	copied := 0
	for name, data := range files {
		for line := range strings.Lines(string(data)) {
			words := strings.Fields(strings.ReplaceAll(line, ",", " "))
			if len(words) != 3 || words[0] != "VMOVUPS" && words[0] != "VMOVAPS" || !strings.HasPrefix(words[1], "Z") {
				continue
			}
			if copied++; words[1] == words[2] {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	if copied == 0 {
		t.Error("no copies at all")
	}
}

// TestEveryFileIsGuarded looks for the build constraint and, in functions that
// use vector registers, for the instruction that cleans them at the end.
func TestEveryFileIsGuarded(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		text := string(data)
		if !strings.Contains(text, "//go:build !noasm") {
			t.Errorf("%s has no build constraint", name)
		}
		noVectors := name == "kernel/cpuid_amd64.s" || name == "kernel/prefetch_amd64.s" || name == "kernel/subnormal_amd64.s"
		if noVectors || !strings.HasSuffix(name, ".s") {
			continue
		}
		if ends, cleaned := strings.Count(text, "\tRET\n"), strings.Count(text, "\tVZEROUPPER\n\tRET\n"); ends != cleaned {
			t.Errorf("%s: %d of %d functions clean the vector registers", name, cleaned, ends)
		}
	}
}

// TestNoMapIsRangedOver: the order of a map differs from run to run, and with it would
// what is generated. It looks for ranges over what is declared to be a map, by name.
func TestNoMapIsRangedOver(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset, files := token.NewFileSet(), []*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if bad := rangesOverMaps(fset, files); bad != nil {
		t.Errorf("ranges over maps: %v", bad)
	}
	f, err := parser.ParseFile(fset, "bad.go", "package p\nfunc f(m map[int]int) { for range m {} }", 0)
	if err != nil || len(rangesOverMaps(fset, []*ast.File{f})) != 1 {
		t.Errorf("a range over a map is not found: %v", err)
	}
}

func rangesOverMaps(fset *token.FileSet, files []*ast.File) (bad []string) {
	maps := map[string]bool{}
	isMap := func(x ast.Expr) bool {
		switch x := x.(type) {
		case *ast.MapType:
			return true
		case *ast.CompositeLit:
			_, is := x.Type.(*ast.MapType)
			return is
		}
		return false
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				for _, id := range n.Names {
					maps[id.Name] = maps[id.Name] || isMap(n.Type)
				}
			case *ast.AssignStmt:
				for i, x := range n.Lhs {
					if id, ok := x.(*ast.Ident); ok && len(n.Rhs) == len(n.Lhs) && isMap(n.Rhs[i]) {
						maps[id.Name] = true
					}
				}
			}
			return true
		})
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			r, ok := n.(*ast.RangeStmt)
			if !ok {
				return true
			}
			name := ""
			switch x := r.X.(type) {
			case *ast.Ident:
				name = x.Name
			case *ast.SelectorExpr:
				name = x.Sel.Name
			}
			if maps[name] || isMap(r.X) {
				bad = append(bad, fset.Position(r.Pos()).String())
			}
			return true
		})
	}
	return bad
}

// TestAlignedLoops: the innermost loops are aligned, neither what is around them nor what only jumps ahead.
func TestAlignedLoops(t *testing.T) {
	const code = "TEXT ·f(SB)\n\tJZ end\nouter:\ninner:\n\tJZ after\n\tJNZ inner\nafter:\n\tJNZ outer\nend:\n\tRET\nTEXT ·g(SB)\nend:\n\tJMP  end\n"
	want := strings.NewReplacer("inner:", "\tPCALIGN $64\ninner:", "\nend:\n\tJMP", "\n\tPCALIGN $64\nend:\n\tJMP").Replace(code)
	if got := string(aligned([]byte(code))); got != want {
		t.Errorf("aligned:\n%s\nwant:\n%s", got, want)
	}
}

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

// opaque are aliases whose values programs only hand on.
var opaque = map[string]bool{"tf/cluster.RDMADevice": true}

// TestAliasesSayWhatTheyHold: the documentation of a package shows of a type of an internal
// package no more than its name. The comment of an alias therefore names all of its fields, or
// methods.
func TestAliasesSayWhatTheyHold(t *testing.T) {
	all, found := sources(t), 0
	for pkg, files := range all {
		if !strings.HasPrefix(pkg, "tf/") || pkg == "tf/core" || strings.HasPrefix(pkg, "tf/pb") {
			continue
		}
		for _, file := range files {
			eachType(t, file, func(f *ast.File, s *ast.TypeSpec, doc string) {
				if !s.Assign.IsValid() || !s.Name.IsExported() || opaque[pkg+"."+s.Name.Name] {
					return
				}
				for _, name := range membersOf(t, all, f, s) {
					found++
					if !regexp.MustCompile(`\b` + name + `\b`).MatchString(doc) {
						t.Errorf("%s: the comment of %s must name %s, which its documentation does not show", filepath.ToSlash(file), s.Name.Name, name)
					}
				}
			})
		}
	}
	if found < 40 {
		t.Errorf("%d fields and methods of aliases were found, want 40 and more", found)
	}
}

// eachType calls f for each type that a file declares.
func eachType(t *testing.T, file string, f func(in *ast.File, s *ast.TypeSpec, doc string)) {
	t.Helper()
	in, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range in.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			for _, s := range g.Specs {
				s := s.(*ast.TypeSpec)
				f(in, s, g.Doc.Text()+s.Doc.Text())
			}
		}
	}
}

// membersOf returns the exported fields, or the methods, of the internal type that an alias in
// a file stands for in the end.
func membersOf(t *testing.T, all map[string][]string, f *ast.File, s *ast.TypeSpec) (names []string) {
	sel, ok := s.Type.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	pkg := importNames(f)[sel.X.(*ast.Ident).Name]
	for _, file := range all[pkg] {
		eachType(t, file, func(f *ast.File, s *ast.TypeSpec, _ string) {
			switch typ := s.Type.(type) {
			case *ast.SelectorExpr:
				if s.Name.Name == sel.Sel.Name && s.Assign.IsValid() {
					names = membersOf(t, all, f, s)
				}
			case *ast.StructType:
				if s.Name.Name == sel.Sel.Name && strings.HasPrefix(pkg, "internal/") {
					names = namesOf(typ.Fields)
				}
			case *ast.InterfaceType:
				if s.Name.Name == sel.Sel.Name && strings.HasPrefix(pkg, "internal/") {
					names = namesOf(typ.Methods)
				}
			}
		})
	}
	return names
}

func namesOf(list *ast.FieldList) (names []string) {
	for _, f := range list.List {
		for _, n := range f.Names {
			if n.IsExported() {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestExportedTypesCanBeNamed checks that what packages below tf export asks for and
// returns nothing whose type a program cannot write, because it is declared in an
// internal package. An alias gives such a type a name.
func TestExportedTypesCanBeNamed(t *testing.T) {
	for pkg, files := range sources(t) {
		if pkg != "tf" && !strings.HasPrefix(pkg, "tf/") {
			continue
		}
		for _, file := range files {
			for _, leak := range unnamable(t, file, nil) {
				t.Errorf("%s: a type of an internal package is part of what package %s exports", leak, pkg)
			}
		}
	}
}

func TestUnnamableTypesAreFound(t *testing.T) {
	const head = "package p\nimport \"example.com/internal/in\"\n"
	for src, want := range map[string]int{
		"func F() in.T { return 0 }":               1,
		"func f() in.T { return 0 }":               0,
		"func F() { var x in.T; _ = x }":           0,
		"type T struct { A in.T; b in.T }":         1,
		"type T struct { in.T }":                   1,
		"type T struct { B []map[string]*in.T }":   1,
		"type T interface { M(in.T) }":             1,
		"type t interface { M(in.T) }":             0,
		"type T = in.T":                            0,
		"type T in.T":                              1,
		"type t int\nfunc (t) M() in.T":            0,
		"type T[E any] int\nfunc (*T[E]) M() in.T": 1,
		"var V in.T":                               1,
		"func F(func(in.T) error)":                 1,
	} {
		if got := unnamable(t, "p.go", []byte(head+src)); len(got) != want {
			t.Errorf("%q: found %v, want %d", src, got, want)
		}
	}
}

// unnamable returns where a file's exported declarations use types of internal
// packages. src, if not nil, is what stands in the file.
func unnamable(t *testing.T, file string, src any) []string {
	t.Helper()
	if b, ok := src.([]byte); ok && b == nil {
		src = nil
	}
	u := &unnamed{fset: token.NewFileSet()}
	f, err := parser.ParseFile(u.fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	u.internal = internalNames(f)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
				u.search(d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				u.spec(s)
			}
		}
	}
	return u.found
}

// internalNames returns by which names a file knows packages that are internal.
func internalNames(f *ast.File) (names []string) {
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		switch {
		case err != nil || !strings.Contains(p, "/internal/"):
		case i.Name != nil:
			names = append(names, i.Name.Name)
		default:
			names = append(names, path.Base(p))
		}
	}
	return names
}

// receiver returns the name of a receiver's type.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// unnamed collects uses of internal types.
type unnamed struct {
	fset     *token.FileSet
	internal []string
	found    []string
}

func (u *unnamed) spec(s ast.Spec) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && !s.Assign.IsValid() {
			u.search(s.Type)
		}
	case *ast.ValueSpec:
		if s.Type != nil && slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
			u.search(s.Type)
		}
	}
}

// search looks into a type but for fields of structs that are not exported.
func (u *unnamed) search(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			for _, f := range n.Fields.List {
				if f.Names == nil || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
					u.search(f.Type)
				}
			}
			return false
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && slices.Contains(u.internal, id.Name) {
				u.found = append(u.found, u.fset.Position(n.Pos()).String()+": "+id.Name+"."+n.Sel.Name)
			}
		}
		return true
	})
}

package archtest

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateAPI = flag.Bool("update-api", false, "write the list of what the public packages export")

const apiFile = "../../docs/api.txt"

// TestAPI compares what the packages below tf export with docs/api.txt, so that a
// change of it is seen in the diff. A name that goes also needs a line in
// docs/renamed.md.
func TestAPI(t *testing.T) {
	var lines []string
	all := sources(t)
	for _, pkg := range slices.Sorted(maps.Keys(all)) {
		if pkg != "tf" && !strings.HasPrefix(pkg, "tf/") || strings.Contains(pkg, "/internal") {
			continue
		}
		if strings.HasPrefix(pkg, "tf/pb") {
			continue // generated from TensorFlow's .proto files
		}
		var own []string
		for _, file := range all[pkg] {
			own = append(own, exported(t, file, nil)...)
		}
		slices.Sort(own)
		for _, line := range slices.Compact(own) {
			lines = append(lines, pkg+": "+line)
		}
	}
	got := strings.Join(lines, "\n") + "\n"
	if *updateAPI {
		if err := os.WriteFile(apiFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(apiFile)
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range missing(lines, listed) {
		t.Errorf("not in docs/api.txt (go test ./internal/archtest -update-api): %s", line)
	}
	for _, line := range missing(listed, lines) {
		t.Errorf("docs/api.txt lists what is gone: %s", line)
	}
}

// missing returns what of a is not in b.
func missing(a, b []string) (out []string) {
	there := map[string]bool{}
	for _, line := range b {
		there[line] = true
	}
	for _, line := range a {
		if !there[line] {
			out = append(out, line)
		}
	}
	return out
}

func TestExportedDeclarationsAreFound(t *testing.T) {
	const src = `package p
func F(a, b int) (err error) { return nil }
func f() {}
type T struct { A, b int; C string }
func (t *T) M() {}
func (t *u) M() {}
type u int
type I interface { M(x int); n() }
type G[E any] = []E
const A, b = 1, 2
var V = 3
var W map[string]int
`
	want := []string{"func F(a, b int) (err error)", "type T struct", "type T struct: A int", "type T struct: C string", "func (t *T) M()",
		"type I interface", "type I interface: M(x int)", "type G[E any] = []E", "const A", "var V", "var W map[string]int"}
	if got := exported(t, "p.go", []byte(src)); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// exported returns a line for each exported declaration of a file, for each field and
// for each method of an interface. src, if not nil, is what stands in the file.
func exported(t *testing.T, file string, src []byte) []string {
	t.Helper()
	if src == nil {
		linux := build.Context{GOOS: "linux", GOARCH: "amd64", Compiler: "gc"}
		if ok, err := linux.MatchFile(filepath.Split(file)); err != nil || !ok {
			return nil // of another system
		}
		var err error
		if src, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
				out = append(out, text(&ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type}))
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				out = append(out, exportedSpec(d.Tok, s)...)
			}
		}
	}
	return out
}

func exportedSpec(tok token.Token, s ast.Spec) (out []string) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			out = exportedType(s)
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if !name.IsExported() {
				continue
			}
			line := tok.String() + " " + name.Name
			if s.Type != nil {
				line += " " + text(s.Type)
			}
			out = append(out, line)
		}
	}
	return out
}

// exportedType returns the lines of a type.
func exportedType(s *ast.TypeSpec) []string {
	head := "type " + s.Name.Name
	if s.TypeParams != nil {
		// The printer writes type parameters as part of a declaration only.
		params := text(&ast.FuncDecl{Name: ast.NewIdent("f"), Type: &ast.FuncType{TypeParams: s.TypeParams, Params: &ast.FieldList{}}})
		head += strings.TrimSuffix(strings.TrimPrefix(params, "func f"), "()")
	}
	if s.Assign.IsValid() {
		head += " ="
	}
	var fields *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		head, fields = head+" struct", t.Fields
	case *ast.InterfaceType:
		head, fields = head+" interface", t.Methods
	default:
		return []string{head + " " + text(t)}
	}
	out := []string{head}
	for _, f := range fields.List {
		out = append(out, exportedField(head, f)...)
	}
	return out
}

func exportedField(head string, f *ast.Field) (out []string) {
	kind := text(f.Type)
	if len(f.Names) == 0 {
		return []string{head + ": " + kind} // embedded
	}
	for _, name := range f.Names {
		if !name.IsExported() {
			continue
		}
		if _, method := f.Type.(*ast.FuncType); method && strings.HasSuffix(head, "interface") {
			out = append(out, fmt.Sprintf("%s: %s%s", head, name.Name, strings.TrimPrefix(kind, "func")))
			continue
		}
		out = append(out, fmt.Sprintf("%s: %s %s", head, name.Name, kind))
	}
	return out
}

// text returns a node as one line of source.
func text(n ast.Node) string {
	var b bytes.Buffer
	if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, token.NewFileSet(), n); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

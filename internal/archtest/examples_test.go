package archtest

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// silent lists the exported types for which an example would show nothing, with
// the reason.
var silent = map[string]string{
	"tf/optest.Sample": "is written in the tests of operations, and needs TensorFlow's values in a file beside it",
}

// beginnings are the functions and methods that programs begin with, by
// docs/tutorial and docs/from-python.md. A method is written ".Name".
var beginnings = strings.Fields(`
tf.NewGraph tf.NewVariable tf.InitializeAll tf.Variables tf.Name tf.OnDevice tf.Group
tf.Scalar tf.FromSlice tf.NewTensor tf.Data tf.Values tf.Adopt
tf.Gradients tf.CustomGradient tf.Cond tf.Case tf.While tf.NewFunction tf.CodeOf
tf/ops.Const tf/ops.Scalar tf/ops.Placeholder tf/ops.MatMul tf/ops.Concat tf/ops.Stack tf/ops.Split tf/ops.Gather
tf/ops.Reshape tf/ops.Transpose tf/ops.Shape tf/ops.Cast tf/ops.OneHot tf/ops.Relu tf/ops.Conv2D tf/ops.MapFn tf/ops.EmbeddingLookup
tf/ops.SparseSoftmaxCrossEntropyWithLogits
tf/session.New tf/session.Fetch tf/session.FetchAs tf/session.Target tf/session.Interactive .Run .MakeCallable
tf/eager.New tf/eager.Record tf/eager.NewFunc
tf/data.FromTensorSlices tf/data.TFRecord tf/data.Range .Map .Batch .Shuffle
tf/layers.Dense tf/layers.Conv2D tf/layers.Dropout tf/layers.BatchNorm tf/layers.Embedding
tf/losses.MeanSquaredError tf/losses.SparseSoftmaxCrossEntropy tf/metrics.Accuracy
.Minimize tf/train.Minimize tf/train.NewSaver tf/train.LatestCheckpoint tf/train.GlobalStep
tf/train.MonitoredTrainingSession tf/train.NewCoordinator tf/train.StartQueueRunners
tf/summary.NewFileWriter tf/vars.Get tf/vars.Scope
tf/savedmodel.Load tf/savedmodel.SimpleSave
tf/cluster.NewServer tf/cluster.Local tf/cluster.ParseSpec
`)

// TestTypesHaveExamples demands for each exported type of a public package an Example
// with output: one of the type's name in its own package, or one that uses the type.
func TestTypesHaveExamples(t *testing.T) {
	shown := collectExamples(t)
	for _, name := range exportedTypes(t) {
		reason, excused := silent[name]
		switch {
		case excused && shown.types[name]:
			t.Errorf("%s is excused from an example (%s) and has one", name, reason)
		case !excused && !shown.types[name]:
			t.Errorf("%s stands in no Example function with output", name)
		}
	}
}

// TestBeginningsHaveExamples demands an Example with output that calls what programs
// begin with.
func TestBeginningsHaveExamples(t *testing.T) {
	shown := collectExamples(t)
	if len(beginnings) < 60 || len(slices.Compact(slices.Sorted(slices.Values(beginnings)))) != len(beginnings) {
		t.Errorf("%d names, some of them twice: at least 60 are wanted, each once", len(beginnings))
	}
	for _, name := range beginnings {
		if !shown.calls[name] {
			t.Errorf("%s is called in no Example function with output", name)
		}
	}
}

func TestExamplesAreRead(t *testing.T) {
	const src = `package p_test
import (
	"fmt"
	other "github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf"
)
type mine struct{ other.BaseHook }
func (mine) Begin(tf.Graph) {}
func help() tf.Option { return nil }
func Example() { fmt.Println(mine{}, tf.Data[int32](nil)) // Output: 1
}
func ExampleT() { x.Run() // Output: 1
}
func ExampleU_part() { help() // Output:
}
func ExampleSilent() { fmt.Println(other.Gate{}) }
func TestF() { fmt.Println(other.Scaffold{}) }
`
	f, err := parser.ParseFile(token.NewFileSet(), "p_test.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	got := newShown()
	got.read("tf/p", []*ast.File{f})
	wantTypes := []string{"fmt.Println", "tf.Data", "tf.Graph", "tf.Option", "tf/p.T", "tf/p.U", "tf/train.BaseHook"}
	if got := slices.Sorted(maps.Keys(got.types)); !slices.Equal(got, wantTypes) {
		t.Errorf("got  %q\nwant %q", got, wantTypes)
	}
	wantCalls := []string{".Run", "fmt.Println", "tf.Data"}
	if got := slices.Sorted(maps.Keys(got.calls)); !slices.Equal(got, wantCalls) {
		t.Errorf("got  %q\nwant %q", got, wantCalls)
	}
}

// exportedTypes returns the exported types of the public packages as
// "package.Type", sorted.
func exportedTypes(t *testing.T) (out []string) {
	t.Helper()
	for pkg, files := range sources(t) {
		if !public(pkg) {
			continue
		}
		for _, file := range files {
			for _, line := range exported(t, file, nil) {
				name, ok := strings.CutPrefix(line, "type ")
				if !ok || strings.Contains(name, ": ") {
					continue // no type, or a field
				}
				end := strings.IndexFunc(name, func(r rune) bool { return r == ' ' || r == '[' })
				out = append(out, pkg+"."+name[:end])
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// public reports whether users read the documentation of a package: the messages of
// TensorFlow's protocols and what only our tests need are left out.
func public(pkg string) bool {
	return (pkg == "tf" || strings.HasPrefix(pkg, "tf/")) && !strings.Contains(pkg, "/internal") &&
		!strings.HasPrefix(pkg, "tf/pb") && pkg != "tf/ops/probe"
}

// shown is what the examples show.
type shown struct {
	types map[string]bool // "package.Name" of what examples name, or are named after
	calls map[string]bool // "package.Func" and ".Method" of what they call
}

func newShown() *shown { return &shown{map[string]bool{}, map[string]bool{}} }

// collectExamples reads the examples of all packages.
func collectExamples(t *testing.T) *shown {
	t.Helper()
	out := newShown()
	for dir, files := range testFiles(t) {
		byPackage := map[string][]*ast.File{}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			byPackage[f.Name.Name] = append(byPackage[f.Name.Name], f)
		}
		for _, fs := range byPackage {
			out.read(dir, fs)
		}
	}
	return out
}

// testFiles returns the test files of the module that Linux builds, by directory.
func testFiles(t *testing.T) map[string][]string {
	t.Helper()
	linux := build.Context{GOOS: "linux", GOARCH: "amd64", Compiler: "gc"}
	out := map[string][]string{}
	err := filepath.WalkDir(filepath.Join(root, "tf"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		if ok, err := linux.MatchFile(filepath.Split(name)); err != nil || !ok {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		out[filepath.ToSlash(rel)] = append(out[filepath.ToSlash(rel)], name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// read adds what the examples of a package show, together with the package's own
// declarations that they use: a hook's methods cannot stand in a function's body.
func (s *shown) read(dir string, files []*ast.File) {
	decls := map[string][]useful{}
	for _, f := range files {
		names := importNames(f)
		for _, d := range f.Decls {
			for _, name := range declared(d) {
				decls[name] = append(decls[name], useful{d, names, fieldNames(d)})
			}
		}
	}
	for _, e := range doc.Examples(files...) {
		if e.Output == "" && !e.EmptyOutput {
			continue // is compiled, not run
		}
		typ, _, _ := strings.Cut(e.Name, "_")
		s.types[dir+"."+typ] = typ != ""
		s.visit("Example"+e.Name, decls, map[string]bool{})
	}
	maps.DeleteFunc(s.types, func(_ string, v bool) bool { return !v })
}

// useful is a declaration with the import paths of its file's names.
type useful struct {
	decl    ast.Decl
	imports map[string]string
	fields  map[*ast.Ident]bool
}

// visit adds what the declarations of a name use.
func (s *shown) visit(name string, decls map[string][]useful, seen map[string]bool) {
	if seen[name] {
		return
	}
	seen[name] = true
	for _, u := range decls[name] {
		ast.Inspect(u.decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if pkg, ok := u.qualified(n); ok {
					s.types[pkg+"."+n.Sel.Name] = true
				}
			case *ast.CallExpr:
				s.call(u, n.Fun)
			case *ast.Ident:
				if !u.local(n) {
					s.visit(n.Name, decls, seen)
				}
			}
			return true
		})
	}
}

// call adds what a call calls.
func (s *shown) call(u useful, f ast.Expr) {
	switch x := f.(type) {
	case *ast.IndexExpr:
		f = x.X
	case *ast.IndexListExpr:
		f = x.X
	}
	sel, ok := f.(*ast.SelectorExpr)
	if !ok {
		return
	}
	pkg, _ := u.qualified(sel)
	s.calls[pkg+"."+sel.Sel.Name] = true
}

// qualified returns the package of pkg.Name, below this module.
func (u useful) qualified(s *ast.SelectorExpr) (pkg string, ok bool) {
	if x, isIdent := s.X.(*ast.Ident); isIdent {
		pkg, ok = u.imports[x.Name]
	}
	return pkg, ok
}

// local reports whether a name is a field, a method or what the declaration itself
// declares: it then is not the name of a declaration of the package.
func (u useful) local(n *ast.Ident) bool {
	if u.fields[n] {
		return true
	}
	if n.Obj == nil {
		return false
	}
	pos := n.Obj.Pos()
	return u.decl.Pos() < pos && pos < u.decl.End() && !slices.Contains(declared(u.decl), n.Name)
}

// fieldNames returns the identifiers of a declaration that follow a dot or are keys of
// literals.
func fieldNames(d ast.Decl) map[*ast.Ident]bool {
	out := map[*ast.Ident]bool{}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			out[n.Sel] = true
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok {
				out[key] = true
			}
		}
		return true
	})
	return out
}

// declared returns the names that a declaration is found by; methods belong to their
// type.
func declared(d ast.Decl) (out []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			return []string{receiver(d.Recv.List[0].Type)}
		}
		return []string{d.Name.Name}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				out = append(out, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					out = append(out, n.Name)
				}
			}
		}
	}
	return out
}

// importNames returns the packages that a file imports by the names they have in it.
func importNames(f *ast.File) map[string]string {
	out := map[string]string{}
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		out[name] = strings.TrimPrefix(p, module+"/")
	}
	return out
}

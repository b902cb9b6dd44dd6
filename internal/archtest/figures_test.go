package archtest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/archtest/measure"
	"github.com/gorge-tf/gorge/tf/core"
)

var tree = flag.String("tree", root, "the tree that TestFigures counts")

// methods are those of TensorFlow's WorkerService, which both trees serve.
var methods = strings.Fields("CreateWorkerSession DeleteWorkerSession RegisterGraph DeregisterGraph RunGraph CleanupGraph CleanupAll RecvTensor RecvBuf Logging Tracing CompleteGroup CompleteInstance GetStepSequence")

// figures are the sums over the files of a tree.
type figures struct {
	measure.Source
	tree     string
	literals int            // that equal names of ops, outside of tf/ops and of programs
	ops      map[string]int // how many files name each op
	rpcs     map[string]int // how often each method is declared or its name written
}

// TestFigures counts what docs/decisions/0008-figures.md shows of a tree. Tests, generated
// files and modules below tools are left out. The names of ops are those of this module,
// whichever tree is counted.
func TestFigures(t *testing.T) {
	f := &figures{tree: *tree, ops: map[string]int{}, rpcs: map[string]int{}}
	if err := filepath.WalkDir(f.tree, f.visit); err != nil {
		t.Fatal(err)
	}
	if f.Files == 0 || len(f.ops) == 0 || len(f.rpcs) == 0 {
		t.Errorf("%s has %d files, which name %d ops and %d methods, want some of each", f.tree, f.Files, len(f.ops), len(f.rpcs))
	}
	t.Log(f)
}

// visit adds one file.
func (f *figures) visit(path string, d fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case d.IsDir() && (d.Name() == ".git" || d.Name() == "tools" || d.Name() == "testdata"):
		return filepath.SkipDir
	case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
		return nil
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(file) {
		return err
	}
	f.Add(fset, file, source)
	rel, err := filepath.Rel(f.tree, path)
	if err != nil {
		return err
	}
	f.names(filepath.ToSlash(rel), file)
	return nil
}

// names counts names of ops and of methods.
func (f *figures) names(path string, file *ast.File) {
	outside := !slices.ContainsFunc([]string{"tf/ops/", "tf/optest/", "internal/gen/", "bench/", "examples/", "docs/", "interop/"}, func(p string) bool { return strings.HasPrefix(path, p) })
	here := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			s, err := strconv.Unquote(n.Value)
			if n.Kind != token.STRING || err != nil {
				break
			}
			f.method(s[strings.LastIndexByte(s, '/')+1:], path)
			if core.Lookup(s) != nil {
				here[s] = true
				if outside {
					f.literals++
				}
			}
		case *ast.FuncDecl:
			f.method(n.Name.Name, path)
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				for _, name := range m.Names {
					f.method(name.Name, path)
				}
			}
		}
		return true
	})
	for op := range here {
		f.ops[op]++
	}
}

// method counts a place that names a method, where servers and clients are.
func (f *figures) method(name, path string) {
	if strings.HasPrefix(path, "internal/") && !strings.HasPrefix(path, "internal/gen/") && slices.Contains(methods, name) {
		f.rpcs[name]++
	}
}

// String is what the page shows.
func (f *figures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "files %d\nfunctions %d\nlines of a function: median %d, 90th percentile %d\n", f.Files, len(f.Functions), f.Share(0.5), f.Share(0.9))
	fmt.Fprintf(&b, "comment lines %.1f %%\n", f.CommentShare())
	fmt.Fprintf(&b, "literals that equal names of ops outside of registrations %d\n", f.literals)
	fmt.Fprintf(&b, "files that name an op, mean %.2f\nplaces that name a method, mean %.2f", mean(f.ops), mean(f.rpcs))
	return b.String()
}

func mean(counts map[string]int) float64 {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return float64(sum) / float64(max(len(counts), 1))
}

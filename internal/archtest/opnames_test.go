package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops/all" // registers
)

// tablesOfOps are the files outside of tf/ops that ask which op a node has, with the
// number of names that they may hold and the reason. What a property of an op decides
// is a core.Role or a core.Trait of its registration, which an op of a program's own
// has as well; what is left rewrites particular ops, or follows TensorFlow's own lists.
var tablesOfOps = map[string]struct {
	names  int
	reason string
}{
	"internal/collective/merge.go":  {5, "the merge_op of a collective is the name of an op, by TensorFlow's protocol"},
	"internal/dataset/flatmap.go":   {2, "texts for errors, the names that TensorFlow gives"},
	"internal/fuse/window.go":       {5, "what each cuts or joins is said by operands of its own"},
	"internal/pass/arithmetic.go":   {4, "each row is a rewrite of its op"},
	"internal/pass/collectives.go":  {2, "orders reductions only, as TensorFlow does"},
	"internal/pass/colocate.go":     {1, "may take resources of several devices"},
	"internal/pass/controlloop.go":  {2, "exceptions from what their role does, with the reason there"},
	"internal/pass/deadbranch.go":   {1, "a dead Switch only is followed, which takes no reference"},
	"internal/pass/dependency.go":   {1, "makes NoOps of nodes"},
	"internal/pass/readlate.go":     {2, "rewrites Enter to RefEnter"},
	"internal/pass/shape.go":        {4, "each is computed from shapes in its own way"},
	"tf/constvalue.go":              {4, "each is evaluated in its own way"},
	"tf/functionloop.go":            {4, "the pairs that a loop's gradient looks for"},
	"tf/gradient_history.go":        {1, "passes by what only hands on, references, too"},
	"tf/savedmodel/foldnorm.go":     {1, "adds placeholders"},
	"tf/savedmodel/freeze.go":       {4, "each is rewritten to one that reads a tensor"},
	"tf/savedmodel/freezetables.go": {6, "by which operation each kind of table is filled"},
	"tf/savedmodel/upgrade.go":      {1, "each signature of an old release is upgraded in its own way"},
	"tf/session/session.go":         {2, "whose texts name a C++ type"},
	"tf/train/saverasync.go":        {3, "rewrites the nodes of a Saver"},
}

// TestOpsAreToldByTheirProperties compares the names of ops that code compares nodes
// with, has in tables or in cases, with what is allowed.
func TestOpsAreToldByTheirProperties(t *testing.T) {
	total := 0
	for pkg, files := range sources(t) {
		if strings.HasPrefix(pkg, "tf/ops") || strings.HasPrefix(pkg, "internal/gen") || strings.HasPrefix(pkg, "bench") || strings.HasPrefix(pkg, "examples") || strings.HasPrefix(pkg, "docs") {
			continue
		}
		for _, file := range files {
			names := comparedOps(t, file)
			total += len(names)
			have := strings.TrimPrefix(file, root+"/")
			if allowed := tablesOfOps[have]; len(names) > allowed.names {
				t.Errorf("%s has %d names of ops, %d are allowed (%s): make what they have in common a trait of their registration: %v", have, len(names), allowed.names, allowed.reason, names)
			}
		}
	}
	allowed := 0
	for f := range maps.Values(tablesOfOps) {
		allowed += f.names
	}
	t.Logf("%d names of ops are compared outside of tf/ops, %d are allowed", total, allowed)
}

// comparedOps returns the names of ops in a file that are operands of == and !=, in
// case clauses, keys of maps, elements of lists, or arguments of methods called is.
func comparedOps(t *testing.T, file string) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	note := func(xs ...ast.Expr) {
		for _, x := range xs {
			if b, ok := x.(*ast.BasicLit); ok && b.Kind == token.STRING {
				if s, err := strconv.Unquote(b.Value); err == nil && core.Lookup(s) != nil {
					names = append(names, s)
				}
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			note(n.X, n.Y)
		case *ast.CaseClause:
			note(n.List...)
		case *ast.KeyValueExpr:
			note(n.Key)
		case *ast.CompositeLit:
			note(n.Elts...)
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "is" {
				note(n.Args...)
			}
		}
		return true
	})
	slices.Sort(names)
	return names
}

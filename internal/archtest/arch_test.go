// Package archtest keeps the import graph in the shape that ARCHITECTURE.md
// draws.
package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/gorge-tf/gorge"
	root   = "../.."
)

// layers lists our packages from the bottom up. A package imports only packages
// of earlier layers. An entry that ends in /... stands for a whole subtree,
// whose packages may import each other.
var layers = [][]string{
	{"internal/invariants", "internal/leaktest", "internal/authoring", "internal/method", "internal/archtest/measure"},
	{"internal/memory", "internal/numeric", "internal/hash", "internal/machine", "internal/re2", "internal/icu"},
	{"internal/kernel/...", "internal/threads", "internal/resource", "internal/random", "internal/wire/...", "internal/stablehlo", "internal/inbound"},
	{"internal/link", "internal/imagefile/..."},
	{"tf/pb"},
	{"internal/options", "tf/pb/servingpb"},
	{"tf/core"},
	{"internal/handle", "internal/queue", "internal/rows", "internal/changes", "internal/bundle", "internal/sample", "internal/graph", "internal/device", "internal/requestid", "internal/secure/...", "tf/record"},
	{"internal/graph/graphtext", "internal/dataset", "internal/device/fake", "internal/rendezvous/...", "internal/pass/...", "internal/liveness", "internal/stepstats", "internal/collective"},
	{"internal/executor", "internal/recompute", "internal/fuse", "internal/rowblocks"},
	{"internal/step"},
	{"internal/worker", "internal/master"},
	{"tf"},
	{"tf/author"},
	{"tf/tftest", "tf/example", "tf/summary", "internal/graph/source"},
	{"tf/ops/..."},
	{"internal/direct"},
	{"internal/eagerservice"},
	{"internal/rpc/..."},
	{"internal/verbs/...", "internal/telemetry"},
	{"tf/session", "tf/eager", "tf/initializers/..."},
	{"tf/optest"},
	{"tf/timeline", "tf/vars", "internal/remote"},
	{"tf/cluster/...", "tf/train/...", "tf/layers", "tf/losses", "tf/metrics", "tf/image", "tf/data", "tf/dense/...", "tf/savedmodel"},
	{"tf/rnn", "tf/feature", "internal/serving/...", "internal/statuspage", "internal/chaos"},
	{"tf/estimator/...", "tf/serving/..."},
	{"docs/...", "examples/...", "cmd/...", "bench/...", "interop/...", "internal/endurance", "internal/gen/...", "internal/archtest", "."},
}

// never lists what a package must not link, whatever the layer and whatever imports
// it: the parts of a program that someone does not use must not be in it.
var never = map[string][]string{
	"internal/worker":       {"internal/verbs", grpc},
	"internal/master":       {"internal/worker", grpc},
	"internal/eagerservice": {grpc},
	"internal/direct":       {grpc},
	"tf":                    {grpc},
	"tf/core":               {grpc},
	"tf/session":            {"internal/rpc", grpc},
	"tf/eager":              {grpc},
	"tf/ops/all":            {grpc},
	"tf/data":               {grpc},
	"tf/layers":             {grpc},
	"tf/rnn":                {grpc},
	"tf/feature":            {grpc},
	"tf/savedmodel":         {grpc},
	"tf/estimator":          {"tf/cluster", grpc},
	"tf/cluster/client":     {"internal/worker", "internal/master", "internal/eagerservice", "internal/verbs", "tf/ops/all"},
	"tf/train":              {"tf/train/live", "github.com/guptarohit/asciigraph", "golang.org/x/term", grpc},
}

const grpc = "google.golang.org/grpc"

// observers are what only programs link that serve metrics and traces: neither
// sessions in process nor those on a cluster, nor servers in programs of others.
var observers = []string{"github.com/prometheus", "go.opentelemetry.io", "internal/telemetry", "internal/statuspage"}

// observed are the packages that must not link observers.
var observed = []string{"tf", "tf/core", "tf/session", "tf/cluster", "tf/ops/all", "tf/train"}

// TestForbiddenPackagesAreNotLinked looks at all that packages import, by whatever way.
func TestForbiddenPackagesAreNotLinked(t *testing.T) {
	all := maps.Clone(never)
	for _, from := range observed {
		all[from] = slices.Concat(all[from], observers)
	}
	p := parsed(t)
	for from, bad := range all {
		linked := p.linked(from)
		if len(linked) < 3 {
			t.Errorf("%s links %d packages only", from, len(linked))
		}
		for imp, way := range linked {
			if slices.ContainsFunc(bad, func(b string) bool { return imp == b || strings.HasPrefix(imp, b+"/") }) {
				t.Errorf("%s must never link %s: %s", from, imp, way)
			}
		}
	}
}

// TestLinkedFollowsImports: what is imported by another package is found, too.
func TestLinkedFollowsImports(t *testing.T) {
	p := imported{"a": {"b"}, "b": {"c", "example.com/x"}, "c": {"a"}}
	linked := p.linked("a")
	if got := slices.Sorted(maps.Keys(linked)); !slices.Equal(got, []string{"a", "b", "c", "example.com/x"}) {
		t.Errorf("a links %v", got)
	}
	if way := linked["example.com/x"]; way != "a → b → example.com/x" {
		t.Errorf("a links example.com/x by %s", way)
	}
}

// imported is what packages import, ours without the name of the module.
type imported map[string][]string

func parsed(t *testing.T) imported {
	t.Helper()
	out := imported{}
	for pkg, files := range sources(t) {
		for _, file := range files {
			for _, imp := range imports(t, file) {
				out[pkg] = append(out[pkg], strings.TrimPrefix(imp, module+"/"))
			}
		}
	}
	return out
}

// linked returns what a package imports, directly or by others, with a way there.
func (p imported) linked(from string) map[string]string {
	out, queue := map[string]string{}, []string{from}
	way := map[string]string{from: from}
	for len(queue) > 0 {
		pkg := queue[0]
		queue = queue[1:]
		for _, imp := range p[pkg] {
			if _, seen := out[imp]; seen {
				continue
			}
			if way[imp] == "" {
				way[imp] = way[pkg] + " → " + imp
			}
			out[imp] = way[imp]
			queue = append(queue, imp)
		}
	}
	return out
}

// layerOf returns the layer of a package and the entry that names it.
func layerOf(pkg string) (int, string) {
	for l, entries := range layers {
		for _, e := range entries {
			tree, isTree := strings.CutSuffix(e, "/...")
			if pkg == e || isTree && (pkg == tree || strings.HasPrefix(pkg, tree+"/")) {
				return l, e
			}
		}
	}
	return -1, ""
}

// sources returns the files of the module, of all build tags, by package.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root {
			base := d.Name()
			_, modErr := os.Stat(filepath.Join(name, "go.mod"))
			if strings.HasPrefix(base, ".") || base == "testdata" || modErr == nil {
				return filepath.SkipDir
			}
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			rel, err := filepath.Rel(root, filepath.Dir(name))
			if err != nil {
				return err
			}
			pkg := path.Clean(filepath.ToSlash(rel))
			out[pkg] = append(out[pkg], name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func imports(t *testing.T, file string) (out []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

func TestImportsGoUpwardsOnly(t *testing.T) {
	pkgs := sources(t)
	if len(pkgs) < 10 {
		t.Fatalf("found %d packages only", len(pkgs))
	}
	for pkg, files := range pkgs {
		l, entry := layerOf(pkg)
		if l < 0 {
			t.Errorf("%s is in no layer: say in layers (and ARCHITECTURE.md) where it belongs", pkg)
			continue
		}
		for _, file := range files {
			for _, imp := range imports(t, file) {
				check(t, file, pkg, imp, l, entry)
			}
		}
	}
}

func check(t *testing.T, file, pkg, imp string, l int, entry string) {
	t.Helper()
	dep, ours := strings.CutPrefix(imp, module+"/")
	if !ours {
		return
	}
	dl, dentry := layerOf(dep)
	sameTree := dentry == entry && strings.HasSuffix(entry, "/...")
	if dl >= l && !sameTree {
		t.Errorf("%s imports %s, which is not below %s", file, dep, pkg)
	}
}

// TestEveryEntryExists keeps the table free of what has gone, apart from
// packages that are planned: those have to be named in ARCHITECTURE.md.
func TestEveryEntryExists(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entries := range layers {
		for _, e := range entries {
			dir := strings.TrimSuffix(e, "/...")
			if _, err := os.Stat(filepath.Join(root, dir)); err != nil && !strings.Contains(string(text), dir) {
				t.Errorf("layer entry %s does not exist and is not planned", e)
			}
		}
	}
}

// TestRuleCatchesViolations: a check that cannot fail is none.
func TestRuleCatchesViolations(t *testing.T) {
	for _, c := range []struct {
		pkg, imp string
		ok       bool
	}{
		{"tf", "internal/memory", true}, {"internal/memory", "tf", false}, {"tf/session", "tf/cluster", false},
		{"tf/pb", "internal/wire/record", true}, {"internal/worker", "internal/master", false},
	} {
		l, e := layerOf(c.pkg)
		dl, de := layerOf(c.imp)
		if ok := dl < l || de == e && strings.HasSuffix(e, "/..."); ok != c.ok {
			t.Errorf("%s importing %s: allowed is %v, want %v", c.pkg, c.imp, ok, c.ok)
		}
	}
}

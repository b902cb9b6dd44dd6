package gorge_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocListsPackages: doc.go names every package that programs import. Those below
// tf/ops are named together.
func TestDocListsPackages(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//   - ([^:]+):`).FindAllStringSubmatch(string(text), -1) {
		for _, name := range strings.Split(m[1], ", ") {
			named[name] = true
		}
	}
	for name := range packages(t) {
		if !named[name] && !strings.HasPrefix(name, "tf/ops/") {
			t.Errorf("doc.go does not name package %s", name)
		}
		delete(named, name)
	}
	for name := range named {
		t.Errorf("doc.go names package %s, which is not there", name)
	}
}

// packages returns the directories of tf and cmd that have sources.
func packages(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, root := range []string{"tf", "cmd"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.Contains(filepath.ToSlash(name), "/testdata/") {
				out[filepath.ToSlash(filepath.Dir(name))] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

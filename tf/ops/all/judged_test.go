package all_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

const repository = "../../.."

var word = regexp.MustCompile(`\w+`)

// testsByWord says in which tests a word stands: files of Go, and programs in Python
// that run beside Gorge.
func testsByWord(t *testing.T) map[string][]string {
	t.Helper()
	tests := map[string][]string{}
	err := filepath.WalkDir(repository, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != repository:
			return filepath.SkipDir
		case d.IsDir(), !strings.HasSuffix(name, "_test.go") && !strings.Contains(filepath.ToSlash(name), "/testdata/") || !slices.Contains([]string{".go", ".py"}, filepath.Ext(name)):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(repository, name)
		if err != nil {
			return err
		}
		words := word.FindAllString(string(text), -1)
		slices.Sort(words)
		for _, w := range slices.Compact(words) {
			tests[w] = append(tests[w], filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

// judges says by op, of those without values of TensorFlow's, which test has it: one of
// its own package, if there is any.
func judges(t *testing.T, golden map[string]bool) map[string]string {
	t.Helper()
	all, out := testsByWord(t), map[string]string{}
	for _, name := range core.OpNames() {
		if golden[name] {
			continue
		}
		files := all[name]
		if len(files) == 0 {
			t.Errorf("op %s has no values that TensorFlow has computed, and no test names it", name)
			continue
		}
		_, dir, _ := strings.Cut(core.Lookup(name).Package(), "github.com/gorge-tf/gorge/")
		out[name] = files[max(0, slices.IndexFunc(files, func(f string) bool { return filepath.Dir(f) == dir }))]
	}
	return out
}

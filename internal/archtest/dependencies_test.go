package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const dependencyPage = "docs/decisions/0004-dependencies.md"

// TestDependenciesHaveReasons: each direct dependency of go.mod has a line, with a
// reason, in the first table of the page, and each line a dependency.
func TestDependenciesHaveReasons(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, dependencyPage))
	if err != nil {
		t.Fatal(err)
	}
	required, reasons := directly(string(mod)), reasonsOf(string(page))
	if len(required) < 5 {
		t.Fatalf("go.mod requires %v only", required)
	}
	for _, m := range required {
		if len(strings.Fields(reasons[m])) < 2 {
			t.Errorf("%s needs a line with its reason in %s, it has %q", m, dependencyPage, reasons[m])
		}
		delete(reasons, m)
	}
	for m := range reasons {
		t.Errorf("%s explains %s, which go.mod does not require", dependencyPage, m)
	}
}

// directly returns the modules that a go.mod requires itself.
func directly(mod string) (out []string) {
	line := regexp.MustCompile(`(?m)^(?:require )?\s*([\w.-]+\.[\w.-]+/\S+) v\S+( // indirect)?$`)
	for _, m := range line.FindAllStringSubmatch(mod, -1) {
		if m[2] == "" {
			out = append(out, m[1])
		}
	}
	slices.Sort(out)
	return out
}

// reasonsOf returns the last column of the first table, by the module that the first
// column names.
func reasonsOf(page string) map[string]string {
	_, page, _ = strings.Cut(page, "## Dependencies\n")
	page, _, _ = strings.Cut(page, "\n## ")
	out := map[string]string{}
	for l := range strings.Lines(page) {
		cells := strings.Split(l, "|")
		if len(cells) == 5 && strings.Contains(cells[1], "`") {
			out[strings.Trim(cells[1], " `")] = strings.TrimSpace(cells[3])
		}
	}
	return out
}

func TestDirectlyAndReasonsOf(t *testing.T) {
	mod := "module m\n\ngo 1.26\n\nrequire a.org/x v1.2.3\n\nrequire (\n\tb.org/y/v2 v2.0.0\n\tc.org/z v0.1.0 // indirect\n)\n"
	if got := directly(mod); !slices.Equal(got, []string{"a.org/x", "b.org/y/v2"}) {
		t.Errorf("direct are %v", got)
	}
	page := "## Dependencies\n| module | where | why |\n|---|---|---|\n| `a.org/x` | here | it is good |\n\n## By hand\n| `b` | c | d |\n"
	if got := reasonsOf(page); len(got) != 1 || got["a.org/x"] != "it is good" {
		t.Errorf("reasons are %v", got)
	}
}

// TestOraclesAreRun: .ci/run finds the packages that compare with TensorFlow by the
// text with which their tests are skipped where there is none.
func TestOraclesAreRun(t *testing.T) {
	const found = "GORGE_TF_PYTHON names no Python"
	ci, err := os.ReadFile(filepath.Join(root, ".ci/run"))
	if err != nil || !strings.Contains(string(ci), found) {
		t.Errorf(".ci/run must look for %q: %v", found, err)
	}
	for _, dir := range []string{"internal", "tf", "cmd", "examples", "interop"} {
		for _, file := range testFilesIn(t, filepath.Join(root, dir)) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := string(b)
			if strings.Contains(text, `Getenv("GORGE_TF_PYTHON")`) && regexp.MustCompile(`\bSkipf?\(`).MatchString(text) && !strings.Contains(text, found) {
				t.Errorf("%s must say %q where it is skipped, or .ci/run does not give it TensorFlow", file, found)
			}
		}
	}
}

func testFilesIn(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(name, "_test.go") {
			out = append(out, name)
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("%s has %d tests: %v", dir, len(out), err)
	}
	return out
}

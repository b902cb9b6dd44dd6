package train_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPorts: docs/ported-tests.md names tests that there are.
func TestPorts(t *testing.T) {
	table, err := os.ReadFile("../../docs/ported-tests.md")
	if err != nil {
		t.Fatal(err)
	}
	where := map[string]string{"": ".", "interop ": "../../interop", "tf ": ".."}
	have := map[string]string{}
	for prefix, dir := range where {
		have[prefix] = sourceOf(t, dir)
	}
	rows := 0
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.Contains(cells[1], ".test") {
			continue
		}
		rows++
		tests := regexp.MustCompile(`(interop |tf )?(Test\w+)`).FindAllStringSubmatch(cells[2], -1)
		if len(tests) == 0 && !strings.HasPrefix(cells[2], " — ") {
			t.Errorf("neither a test nor a reason: %s", line)
		}
		for _, m := range tests {
			if !strings.Contains(have[m[1]], "func "+m[2]+"(") {
				t.Errorf("there is no %s in %s: %s", m[2], where[m[1]], line)
			}
		}
	}
	if rows != 315 { // as many as the six files of TensorFlow 2.21 have
		t.Errorf("%d rows, want 315", rows)
	}
}

// sourceOf returns the tests of a package.
func sourceOf(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

package rnn_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPorts: testdata/ports.md names tests that there are.
func TestPorts(t *testing.T) {
	table, err := os.ReadFile("testdata/ports.md")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{"": sourceOf(t, "."), "ops/rnn ": sourceOf(t, "../ops/rnn")}
	rows := 0
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.Contains(cells[1], ".test") {
			continue
		}
		rows++
		tests := regexp.MustCompile(`(ops/rnn )?(Test\w+)`).FindAllStringSubmatch(cells[2], -1)
		if len(tests) == 0 && !strings.HasPrefix(cells[2], " — ") {
			t.Errorf("neither a test nor a reason: %s", line)
		}
		for _, m := range tests {
			if !strings.Contains(have[m[1]], "func "+m[2]+"(") {
				t.Errorf("there is no %s: %s", m[0], line)
			}
		}
	}
	if rows < 137 {
		t.Errorf("only %d rows", rows)
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

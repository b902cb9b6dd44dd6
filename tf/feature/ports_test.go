package feature_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPorts: testdata/ports.md names tests that there are, and rows of their tables
// and models of the walk.
func TestPorts(t *testing.T) {
	table, err := os.ReadFile("testdata/ports.md")
	if err != nil {
		t.Fatal(err)
	}
	sources := sourcesOf(t)
	rows := 0
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.Contains(cells[1], ".test") {
			continue
		}
		rows++
		if strings.HasPrefix(cells[2], " — ") {
			continue
		}
		name, details, _ := strings.Cut(strings.TrimSpace(cells[2]), ": ")
		if !strings.Contains(sources, "func "+name+"(t *testing.T)") {
			t.Errorf("there is no %s: %s", name, line)
		}
		if name != "TestWalk" && name != "TestMistakes" || strings.HasPrefix(details, "the ") {
			continue
		}
		details, _, _ = strings.Cut(details, ": ")
		for _, d := range regexp.MustCompile(`[,;] `).Split(details, -1) {
			if d != "" && !strings.Contains(sources, `"`+d+`":`) {
				t.Errorf("%s has no %q: %s", name, d, line)
			}
		}
	}
	if rows < 320 {
		t.Errorf("only %d rows", rows)
	}
}

// sourcesOf returns the tests of the package.
func sourcesOf(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
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

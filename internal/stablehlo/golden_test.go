package stablehlo

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the texts of the artifacts in testdata anew")

// artifacts returns the names of the artifacts that testdata/make.py made.
func artifacts(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.bc")
	if err != nil || len(names) < 9 {
		t.Fatalf("got %d artifacts, %v", len(names), err)
	}
	return names
}

func load(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestGolden: what JAX wrote reads as the texts beside it, which were compared with
// what JAX prints.
func TestGolden(t *testing.T) {
	for _, name := range artifacts(t) {
		m, err := Read(load(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text := strings.TrimSuffix(name, "bc") + "txt"
		if *update {
			if err := os.WriteFile(text, []byte(m.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := m.String(), string(load(t, text)); got != want {
			t.Errorf("%s reads as\n%s\nwant\n%s", name, got, want)
		}
		if !strings.HasPrefix(m.Producer, "StableHLO_v1.") {
			t.Errorf("%s: produced by %q", name, m.Producer)
		}
	}
}

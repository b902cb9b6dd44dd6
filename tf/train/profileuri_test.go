package train_test

import (
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf/train"
)

// TestProfilerURI: traces go where the URI of a directory says, as events do.
func TestProfilerURI(t *testing.T) {
	dir := t.TempDir()
	g, _, next := counting()
	m := monitored(t, g, &train.ProfilerHook{SaveSteps: 2, OutputDir: "file://" + dir})
	for range 5 {
		if _, err := m.Run(t.Context(), nil, next); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "timeline-*.json")); len(files) != 2 {
		t.Error(files)
	}
}

package estimator_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
)

// TestExportWithoutExtra: a model whose extra files cannot be copied is not exported.
func TestExportWithoutExtra(t *testing.T) {
	base := t.TempDir()
	missing := estimator.ExportOptions{AssetsExtra: map[string]string{"notes": filepath.Join(base, "missing")}}
	if _, err := trainedLine(t).ExportSavedModel(t.Context(), base, serveX, missing); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(base); err != nil || len(left) != 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

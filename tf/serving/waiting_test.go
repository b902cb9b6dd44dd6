package serving

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
)

// TestReadyNamesWhatIsMissing: a wait that ends says which model has no version, and where
// its versions were looked for.
func TestReadyNamesWhatIsMissing(t *testing.T) {
	base := filepath.Join(t.TempDir(), "none")
	s, err := New(Config{Models: []Model{{Name: "m", BasePath: models(t, 1)}, {Name: "late", BasePath: base}}, Poll: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	err = s.Ready(ctx)
	if tf.CodeOf(err) != tf.DeadlineExceeded || !strings.Contains(err.Error(), "late (of "+base+")") || !strings.HasPrefix(err.Error(), "DEADLINE_EXCEEDED: context deadline exceeded: ") {
		t.Errorf("got %v, want the model's name and directory", err)
	}
}

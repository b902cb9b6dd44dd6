package train_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf/train"
)

// TestWaitAfterTheSave: the end of the caller's context does not hide what became of a
// save.
func TestWaitAfterTheSave(t *testing.T) {
	g := model(1)
	saver, s := newSaver(t, g, train.SaverOptions{}), begin(t, g, true)
	p, err := saver.SaveAsync(t.Context(), s, filepath.Join(t.TempDir(), "m"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 64 {
		if path, err := p.Wait(ctx); err != nil || filepath.Base(path) != "m" {
			t.Fatalf("got %q, %v", path, err)
		}
	}
}

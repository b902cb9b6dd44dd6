package core_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gorge-tf/gorge/tf/core"
)

// pipe makes a named pipe.
func pipe(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type contents struct {
	text string
	err  error
}

// reading reads a file and sends what it holds.
func reading(ctx context.Context, path string) <-chan contents {
	c := make(chan contents, 1)
	go func() {
		text, err := core.ReadFile(ctx, path)
		c <- contents{text, err}
	}()
	return c
}

// writer opens a pipe as soon as it has a reader.
func writer(t *testing.T, path string) *os.File {
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestPipesOfSeveralReaders: the end of one reader's step is not the end of data for
// another that waits for the first writer of the same pipe.
func TestPipesOfSeveralReaders(t *testing.T) {
	path := pipe(t)
	waits := reading(t.Context(), path)
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		ends := reading(ctx, path)
		cancel()
		if c := <-ends; core.CodeOf(c.err) != core.Canceled {
			t.Fatalf("read %q, %v", c.text, c.err)
		}
	}
	w := writer(t, path)
	for _, part := range []string{"a", "", "bc"} {
		if _, err := w.WriteString(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if c := <-waits; c.text != "abc" || c.err != nil {
		t.Errorf("read %q, %v", c.text, c.err)
	}
}

// TestPipesOfSilentWriters: a writer that writes nothing makes an empty file, a step that
// ends between two writes an error.
func TestPipesOfSilentWriters(t *testing.T) {
	path := pipe(t)
	empty := reading(t.Context(), path)
	if err := writer(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if c := <-empty; c.text != "" || c.err != nil {
		t.Errorf("read %q, %v", c.text, c.err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	half := reading(ctx, path)
	w := writer(t, path)
	defer w.Close()
	if _, err := w.WriteString("half"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if c := <-half; core.CodeOf(c.err) != core.Canceled {
		t.Errorf("read %q, %v", c.text, c.err)
	}
}

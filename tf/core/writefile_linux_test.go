package core_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// writing writes a file and sends how that went.
func writing(ctx context.Context, path, text string) <-chan error {
	c := make(chan error, 1)
	go func() { c <- core.WriteFile(ctx, path, text) }()
	return c
}

// longerThanPipes does not fit into the buffer of a pipe.
var longerThanPipes = strings.Repeat("0123456789", 1<<17)

// TestPipesThatAreWritten: a pipe gets all of the text when its reader comes, whether it
// comes before or after the writer.
func TestPipesThatAreWritten(t *testing.T) {
	path := pipe(t)
	for _, text := range []string{"", "abc", longerThanPipes} {
		first := writing(t.Context(), path, text)
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("the reader got %d bytes, %v; want %d", len(got), err, len(text))
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		read := reading(t.Context(), path)
		if err := core.WriteFile(t.Context(), path, text); err != nil {
			t.Error(err)
		}
		if c := <-read; c.text != text || c.err != nil {
			t.Errorf("the reader got %d bytes, %v; want %d", len(c.text), c.err, len(text))
		}
	}
}

// TestWritesOfPipesEnd: a step's end ends the wait for a reader, and for one that is there
// and reads nothing.
func TestWritesOfPipesEnd(t *testing.T) {
	path := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	alone := writing(ctx, path, "abc")
	cancel()
	if err := <-alone; core.CodeOf(err) != core.Canceled {
		t.Error(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	stuck := writing(ctx, path, longerThanPipes)
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-stuck; core.CodeOf(err) != core.Canceled {
		t.Error(err)
	}
}

// TestReaderThatLeaves: a pipe whose reader leaves is FAILED_PRECONDITION, as any broken pipe.
func TestReaderThatLeaves(t *testing.T) {
	path := pipe(t)
	left := writing(t.Context(), path, longerThanPipes)
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-left; core.CodeOf(err) != core.FailedPrecondition {
		t.Error(err)
	}
}

// TestFilesThatAreWritten: what a file held before is gone, or stays if text is added.
func TestFilesThatAreWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"first", "2"} {
		if err := core.WriteFile(t.Context(), path, text); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v, want %q", got, err, text)
		}
	}
	f, err := core.CreateFile(t.Context(), path, os.O_APPEND)
	if err != nil {
		t.Fatal(err)
	}
	if err := core.WriteAndClose(t.Context(), f, "3"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "23" {
		t.Errorf("%q, %v", got, err)
	}
	if err := core.WriteFile(t.Context(), filepath.Dir(path), ""); core.CodeOf(err) != core.FailedPrecondition {
		t.Error(err)
	}
}

// TestRegularFilesOnly: a pipe without a writer is refused, not waited for.
func TestRegularFilesOnly(t *testing.T) {
	if b, err := core.ReadRegular(pipe(t)); core.CodeOf(err) != core.FailedPrecondition {
		t.Errorf("%q, %v", b, err)
	}
	path := filepath.Join(t.TempDir(), "file")
	if _, err := core.ReadRegular(path); core.CodeOf(err) != core.NotFound {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := core.ReadRegular(path); string(b) != "abc" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}

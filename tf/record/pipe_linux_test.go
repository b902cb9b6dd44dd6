package record_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/record"
)

func pipe(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestRecordsGoThroughPipes: writer and reader of a pipe wait for each other.
func TestRecordsGoThroughPipes(t *testing.T) {
	name, want := pipe(t), []string{"one", "", strings.Repeat("three", 30000)}
	written := make(chan error, 1)
	go func() {
		w, err := record.Create(name, record.GZIP)
		for i := 0; err == nil && i < len(want); i++ {
			err = w.Write([]byte(want[i]))
		}
		if err == nil {
			err = w.Close()
		}
		written <- err
	}()
	r, err := record.Open(name, record.GZIP)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := read(t, r); !slices.Equal(got, want) {
		t.Errorf("%d records came through", len(got))
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// TestPipesWithoutReader: the end of ctx ends the wait, and writes to a pipe that is full.
func TestPipesWithoutReader(t *testing.T) {
	name := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := record.CreateContext(ctx, name, record.None); err == nil {
		t.Error("a pipe without a reader is open")
	}
	ctx, cancel = context.WithCancel(t.Context())
	full := make(chan error, 1)
	go func() {
		w, err := record.CreateContext(ctx, name, record.None)
		for err == nil {
			err = w.Write(make([]byte, 1000))
		}
		_ = w.Close()
		full <- err
	}()
	r, err := record.Open(name, record.None)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-full; err == nil {
		t.Error("a pipe that is full takes more")
	}
}

// TestNoIndexOfPipes: what has no places has no index.
func TestNoIndexOfPipes(t *testing.T) {
	if _, err := record.BuildIndex(pipe(t)); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Error(err)
	}
	if _, err := record.OpenIndexed(pipe(t), &record.Index{}); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Error(err)
	}
}

// TestParallelEndsWithContext: the loop over a pipe that no writer opens, or whose writer
// is silent, ends with its context.
func TestParallelEndsWithContext(t *testing.T) {
	name := pipe(t)
	loop := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		var all []error
		for _, err := range record.Parallel(ctx, []string{name}, record.ParallelOptions{}) {
			all = append(all, err)
		}
		if len(all) != 1 {
			return fmt.Errorf("other errors than of the context: %v", all)
		}
		return all[0]
	}
	if err := loop(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without a writer: %v", err)
	}
	w, err := os.OpenFile(name, os.O_RDWR, 0) // which does not wait for a reader
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteString("half"); err != nil {
		t.Fatal(err)
	}
	if err := loop(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a silent writer: %v", err)
	}
}

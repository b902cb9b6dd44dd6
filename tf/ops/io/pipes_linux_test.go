package io_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/io"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/session"
)

func pipe(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestPipeWithinStep: ops of one step that write and read a pipe wait for each other,
// whichever begins.
func TestPipeWithinStep(t *testing.T) {
	g := tf.NewGraph(tf.Strict())
	name := ops.Scalar(g, pipe(t))
	write, read := io.WriteFile(name, ops.Scalar(g, "text")), io.ReadFile(name)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 20 {
		got, err := s.Run(ctx, nil, read, write)
		if err != nil || tf.Data[string](got[0])[0] != "text" {
			t.Fatalf("%v, %v", got, err)
		}
	}
}

// TestWritesEndWithStep: ops that write a pipe without a reader end with their step.
func TestWritesEndWithStep(t *testing.T) {
	g := tf.NewGraph(tf.Strict())
	name := pipe(t)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, op := range []*tf.Operation{
		io.WriteFile(ops.Scalar(g, name), ops.Scalar(g, "text")),
		ops.PrintV2(ops.Scalar(g, "text"), ops.PrintV2Opts{OutputStream: "file://" + name}),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if _, err := s.Run(ctx, nil, op); tf.CodeOf(err) != tf.DeadlineExceeded {
			t.Errorf("%v: %v", op, err)
		}
		cancel()
	}
}

// TestReadsEndWithStep: a read that waits for the writer of a pipe, or for the rest of a
// line, ends with its step, and the next one reads the line.
func TestReadsEndWithStep(t *testing.T) {
	g := tf.NewGraph(tf.Strict())
	name := pipe(t)
	q := queue.FIFOQueueV2(g, []tf.DType{tf.String})
	work := queue.QueueEnqueueV2(q, []tf.Output{ops.Scalar(g, name)})
	_, line := io.ReaderReadV2(io.TextLineReaderV2(g, 0), q)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, work); err != nil {
		t.Fatal(err)
	}
	inVain := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := s.Run(ctx, nil, line); tf.CodeOf(err) != tf.DeadlineExceeded {
			t.Errorf("a line that has no end: %v", err)
		}
	}
	inVain()
	w, err := os.OpenFile(name, os.O_RDWR, 0) // which does not wait for a reader
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, part := range []string{"one ", "line", "\n"} {
		if _, err := w.WriteString(part); err != nil {
			t.Fatal(err)
		}
		if part != "\n" {
			inVain()
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err := s.Run(ctx, nil, line); err != nil || tf.Data[string](got[0])[0] != "one line" {
		t.Errorf("got %v, %v", got, err)
	}
}

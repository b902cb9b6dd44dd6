package data_test

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestWritesOfRecordsEndWithStep: an op that writes records to a pipe without a reader
// ends with its step.
func TestWritesOfRecordsEndWithStep(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph(tf.Strict())
	records := slices(ops.Const(g, []string{"a", "b"}))
	write := tf.Apply(nil, "DatasetToTFRecord", []tf.Output{records.d, ops.Scalar(g, name), ops.Scalar(g, "")})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := s.Run(ctx, nil, write); tf.CodeOf(err) != tf.DeadlineExceeded {
		t.Error(err)
	}
}

package summary_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/summary"
)

// described returns a summary whose tag has metadata.
func described(t *testing.T) string {
	b, err := proto.Marshal(&pb.Summary{Value: []*pb.Summary_Value{{Tag: "x", Metadata: &pb.SummaryMetadata{DisplayName: "X"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSummariesWithoutAFile: a writer that could not make its file refuses events.
func TestSummariesWithoutAFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := summary.NewFileWriter(name)
	if err == nil {
		t.Fatal("a file is a directory")
	}
	if err := w.Summary(1, described(t)); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("got %v, want FAILED_PRECONDITION", err)
	}
}

// TestSummariesWhileReopened: the race detector finds nothing.
func TestSummariesWhileReopened(t *testing.T) {
	w, err := summary.NewFileWriter(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 100 {
			if err := w.Summary(int64(i), described(t)); err != nil && tf.CodeOf(err) != tf.FailedPrecondition {
				t.Error(err)
			}
		}
	})
	for range 20 {
		if w.Close() != nil || w.Reopen() != nil {
			t.Error("the writer does not open again")
		}
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

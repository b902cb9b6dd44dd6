package summary_test

import (
	"strconv"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/summary"
)

// TestEventsAreTakenAsTheyAre: what the caller does to a message after the call does not
// change what is in the file.
func TestEventsAreTakenAsTheyAre(t *testing.T) {
	const n = 1000
	w, err := summary.NewFileWriter(t.TempDir(), summary.FileWriterOptions{MaxQueue: n})
	if err != nil {
		t.Fatal(err)
	}
	l := &pb.SessionLog{}
	for i := range n {
		l.CheckpointPath = strconv.Itoa(i)
		if err := w.SessionLog(int64(i), l); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for i, e := range readEvents(t, w.Name())[1:] {
		if got := e.GetSessionLog().GetCheckpointPath(); got != strconv.Itoa(i) {
			t.Fatalf("event %d is of %s", i, got)
		}
	}
}

// TestTextThatIsNone: an event that no file can have is refused alone.
func TestTextThatIsNone(t *testing.T) {
	dir := t.TempDir()
	w, err := summary.NewFileWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Scalar(1, "\xff", 1); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, want INVALID_ARGUMENT", err)
	}
	if err := w.Scalar(2, "x", 1); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if n := len(readEvents(t, w.Name())); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
	plain, err := summary.NewWriter(dir, summary.Opts{})
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.Scalar(1, "\xff", 1); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, want INVALID_ARGUMENT", err)
	}
	if err := plain.Close(); err != nil {
		t.Error(err)
	}
}

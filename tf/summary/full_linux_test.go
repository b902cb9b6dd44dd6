package summary_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/summary"
)

// limitFiles makes files of this process end at n bytes, until the function that it
// returns is called.
func limitFiles(t *testing.T, n uint64) (undo func()) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoRoomForEvents: an event that has no room is an error and leaves no part of it.
// The writer goes on when there is room.
func TestNoRoomForEvents(t *testing.T) {
	w, err := summary.NewWriter(t.TempDir(), summary.Opts{})
	if err != nil {
		t.Fatal(err)
	}
	undo := limitFiles(t, 1<<16)
	for range 3 {
		if err := w.Graph(1, []byte(strings.Repeat("x", 1<<17))); tf.CodeOf(err) != tf.OutOfRange {
			t.Error(err)
		}
	}
	undo()
	if err := w.Scalar(2, "a", 3); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	f, err := os.Open(w.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events := 0
	for r := record.NewReader(f); ; events++ {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	if info, err := f.Stat(); events != 2 || err != nil || info.Size() > 1000 {
		t.Errorf("the file has %d events, %v, want the first and the last", events, info)
	}
}

// TestNoRoomForFiles: a file that has no room for its first event is not left.
func TestNoRoomForFiles(t *testing.T) {
	dir := t.TempDir()
	undo := limitFiles(t, 10)
	_, err := summary.NewWriter(dir, summary.Opts{})
	undo()
	if tf.CodeOf(err) != tf.OutOfRange {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

// TestMetadataThatHadNoRoom: metadata that was lost is written with the next summary of the tag.
func TestMetadataThatHadNoRoom(t *testing.T) {
	w, err := summary.NewFileWriter(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	undo := limitFiles(t, 10)
	lost := w.Summary(1, tagged(t, "x"))
	if err := w.Flush(); tf.CodeOf(err) != tf.OutOfRange || lost != nil {
		t.Errorf("got %v and %v, want OUT_OF_RANGE for the second one", lost, err)
	}
	undo()
	if err := w.Summary(2, tagged(t, "x")); tf.CodeOf(err) != tf.OutOfRange { // which tells of the loss
		t.Error(err)
	}
	if err := w.Close(); tf.CodeOf(err) != tf.OutOfRange {
		t.Error(err)
	}
	events := readEvents(t, w.Name())
	last := events[len(events)-1]
	if len(events) != 2 || last.GetStep() != 2 || last.GetSummary().GetValue()[0].GetMetadata() == nil {
		t.Errorf("%d events, the last of them %v", len(events), last)
	}
}

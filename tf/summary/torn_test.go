package summary

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/gorge-tf/gorge/internal/wire/record"
)

// TestTornEventIsRemovedLater: a part of an event that could not be removed when writing
// failed is removed before the next event, so that readers find that one.
func TestTornEventIsRemovedLater(t *testing.T) {
	w, err := NewWriter(t.TempDir(), Opts{})
	if err != nil {
		t.Fatal(err)
	}
	reader, broken, err := os.Pipe() // which can neither be written nor be cut
	if err != nil {
		t.Fatal(err)
	}
	defer broken.Close()
	reader.Close()
	file := w.file
	w.file = broken
	if err := errors.Join(w.Scalar(1, "lost", 1), w.Flush()); err == nil {
		t.Error("a broken pipe is written to")
	}
	if err := w.Flush(); err == nil {
		t.Error("a file that ends with a part of an event is no error")
	}
	w.file = file
	if _, err := file.WriteString("a part of an event"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Scalar(2, "kept", 2), w.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(w.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events := 0
	r := record.NewReader(f)
	for _, err = r.Next(); err == nil; _, err = r.Next() {
		events++
	}
	if events != 2 || !errors.Is(err, io.EOF) {
		t.Errorf("%d events and then %v, want the first and the last", events, err)
	}
}

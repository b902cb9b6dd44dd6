package io

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// TestShortenedFile: what is no longer there of a file is no record of zeros.
func TestShortenedFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "records")
	if err := os.WriteFile(name, []byte("abcdefgh"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &fixedLength{record: 4}
	if err := f.open(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if _, v, ok, err := f.next(t.Context()); v != "abcd" || !ok || err != nil {
		t.Fatalf("got %q, %v, %v", v, ok, err)
	}
	if err := os.Truncate(name, 5); err != nil {
		t.Fatal(err)
	}
	if _, v, _, err := f.next(t.Context()); tf.CodeOf(err) != tf.DataLoss {
		t.Errorf("a record that is cut off must be DATA_LOSS, got %q, %v", v, err)
	}
}

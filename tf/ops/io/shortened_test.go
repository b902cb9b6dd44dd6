package io

import (
	"os"
	"path/filepath"
	"slices"
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

// TestCarriageReturns: only one that ends a line goes, and one at the end of a file is
// no line.
func TestCarriageReturns(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lines")
	for text, want := range map[string][]string{
		"a\rb\r\nc\r": {"a\rb", "c"}, "\ra\n\r\nb\r\r": {"\ra", "", "b\r"}, "a\n\r": {"a"}, "\r": nil,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f := &textLine{}
		if err := f.open(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			_, v, ok, err := f.next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got = append(got, v)
		}
		f.close()
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

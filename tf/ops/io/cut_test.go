package io

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/record"
)

// endsAfter is a context that ends when it has been asked so often.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestStepsThatEndWithinARecord: the next step reads what the one before has not read to
// its end, and what follows.
func TestStepsThatEndWithinARecord(t *testing.T) {
	want := []string{"a", strings.Repeat("b", 200_000), "", strings.Repeat("c", 70_000), "d"}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte(strings.Join(want, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	plain, packed := recordsOf(t, record.None, want), recordsOf(t, record.GZIP, want)
	for name, c := range map[string]struct {
		format format
		file   string
	}{"lines": {&textLine{}, text}, "records": {&tfRecord{}, plain}, "compressed records": {&tfRecord{compression: "GZIP"}, packed}} {
		for asked := range 12 {
			if err := c.format.open(t.Context(), c.file); err != nil {
				t.Fatal(err)
			}
			var got []string
			for ctx := context.Context(&endsAfter{context.Background(), asked}); ; {
				_, v, ok, err := c.format.next(ctx)
				if err != nil && ctx != t.Context() {
					ctx = t.Context()
					continue
				}
				if err != nil {
					t.Fatalf("%s, after %d: %v", name, asked, err)
				}
				if !ok {
					break
				}
				got = append(got, v)
			}
			c.format.close()
			if !slices.Equal(got, want) {
				t.Errorf("%s, after %d: got %d records, want %d", name, asked, len(got), len(want))
			}
		}
	}
}

// recordsOf writes a file of records.
func recordsOf(t *testing.T, c record.Compression, records []string) string {
	name := filepath.Join(t.TempDir(), "records")
	w, err := record.Create(name, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Write([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

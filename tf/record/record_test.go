package record_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/record"
)

func write(t *testing.T, c record.Compression, records ...string) string {
	t.Helper()
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

// read returns the records and the offsets after them.
func read(t *testing.T, r *record.Reader) (records []string, offsets []int64) {
	t.Helper()
	defer r.Close()
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return records, offsets
		}
		if err != nil {
			t.Fatal(err)
		}
		records, offsets = append(records, string(b)), append(offsets, r.Offset())
	}
}

func TestRoundTrip(t *testing.T) {
	want := []string{"one", "", strings.Repeat("three", 30000)}
	for _, c := range []record.Compression{record.None, record.GZIP, record.ZLIB, record.SNAPPY} {
		t.Run(fmt.Sprintf("%q", c), func(t *testing.T) {
			name := write(t, c, want...)
			r, err := record.Open(name, c)
			if err != nil {
				t.Fatal(err)
			}
			got, offsets := read(t, r)
			if !slices.Equal(got, want) {
				t.Fatalf("got %d records", len(got))
			}
			if r, err = record.OpenAt(name, c, offsets[0]); err != nil {
				t.Fatal(err)
			}
			if got, _ := read(t, r); !slices.Equal(got, want[1:]) {
				t.Fatalf("from %d on: got %d records", offsets[0], len(got))
			}
		})
	}
}

func TestBrokenRecordIsNamed(t *testing.T) {
	name := write(t, record.None, "one", "two")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-5]++
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(name, record.None)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); tf.CodeOf(err) != tf.DataLoss || !strings.Contains(err.Error(), "record 1 at offset 19 of "+name) {
		t.Fatal(err)
	}
}

func TestWhatCannotBeOpened(t *testing.T) {
	name := write(t, record.None, "one")
	for _, c := range []struct {
		name   string
		c      record.Compression
		offset int64
		code   tf.Code
	}{
		{name + "-missing", record.None, 0, tf.NotFound},
		{name, "LZ4", 0, tf.InvalidArgument},
		{name, record.GZIP, 0, tf.DataLoss},
		{name, record.None, 1000, tf.DataLoss},
	} {
		if _, err := record.OpenAt(c.name, c.c, c.offset); tf.CodeOf(err) != c.code {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestCodesOfReads: what cannot be read for another reason than damage says so by its code.
func TestCodesOfReads(t *testing.T) {
	r, err := record.Open(write(t, record.None, strings.Repeat("x", 64<<20)), record.None)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	used, _ := tf.MemoryUsage()
	before := tf.SetMemoryLimit(used + 16<<20)
	_, err = r.Next()
	tf.SetMemoryLimit(before)
	if tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("a record that does not fit into memory: %v", err)
	}
	r.Close()
	if r, err = record.Open(write(t, record.None, "x"), record.None); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if _, err := r.Next(); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("of a reader that is closed: %v", err)
	}
	r, err = record.Open(t.TempDir(), record.None)
	if err == nil {
		_, err = r.Next()
	}
	if tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("of a directory: %v", err)
	}
}

package record_test

import (
	"context"
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
		{name, record.None, -1, tf.InvalidArgument},
	} {
		if _, err := record.OpenAt(c.name, c.c, c.offset); tf.CodeOf(err) != c.code {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := record.OpenIndexed(name, nil); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("an index that is nil: %v", err)
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

// TestUnfinishedHead: a compressed file whose writer has not put anything there yet, or
// only a part of the stream's head, has no records so far.
func TestUnfinishedHead(t *testing.T) {
	for _, c := range []record.Compression{record.GZIP, record.ZLIB} {
		name := write(t, c, "one")
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 8 { // as yet without a record
			if err := os.WriteFile(name, whole[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := collectFrom(name, c, record.Unfinished); len(got) > 0 || err != nil {
				t.Errorf("%s, %d bytes: %q, %v", c, n, got, err)
			}
			if _, err := collectFrom(name, c); tf.CodeOf(err) != tf.DataLoss {
				t.Errorf("%s, %d bytes of a file that is not being written: %v", c, n, err)
			}
		}
	}
}

// collectFrom is collect for a compressed file.
func collectFrom(name string, c record.Compression, opts ...record.Option) (got []string, err error) {
	for b, err := range record.Parallel(context.Background(), []string{name}, record.ParallelOptions{Compression: c, Options: opts}) {
		if err != nil {
			return got, err
		}
		got = append(got, string(b))
	}
	return got, nil
}

// TestWriteAfterClose: a record that the file will not have is an error, as in
// TensorFlow.
func TestWriteAfterClose(t *testing.T) {
	for _, c := range []record.Compression{record.None, record.GZIP, record.ZLIB, record.SNAPPY} {
		w, err := record.Create(filepath.Join(t.TempDir(), "records"), c)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.Write([]byte("late")); tf.CodeOf(err) != tf.FailedPrecondition {
			t.Errorf("%q: a record after the end: %v", c, err)
		}
	}
}

package data_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/record"
)

// twoFiles writes a, b and c into two files.
func twoFiles(t *testing.T, c record.Compression) []string {
	t.Helper()
	dir := t.TempDir()
	names := []string{filepath.Join(dir, "1"), filepath.Join(dir, "2")}
	for i, records := range [][]string{{"a", "b"}, {"c"}} {
		w, err := record.Create(names[i], c)
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
	}
	return names
}

func readStrings(t *testing.T, d *data.Dataset) (out []string) {
	t.Helper()
	for e, err := range d.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tf.Data[string](e[0])[0])
	}
	return out
}

func TestFiles(t *testing.T) {
	want := []string{"a", "b", "c"}
	for _, c := range []record.Compression{record.None, record.GZIP, record.ZLIB} {
		if got := readStrings(t, data.TFRecord(twoFiles(t, c), string(c))); !slices.Equal(got, want) {
			t.Errorf("%q: %v", c, got)
		}
	}
	name := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(name, []byte("a\r\nb\nc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := readStrings(t, data.TextLine([]string{name}, "")); !slices.Equal(got, want) {
		t.Errorf("lines: %v", got)
	}
}

// TestFileStateGoesOn saves after the second of three records.
func TestFileStateGoesOn(t *testing.T) {
	ctx := context.Background()
	d := data.TFRecord(twoFiles(t, record.None), "")
	it, err := d.Iterator()
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for range 2 {
		if _, err := it.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	state, err := it.Save(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := restored(t, d, state); err != nil || tf.Data[string](e[0])[0] != "c" {
		t.Fatal(e, err)
	}
}

func TestBadFiles(t *testing.T) {
	names := twoFiles(t, record.None)
	if err := data.TFRecord(names, "LZ4").Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	for c, name := range map[tf.Code]string{tf.NotFound: names[0] + "-missing", tf.DataLoss: names[0]} {
		compression := ""
		if c == tf.DataLoss {
			compression = "GZIP"
		}
		it, err := data.TFRecord([]string{name}, compression).Iterator()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := it.Next(context.Background()); tf.CodeOf(err) != c {
			t.Error(err)
		}
		if _, err := it.Next(context.Background()); !errors.Is(err, data.End) {
			t.Error(err) // the next file's turn
		}
		it.Close()
	}
}

// TestCutFiles: what a file ends with is missing, in each way of packing it.
func TestCutFiles(t *testing.T) {
	for _, c := range []record.Compression{record.None, record.GZIP, record.ZLIB, record.SNAPPY} {
		name := twoFiles(t, c)[0]
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n := len(whole) - 1; n > 0; n-- {
			if c == record.None && n == 17 {
				continue // a whole record
			}
			if err := os.WriteFile(name, whole[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			var last error
			for _, err := range data.TFRecord([]string{name}, string(c)).All(t.Context()) {
				last = err
			}
			if tf.CodeOf(last) != tf.DataLoss {
				t.Errorf("%q, cut at %d of %d: %v", c, n, len(whole), last)
			}
		}
	}
	name := twoFiles(t, record.None)[0]
	if err := os.Truncate(name, 20); err != nil {
		t.Fatal(err)
	}
	if got := readStrings(t, data.TFRecord([]string{name}, "", record.Unfinished)); !slices.Equal(got, []string{"a"}) {
		t.Error(got)
	}
}

func TestFixedLength(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fixed")
	if err := os.WriteFile(name, []byte("headaabbccfoot!"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := readStrings(t, data.FixedLength([]string{name, name}, "", 4, 2, 5)); !slices.Equal(got, []string{"aa", "bb", "cc", "aa", "bb", "cc"}) {
		t.Error(got)
	}
	for _, bad := range [][3]int64{{4, 2, 4}, {40, 2, 0}, {0, 4, 0}} {
		var last error
		for _, err := range data.FixedLength([]string{name}, "", bad[0], bad[1], bad[2]).All(t.Context()) {
			last = err
		}
		if tf.CodeOf(last) != tf.InvalidArgument {
			t.Errorf("%v: %v", bad, last)
		}
	}
	for _, bad := range [][3]int64{{-1, 2, 0}, {0, 0, 0}, {0, 1, -1}} {
		if err := data.FixedLength(nil, "", bad[0], bad[1], bad[2]).Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// TestNothingToMakeElementsOf: what can give no element is refused at once.
func TestNothingToMakeElementsOf(t *testing.T) {
	d := data.Range(0, 3)
	for what, made := range map[string]*data.Dataset{
		"Map": d.Map(nil, []tf.DType{tf.Int64}, nil), "ParallelMap": d.ParallelMap(nil, []tf.DType{tf.Int64}, nil, 2, true),
		"Filter": d.Filter(nil), "ParallelFilter": d.ParallelFilter(nil, 2),
		"FlatMap": d.FlatMap(nil, nil), "Interleave": d.Interleave(nil, nil, 1, 1), "ParallelInterleave": d.ParallelInterleave(nil, nil, 1, 1, 1),
		"CSV": data.CSV([]string{"a.csv"}, nil, data.CSVOptions{}),
	} {
		if err := made.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), what+": ") || !strings.Contains(err.Error(), "need") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

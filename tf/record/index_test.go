package record_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/record"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// many returns n records of different lengths.
func many(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strings.Repeat(fmt.Sprint(i, " "), i%50)
	}
	return out
}

func indexed(t *testing.T, name string) (*record.Index, *record.IndexedReader) {
	t.Helper()
	x, err := record.BuildIndex(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.OpenIndexed(name, x)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return x, r
}

// TestIndexHasNoOthers: there is no record before the first and behind the last.
func TestIndexHasNoOthers(t *testing.T) {
	x, _ := indexed(t, write(t, record.None, "a", "b"))
	for _, i := range []int{-1, 2, 1 << 40} {
		if offset, size := x.At(i); offset != 0 || size != 0 {
			t.Errorf("record %d is at %d, %d bytes", i, offset, size)
		}
	}
}

func TestIndexReadsInAnyOrder(t *testing.T) {
	want := many(300)
	name := write(t, record.None, want...)
	x, r := indexed(t, name)
	if x.Len() != len(want) || r.Len() != len(want) {
		t.Fatalf("%d and %d records, want %d", x.Len(), r.Len(), len(want))
	}
	var readers sync.WaitGroup
	for k := range 4 {
		readers.Go(func() {
			buf := make([]byte, 0, 64)
			for i := range want {
				i = (i*7 + k*50) % len(want)
				if b, err := r.Read(i, buf); err != nil || string(b) != want[i] {
					t.Errorf("record %d is %q and %v, want %q", i, b, err, want[i])
				}
			}
		})
	}
	readers.Wait()
	for _, i := range []int{-1, len(want)} {
		if _, err := r.Read(i, nil); tf.CodeOf(err) != tf.OutOfRange {
			t.Errorf("record %d: %v", i, err)
		}
	}
}

// TestIndexIsWhereReadersAre compares with the offsets of a reader of the whole file.
func TestIndexIsWhereReadersAre(t *testing.T) {
	name := write(t, record.None, many(60)...)
	r, err := record.Open(name, record.None)
	if err != nil {
		t.Fatal(err)
	}
	_, ends := read(t, r)
	x, _ := indexed(t, name)
	for i, end := range ends {
		if offset, size := x.At(i); offset+size != end {
			t.Errorf("record %d ends at %d, want %d", i, offset+size, end)
		}
	}
}

func TestSavedIndex(t *testing.T) {
	name := write(t, record.None, "a", "", "ccc")
	x, _ := indexed(t, name)
	saved := name + ".idx"
	if err := x.Save(saved); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(saved); err != nil || string(b) != "0 17\n17 16\n33 19\n" {
		t.Errorf("saved %q, %v", b, err)
	}
	again, err := record.LoadIndex(saved)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Len() {
		o1, s1 := x.At(i)
		if o2, s2 := again.At(i); again.Len() != 3 || o1 != o2 || s1 != s2 {
			t.Errorf("record %d is at %d and %d", i, o1, o2)
		}
	}
	for _, missing := range []func(string) error{
		x.Save,
		func(n string) error { _, err := record.LoadIndex(n); return err },
		func(n string) error { _, err := record.BuildIndex(n); return err },
		func(n string) error { _, err := record.OpenIndexed(n, x); return err },
	} {
		if err := missing(filepath.Join(name, "nowhere")); err == nil {
			t.Error("a file below a file serves")
		}
	}
}

func TestBadIndexes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "index")
	for _, text := range []string{"x", "0", "0 17 3", "0 15\n", "1 17\n", "0 17\n16 17\n", "0 17\n17 -3\n", "0 9223372036854775807\n9223372036854775807 17\n", "0 17\n\n", strings.Repeat("0", 1<<17)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := record.LoadIndex(name); tf.CodeOf(err) != tf.DataLoss || !strings.Contains(err.Error(), name) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestIndexOfAnotherFile: a wrong index gives errors, not wrong records.
func TestIndexOfAnotherFile(t *testing.T) {
	x, _ := indexed(t, write(t, record.None, many(30)...))
	r, err := record.OpenIndexed(write(t, record.None, many(30)[5:]...), x)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range x.Len() {
		if b, err := r.Read(i, nil); tf.CodeOf(err) != tf.DataLoss {
			t.Errorf("record %d: %q, %v", i, b, err)
		}
	}
}

// TestEveryDamageIsNamed changes and cuts a file at every byte. The records
// before are read, the broken one is named with its place, by all readers.
func TestEveryDamageIsNamed(t *testing.T) {
	want := []string{"one", "", "three"}
	name := write(t, record.None, want...)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	x, _ := indexed(t, name)
	for at := range whole {
		i := 0
		for offset, size := x.At(i); int64(at) >= offset+size; offset, size = x.At(i) {
			i++
		}
		offset, _ := x.At(i)
		place := fmt.Sprintf("(record %d at offset %d of ", i, offset)
		broken := slices.Clone(whole)
		broken[at] ^= 1
		for what, b := range map[string][]byte{"changed": broken, "cut": whole[:at]} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := collect(name)
			atEnd := what == "cut" && int64(at) == offset
			if ahead := what == "cut" && int64(at)-offset < 12; ahead { // the writer has perhaps not got further yet
				if got, err := collect(name, record.Unfinished); !slices.Equal(got, want[:i]) || err != nil {
					t.Errorf("cut at %d of a file that is still written: read %q and %v", at, got, err)
				}
			}
			if !slices.Equal(got, want[:i]) || !atEnd && (tf.CodeOf(err) != tf.DataLoss || !strings.Contains(err.Error(), place)) || atEnd && err != nil {
				t.Errorf("%s at %d: read %q and %v", what, at, got, err)
			}
			r, err := record.OpenIndexed(name, x)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Read(i, nil); tf.CodeOf(err) != tf.DataLoss || !strings.Contains(err.Error(), place) {
				t.Errorf("%s at %d, by index: %v", what, at, err)
			}
			r.Close()
		}
	}
}

// collect reads all up to the first error.
func collect(name string, opts ...record.Option) (got []string, err error) {
	for b, err := range record.Parallel(context.Background(), []string{name}, record.ParallelOptions{Options: opts}) {
		if err != nil {
			return got, err
		}
		got = append(got, string(b))
	}
	return got, nil
}

// FuzzIndex reads any bytes as an index: what is taken, is saved as it came.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("0 17\n17 16\n"))
	f.Add([]byte("0 17\n17 x\n"))
	name := filepath.Join(f.TempDir(), "index")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := record.LoadIndex(name)
		if err != nil {
			return
		}
		end := int64(0)
		for i := range x.Len() {
			offset, size := x.At(i)
			if offset != end || size < 16 {
				t.Fatalf("record %d of %d bytes at %d, want it at %d", i, size, offset, end)
			}
			end = offset + size
		}
	})
}

// TestIndexedRecordWithoutMemory: a record of a file with holes, which takes nothing on the
// disk, is read only if there is memory for it.
func TestIndexedRecordWithoutMemory(t *testing.T) {
	const size = 64 << 20
	name := filepath.Join(t.TempDir(), "holes")
	head := write(t, record.None, string(make([]byte, size)))
	if err := os.Rename(head, name); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Truncate(name, 12), os.Truncate(name, size+16)); err != nil {
		t.Fatal(err)
	}
	x, err := record.BuildIndex(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.OpenIndexed(name, x)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	runtime.GC()
	used, _ := tf.MemoryUsage()
	before := tf.SetMemoryLimit(used + 16<<20)
	_, err = r.Read(0, nil)
	tf.SetMemoryLimit(before)
	if tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("got %v, want RESOURCE_EXHAUSTED", err)
	}
}

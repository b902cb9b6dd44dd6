package record_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/record"
)

// files writes records into some files, one of them large enough for parts.
func files(t *testing.T, c record.Compression) (names, want []string) {
	t.Helper()
	big := make([]string, 200)
	for i := range big {
		big[i] = strings.Repeat(string(rune('a'+i%26)), 50_000)
	}
	for _, list := range [][]string{many(700), {}, big, {"last"}} {
		names, want = append(names, write(t, c, list...)), append(want, list...)
	}
	return names, want
}

func indexes(t *testing.T, names []string) map[string]*record.Index {
	t.Helper()
	all := map[string]*record.Index{}
	for _, n := range names {
		x, err := record.BuildIndex(n)
		if err != nil {
			t.Fatal(err)
		}
		all[n] = x
	}
	return all
}

// TestParallelReadsAll: every record comes once, in order where that is asked
// for.
func TestParallelReadsAll(t *testing.T) {
	for _, c := range []record.Compression{record.None, record.GZIP, record.ZLIB, record.SNAPPY} {
		names, want := files(t, c)
		o := record.ParallelOptions{Compression: c}
		for _, o.Goroutines = range []int{0, 1, 3} {
			for _, o.InOrder = range []bool{false, true} {
				for _, o.Indexes = range withIndexes(t, c, names) {
					compareRecords(t, names, want, o)
				}
			}
		}
	}
}

// withIndexes returns nothing and, for plain files, their indexes.
func withIndexes(t *testing.T, c record.Compression, names []string) []map[string]*record.Index {
	if c != record.None {
		return []map[string]*record.Index{nil}
	}
	return []map[string]*record.Index{nil, indexes(t, names)}
}

func compareRecords(t *testing.T, names, want []string, o record.ParallelOptions) {
	t.Helper()
	var got []string
	for b, err := range record.Parallel(t.Context(), names, o) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(b))
	}
	if !o.InOrder {
		want = slices.Sorted(slices.Values(want))
		slices.Sort(got)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, %d goroutines, in order %v, indexed %v: %d records, want %d", o.Compression, o.Goroutines, o.InOrder, o.Indexes != nil, len(got), len(want))
	}
}

// TestParallelGoesOn: one file that is missing, and one record that is broken,
// cost what is behind them, or, with an index, only themselves.
func TestParallelGoesOn(t *testing.T) {
	bad, good := write(t, record.None, "1", "2", "3"), write(t, record.None, "4")
	byName := indexes(t, []string{bad, good})
	b, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	b[17+12]++
	if err := os.WriteFile(bad, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, x := range map[string]map[string]*record.Index{"1 DATA_LOSS NOT_FOUND 4": nil, "1 DATA_LOSS 3 NOT_FOUND 4": byName} {
		var got []string
		for b, err := range record.Parallel(t.Context(), []string{bad, bad + "-missing", good}, record.ParallelOptions{InOrder: true, Indexes: x}) {
			if err != nil {
				b = []byte(tf.CodeOf(err).String())
			}
			got = append(got, string(b))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

// TestParallelEnds breaks off loops, and ends contexts: no goroutine stays, see
// TestMain.
func TestParallelEnds(t *testing.T) {
	names, _ := files(t, record.None)
	for _, o := range []record.ParallelOptions{{}, {InOrder: true}, {Goroutines: 9, Indexes: indexes(t, names)}} {
		n := 0
		for range record.Parallel(t.Context(), names, o) {
			if n++; n == 3 {
				break
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var last error
		for _, err := range record.Parallel(ctx, names, o) {
			cancel()
			last = err
		}
		cancel()
		if !errors.Is(last, context.Canceled) {
			t.Errorf("after the end of the context: %v", last)
		}
		for _, err := range record.Parallel(t.Context(), names, record.ParallelOptions{Compression: "LZ4"}) {
			if tf.CodeOf(err) != tf.InvalidArgument {
				t.Error(err)
			}
		}
	}
}

// TestParallelInOrderWaits: a loop that is slower than the readers does not make them read
// all files into memory, with an index or without.
func TestParallelInOrderWaits(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		var names []string
		for range 20 {
			names = append(names, write(t, record.None, "a", "b"))
		}
		o := record.ParallelOptions{InOrder: true, Goroutines: 2}
		if indexed {
			o.Indexes = indexes(t, names)
		}
		n, last := 0, names[len(names)-1]
		for _, err := range record.Parallel(t.Context(), names, o) {
			if n++; n == 1 {
				time.Sleep(50 * time.Millisecond) // the readers go as far as they may
				if err := os.Remove(last); err != nil {
					t.Fatal(err)
				}
			}
			if want := n == 39; tf.CodeOf(err) == tf.NotFound != want {
				t.Errorf("indexed %v, record %d: %v", indexed, n, err)
			}
		}
		if n != 39 {
			t.Errorf("indexed %v: %d records or errors, the last file was read when the first one was", indexed, n)
		}
	}
}

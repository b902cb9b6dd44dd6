package lookup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestDenseTableGrowsWithKeysTwice: what is imported may have a key in two buckets. The
// table grows all the same.
func TestDenseTableGrowsWithKeysTwice(t *testing.T) {
	b := newBench(t)
	attrs := kv(tf.Int64, tf.Int64)
	attrs["initial_num_buckets"] = int64(4)
	h := b.must("MutableDenseHashTableV2", attrs, core.Scalar(int64(0)), core.Scalar(int64(-1)))[0]
	io := inOut(tf.Int64, tf.Int64)
	b.must("LookupTableImportV2", io, h, mat[int64](1, 1, 1, 0, 0), mat[int64](1, 10, 11, 0, 0))
	b.must("LookupTableInsertV2", io, h, vec[int64](2, 3, 5), vec[int64](20, 30, 50))
	got := b.must("LookupTableFindV2", io, h, vec[int64](1, 2, 3, 5), core.Scalar(int64(-1)))[0].T
	expect[int64](t, "found", got, 11, 20, 30, 50)
	expect[int64](t, "size", b.must("LookupTableSizeV2", nil, h)[0].T, 4)
}

// within runs an op while the process may use so much memory.
func (b *bench) within(limit int64, op string, attrs core.Attrs, in ...any) error {
	defer memory.SetLimit(memory.SetLimit(limit))
	return core.Guard(op, func() error {
		_, err := b.run(op, attrs, in...)
		return err
	})
}

// TestTablesOutliveShortMemory: where there is no memory to grow, what a table has stays.
func TestTablesOutliveShortMemory(t *testing.T) {
	const width, little = 1 << 18, 1 << 20 // a row takes 2 MiB
	io := inOut(tf.Int64, tf.Int64)
	for op, keys := range map[string]*core.Tensor{
		"MutableDenseHashTableV2": mat[int64](1, 5, 6, 7, 0), "MutableHashTableOfTensorsV2": vec[int64](5, 6, 7, 8),
	} {
		b := newBench(t)
		attrs, in := kv(tf.Int64, tf.Int64), []any{}
		attrs["value_shape"] = tf.Shape{width}
		if op == "MutableDenseHashTableV2" {
			attrs["initial_num_buckets"] = int64(4)
			in = []any{core.Scalar(int64(0)), core.Scalar(int64(-1))}
		}
		h := b.must(op, attrs, in...)[0]
		for k := int64(1); k <= 3; k++ {
			b.must("LookupTableInsertV2", io, h, vec(k), row(width, k))
		}
		if err := b.within(little, "LookupTableInsertV2", io, h, vec[int64](4), row(width, 4)); tf.CodeOf(err) != tf.ResourceExhausted {
			t.Errorf("%s: insertion: %v, want RESOURCE_EXHAUSTED", op, err)
		}
		if err := b.within(little, "LookupTableImportV2", io, h, keys, core.NewTensor(tf.Int64, tf.Shape{4, width})); tf.CodeOf(err) != tf.ResourceExhausted {
			t.Errorf("%s: import: %v, want RESOURCE_EXHAUSTED", op, err)
		}
		got := b.must("LookupTableFindV2", io, h, vec[int64](3, 4), core.NewTensor(tf.Int64, tf.Shape{width}))[0].T
		if v := core.Data[int64](got); v[0] != 3 || v[width] != 0 {
			t.Errorf("%s: found %d and %d, want 3 and nothing", op, v[0], v[width])
		}
		expect[int64](t, op, b.must("LookupTableSizeV2", nil, h)[0].T, 3)
	}
}

// TestVocabularyInShortMemory: a line that does not fit is no damage of the file.
func TestVocabularyInShortMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vocabulary")
	if err := os.WriteFile(path, make([]byte, 1<<22), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	h := b.must("HashTableV2", kv(tf.String, tf.Int64))[0]
	attrs := core.Attrs{"key_index": int64(WholeLine), "value_index": int64(LineNumber)}
	if err := b.within(1<<20, "InitializeTableFromTextFileV2", attrs, h, core.Scalar(path)); tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("%v, want RESOURCE_EXHAUSTED", err)
	}
}

// row returns a row of values that begins with first.
func row(width int, first int64) *core.Tensor {
	t := core.NewTensor(tf.Int64, tf.Shape{1, width})
	core.Data[int64](t)[0] = first
	return t
}

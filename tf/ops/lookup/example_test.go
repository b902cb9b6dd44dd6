package lookup_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
)

// Keys and values of a dense table may be vectors. empty and deleted are keys
// that are never used.
func ExampleDenseOpts() {
	g := eager.New()
	empty, deleted := ops.Scalar[int64](g, -1), ops.Scalar[int64](g, -2)
	o := lookup.DenseOpts{ValueShape: tf.Shape{2}, InitialNumBuckets: 4, MaxLoadFactor: 0.5}
	table := lookup.MutableDenseHashTableV2(empty, deleted, tf.Float32, o)
	keys, values := ops.Const(g, []int64{1, 2}), ops.Const(g, []float32{1, 10, 2, 20}, 2, 2)
	if err := lookup.LookupTableInsertV2(table, keys, values).Err(); err != nil {
		fmt.Println(err)
		return
	}
	v, err := lookup.LookupTableFindV2(table, ops.Const(g, []int64{2, 7}), ops.Const(g, []float32{0, 0})).Value()
	fmt.Println(v, err)
	// Output: float32[2,2]{2, 20, 0, 0} <nil>
}

// Two nodes of one shared name are one table.
func ExampleTableOpts() {
	g := eager.New()
	shared := lookup.TableOpts{SharedName: "colors"}
	a := lookup.MutableHashTableV2(g, tf.String, tf.Int64, shared)
	b := lookup.MutableHashTableV2(g, tf.String, tf.Int64, shared)
	if err := lookup.LookupTableInsertV2(a, ops.Const(g, []string{"red"}), ops.Const(g, []int64{1})).Err(); err != nil {
		fmt.Println(err)
		return
	}
	v, err := lookup.LookupTableFindV2(b, ops.Const(g, []string{"red", "blue"}), ops.Scalar[int64](g, -1)).Value()
	fmt.Println(v, err)
	// Output: int64[2]{1, -1} <nil>
}

// The words of a vocabulary get the numbers of their lines, here from 100 on,
// as far as the first two.
func ExampleInitializeTableFromTextFileV2() {
	dir, err := os.MkdirTemp("", "lookup")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "words")
	if err := os.WriteFile(file, []byte("the 10\nof 7\nand 6\n"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	g := eager.New()
	table := lookup.HashTableV2(g, tf.String, tf.Int64)
	o := lookup.TextFileOpts{VocabSize: 2, Offset: 100, Delimiter: " "}
	if err := lookup.InitializeTableFromTextFileV2(table, ops.Scalar(g, file), 0, lookup.LineNumber, o).Err(); err != nil {
		fmt.Println(err)
		return
	}
	v, err := lookup.LookupTableFindV2(table, ops.Const(g, []string{"of", "and"}), ops.Scalar[int64](g, -1)).Value()
	fmt.Println(v, err)
	// Output: int64[2]{101, -1} <nil>
}

package checkpoint_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
)

// Where the words of a new vocabulary stand among the first two of an old one.
func ExampleGenerateVocabRemapping() {
	dir, err := os.MkdirTemp("", "vocabulary")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	old, fresh := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	for file, words := range map[string]string{old: "the\nof\nand\n", fresh: "of\nand\nthe\n"} {
		if err := os.WriteFile(file, []byte(words), 0o644); err != nil {
			fmt.Println(err)
			return
		}
	}
	g := eager.New()
	at, present := checkpoint.GenerateVocabRemapping(ops.Scalar(g, fresh), ops.Scalar(g, old), 0, 3, checkpoint.OldVocabSize(2))
	for _, y := range []tf.Output{at, present} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int64[3]{1, -1, 0} <nil>
	// int32[]{2} <nil>
}

// Rows 2 and 0 of a matrix in a checkpoint, and a new one between them. Two rows
// at a time are read.
func ExampleLoadAndRemapMatrix() {
	dir, err := os.MkdirTemp("", "checkpoint")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	g := eager.New()
	prefix, name := ops.Scalar(g, filepath.Join(dir, "model")), ops.Const(g, []string{"m"})
	m := ops.Const(g, []float32{0, 0, 1, 1, 2, 2}, 3, 2)
	if err := checkpoint.SaveV2(prefix, name, ops.Const(g, []string{""}), []tf.Output{m}).Err(); err != nil {
		fmt.Println(err)
		return
	}
	rows, columns, fresh := ops.Const(g, []int64{2, -1, 0}), ops.Const(g, []int64{}), ops.Const(g, []float32{8, 9})
	v, err := checkpoint.LoadAndRemapMatrix(prefix, ops.Scalar(g, "m"), rows, columns, fresh, 3, 2, checkpoint.MaxRowsInMemory(2)).Value()
	fmt.Println(v, err)
	// Output: float32[3,2]{2, 2, 8, 9, 0, 0} <nil>
}

// Two checkpoints become one. Their directories are removed unless KeepOldDirs
// is set.
func ExampleMergeV2Checkpoints() {
	dir, err := os.MkdirTemp("", "checkpoint")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	g := eager.New()
	parts, whole := []string{filepath.Join(dir, "a", "part"), filepath.Join(dir, "b", "part")}, ops.Scalar(g, filepath.Join(dir, "model"))
	names, none := []string{"v", "w"}, ops.Const(g, []string{""})
	for i, part := range parts {
		value := []tf.Output{ops.Const(g, []float32{float32(i)})}
		if err := checkpoint.SaveV2(ops.Scalar(g, part), ops.Const(g, names[i:i+1]), none, value).Err(); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := checkpoint.MergeV2Checkpoints(ops.Const(g, parts), whole, checkpoint.MergeOpts{KeepOldDirs: true}).Err(); err != nil {
		fmt.Println(err)
		return
	}
	types := []tf.DType{tf.Float32, tf.Float32}
	for _, y := range checkpoint.RestoreV2(whole, ops.Const(g, names), ops.Const(g, []string{"", ""}), types) {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[1]{0} <nil>
	// float32[1]{1} <nil>
}

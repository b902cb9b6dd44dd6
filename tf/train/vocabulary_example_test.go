package train_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// The vocabulary has changed since the checkpoint was written: words that both files
// have keep their rows, others begin with zeros.
func ExampleVocabInfo() {
	g := tf.NewGraph()
	tf.NewVariable(ops.Fill([]int{5, 3}, ops.Scalar(g, float32(0))), tf.VariableOptions{Name: "words"})
	err := train.WarmStart(g, "testdata/vocabulary.ckpt", train.WarmStartOptions{
		Names: map[string]string{"words": "rows"},
		Vocab: map[string]*train.VocabInfo{"words": {NewFile: "testdata/new.txt", NewSize: 5, OldFile: "testdata/old.txt"}},
	})
	fmt.Println(err)
	// Output: <nil>
}

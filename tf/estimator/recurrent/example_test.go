package recurrent_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/estimator/recurrent"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// Sentences of words are told apart by the order of their words.
func ExampleNetwork() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	sentences := func(context.Context) (*estimator.Input, error) {
		text, err := tf.FromSlice([]string{"not", "bad", "bad", "not"}, 2, 2)
		if err != nil {
			return nil, err
		}
		good, err := tf.FromSlice([]int64{1, 0})
		if err != nil {
			return nil, err
		}
		words := func(f feature.Features) feature.Features {
			f["text"] = sparse.FromDense(f["text"].(tf.Output))
			return f
		}
		return &estimator.Input{Data: data.FromTensors(text, good).Repeat(40), Keys: []string{"text", "good"}, Labels: []string{"good"}, Map: words}, nil
	}
	word := feature.Embedding(feature.Sequence(feature.Vocabulary("text", "not", "bad")), 4)
	var cells recurrent.CellType = recurrent.GRU
	n := recurrent.Network{Sequence: []feature.SequenceDense{word}, Units: []int{8}, Type: cells}
	e, err := recurrent.Classifier(n, estimator.Task{Config: estimator.RunConfig{ModelDir: dir}})
	if err != nil {
		log.Fatal(err)
	}
	if err := e.Train(context.Background(), sentences, estimator.TrainOptions{}); err != nil {
		log.Fatal(err)
	}
	m, err := e.Evaluate(context.Background(), sentences, estimator.EvalOptions{Steps: 1})
	fmt.Println("accuracy", m["accuracy"], err)
	// Output: accuracy 1 <nil>
}

package interop

import (
	"context"
	"math"
	"strconv"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// TestPartitionedEstimator: TensorFlow's Saver restores a checkpoint of a model
// whose tables were cut into two parts into one whose tables are cut into three,
// with all slots of both optimizers, and the next step is the same there.
func TestPartitionedEstimator(t *testing.T) {
	needTensorFlow(t)
	e := partitionedModel(t)
	input := partitionedInput(t)
	loss := func(steps int64) float64 {
		if err := e.Train(t.Context(), input, estimator.TrainOptions{Steps: steps}); err != nil {
			t.Fatal(err)
		}
		m, err := e.Evaluate(t.Context(), input, estimator.EvalOptions{Steps: 1})
		if err != nil {
			t.Fatal(err)
		}
		return m["loss"]
	}
	before := loss(50)
	path, err := e.LatestCheckpoint()
	if err != nil {
		t.Fatal(err)
	}
	got := script(t, "partitioned.py", path)
	want := []float64{before, loss(1)}
	if len(got) != 3 || got[0] != "[]" {
		t.Fatalf("TensorFlow says %q", got)
	}
	for i, w := range want {
		if x, err := strconv.ParseFloat(got[i+1], 64); err != nil || math.Abs(x-w) > 1e-4 {
			t.Errorf("%d steps later the loss is %s there, %v here", i, got[i+1], w)
		}
	}
}

func partitionedModel(t *testing.T) *estimator.Estimator {
	t.Helper()
	cut, word := vars.MinMax(2, 0, 1), feature.Identity("word", 9)
	e, err := estimator.DNNLinearCombinedClassifier(estimator.Combined{
		Linear: estimator.Linear{Columns: []feature.Column{word}, Optimizer: train.FTRL{LearningRate: 0.1}, Partitioner: cut},
		DNN:    estimator.DNN{Columns: []feature.Dense{feature.Embedding(word, 4)}, Hidden: []int{3}, Optimizer: train.Adam{LearningRate: 0.01}, Partitioner: cut},
	}, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func partitionedInput(t *testing.T) estimator.InputFn {
	t.Helper()
	var ids, labels []int64
	for i := range int64(32) {
		ids, labels = append(ids, i%9), append(labels, i%9%2)
	}
	x, err := tf.FromSlice(ids)
	if err != nil {
		t.Fatal(err)
	}
	y, err := tf.FromSlice(labels)
	if err != nil {
		t.Fatal(err)
	}
	return func(context.Context) (*estimator.Input, error) {
		return &estimator.Input{Data: data.FromTensors(x, y).Repeat(data.Infinite), Keys: []string{"word", "y"}, Labels: []string{"y"}}, nil
	}
}

package clustered_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/estimator/clustered"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// words has a batch of ids whose labels depend on them alone.
func words(context.Context) (*estimator.Input, error) {
	var ids, labels []int64
	for i := range int64(32) {
		ids, labels = append(ids, i%9), append(labels, i%9%2)
	}
	x, err := tf.FromSlice(ids)
	if err != nil {
		return nil, err
	}
	y, err := tf.FromSlice(labels)
	if err != nil {
		return nil, err
	}
	return &estimator.Input{Data: data.FromTensors(x, y).Repeat(data.Infinite), Keys: []string{"word", "y"}, Labels: []string{"y"}}, nil
}

// combined is a model whose columns are cut into parts, if any are asked for.
func combined(dir string, parts int, c *estimator.Cluster) (*estimator.Estimator, error) {
	var cut vars.Partitioner
	if parts > 0 {
		cut = vars.MinMax(parts, 0, 1)
	}
	word := feature.Identity("word", 9)
	return estimator.DNNLinearCombinedClassifier(estimator.Combined{
		Linear: estimator.Linear{Columns: []feature.Column{word}, Optimizer: train.FTRL{LearningRate: 0.1}, Partitioner: cut},
		DNN:    estimator.DNN{Columns: []feature.Dense{feature.Embedding(word, 4)}, Hidden: []int{3}, Optimizer: train.Adam{LearningRate: 0.01}, Partitioner: cut},
	}, estimator.Task{Config: estimator.RunConfig{
		ModelDir: dir, SaveCheckpointsSteps: 50, Cluster: c, Serve: clustered.Serve, WorkerDelay: -1, RecoveryWait: 50 * time.Millisecond, LogStepCountSteps: -1,
	}})
}

// trainPartitioned trains with a chief, a worker and two parameter servers.
func trainPartitioned(t *testing.T, dir string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	serving, stop := context.WithCancel(ctx)
	jobs := fmt.Sprintf(`"cluster": {"chief": [%q], "ps": [%q, %q], "worker": [%q]}`, address(t), address(t), address(t), address(t))
	one := func(ctx context.Context, kind string, index int) {
		c, err := estimator.ParseTFConfig(fmt.Sprintf(`{%s, "task": {"type": %q, "index": %d}}`, jobs, kind, index))
		var e *estimator.Estimator
		if err == nil {
			e, err = combined(dir, 2, c)
		}
		if err == nil {
			_, err = estimator.TrainAndEvaluate(ctx, e, estimator.TrainSpec{Input: words, MaxSteps: 300}, estimator.EvalSpec{Input: words})
		}
		if err != nil {
			t.Errorf("%s %d: %v", kind, index, err)
		}
	}
	var servers, workers sync.WaitGroup
	servers.Go(func() { one(serving, "ps", 0) })
	servers.Go(func() { one(serving, "ps", 1) })
	workers.Go(func() { one(ctx, "chief", 0) })
	workers.Go(func() { one(ctx, "worker", 0) })
	workers.Wait()
	stop()
	servers.Wait()
}

// partitionedShapes are what TensorFlow's estimator of such a model saves.
var partitionedShapes = map[string]tf.Shape{
	"global_step": {}, "beta1_power": {}, "beta2_power": {},
	"dnn/input_from_feature_columns/input_layer/word_embedding/embedding_weights": {9, 4},
	"dnn/hiddenlayer_0/kernel": {4, 3}, "dnn/hiddenlayer_0/bias": {3}, "dnn/logits/kernel": {3, 1}, "dnn/logits/bias": {1},
	"linear/linear_model/word/weights": {9, 1}, "linear/linear_model/bias_weights": {1},
}

// TestPartitioned trains tables that are cut over two parameter servers. The
// checkpoint has whole variables and whole slots, in a file for each server, and
// models that are cut otherwise, or not at all, compute the same from it.
func TestPartitioned(t *testing.T) {
	dir := t.TempDir()
	trainPartitioned(t, dir)
	path, err := train.LatestCheckpoint(dir)
	if err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(path + ".data-*-of-00002"); len(files) != 2 {
		t.Errorf("the checkpoint has %d files of two servers", len(files))
	}
	want := map[string]string{}
	for name, s := range partitionedShapes {
		switch {
		case strings.HasPrefix(name, "dnn/"):
			want[name+"/Adam"], want[name+"/Adam_1"] = fmt.Sprint(s), fmt.Sprint(s)
		case strings.HasPrefix(name, "linear/"):
			want[name+"/Ftrl"], want[name+"/Ftrl_1"] = fmt.Sprint(s), fmt.Sprint(s)
		case strings.HasPrefix(name, "beta"):
			name = "head/" + name
		}
		want[name] = fmt.Sprint(s)
	}
	infos, err := train.ListVariables(path)
	got := map[string]string{}
	for _, v := range infos {
		got[v.Name] = fmt.Sprint(v.Shape)
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v\nwant %v", got, err, slices.Sorted(maps.Keys(want)))
	}
	sameElsewhere(t, dir)
}

// sameElsewhere evaluates and continues the model in one process.
func sameElsewhere(t *testing.T, dir string) {
	last := math.NaN()
	for _, parts := range []int{0, 1, 3} {
		e, err := combined(dir, parts, nil)
		if err != nil {
			t.Fatal(err)
		}
		evaluate := func() float64 {
			m, err := e.Evaluate(t.Context(), words, estimator.EvalOptions{Steps: 1})
			if err != nil || m["accuracy"] != 1 {
				t.Fatalf("in %d parts: %v, %v", parts, m, err)
			}
			return m["loss"]
		}
		before := evaluate()
		if math.Abs(before-last) > 1e-5 {
			t.Errorf("in %d parts the loss is %v, it was %v", parts, before, last)
		}
		if err := e.Train(t.Context(), words, estimator.TrainOptions{Steps: 1}); err != nil {
			t.Fatalf("in %d parts: %v", parts, err)
		}
		if last = evaluate(); last >= before {
			t.Errorf("in %d parts the loss is %v after a step, it was %v", parts, last, before)
		}
	}
}

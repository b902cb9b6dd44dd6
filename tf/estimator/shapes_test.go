package estimator_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/train"
)

// shaped is the model of heads.py with metrics of all shapes and types.
func shaped(c *estimator.Call) (*estimator.Spec, error) {
	g, x := c.Graph, c.Features["x"].(tf.Output)
	positive := func(at string) tf.Output { return x.At(at).Greater(0).Cast(tf.Int64) }
	guess := positive(":, 0").Add(positive(":, 1"))
	matrix := tf.NewVariable(ops.Const(g, make([]int32, 9), 3, 3), tf.VariableOptions{Name: "matrix", Local: true})
	at := ops.Stack([]tf.Output{c.Labels["kind"].(tf.Output), guess}, 1)
	counts := ops.ScatterNd(at, ops.OnesLike(guess).Cast(tf.Int32), ops.Const(g, []int64{3, 3}))
	rows := ops.Scalar(g, int64(3))
	image := summary.Image("image", ops.Fill([]int{2, 4, 4, 1}, ops.Scalar(g, float32(1))), 2)
	return &estimator.Spec{
		Mode: c.Mode, Loss: x.Mean(0, 1), TrainOp: train.GlobalStep(g).AssignAdd(ops.Scalar(g, int64(1))),
		EvalMetrics: map[string]estimator.Metric{
			"matrix": estimator.MetricOf(matrix.Value(), ops.Identity(rows, tf.After(matrix.AssignAdd(counts)))),
			"mean":   estimator.MetricOf(metrics.MeanTensor(x)),
			"guess":  estimator.MetricOf(metrics.Mean(guess.Cast(tf.Float32))),
			"rows":   estimator.MetricOf(rows, rows),
			"image":  estimator.MetricOf(image, rows),
		},
	}, nil
}

// sameAs compares a tensor with its shape and its elements behind it.
func sameAs(t *testing.T, key string, got *tf.Tensor, want any) {
	t.Helper()
	list, _ := want.([]any)
	dims, _ := list[0].([]any)
	if got == nil || len(got.Shape()) != len(dims) || got.Len() != len(list)-1 {
		t.Errorf("%s: got %v, want %v", key, got, want)
		return
	}
	for i, v := range list[1:] {
		switch x := got.At(i).(type) {
		case float32:
			near(t, key, float64(x), v.(float64))
		case int32:
			near(t, key, float64(x), v.(float64))
		case int64:
			near(t, key, float64(x), v.(float64))
		}
	}
}

// TestMetricsOfShapes: metrics may be of any shape; they are returned and written
// as TensorFlow's are.
func TestMetricsOfShapes(t *testing.T) {
	want := readHeads(t).Shapes
	e, err := estimator.New(shaped, estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Train(t.Context(), again(severalInput), estimator.TrainOptions{Steps: 1}); err != nil {
		t.Fatal(err)
	}
	all, err := e.EvaluateTensors(t.Context(), again(severalInput), estimator.EvalOptions{Steps: 2})
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range want.Metrics {
		sameAs(t, key, all[key], v)
	}
	if all["image"] == nil || all["image"].DType() != tf.String || len(all) != len(want.Metrics)+1 {
		t.Errorf("results are %v", all)
	}
	sameEvents(t, e, want.Summary)
	m, err := e.Evaluate(t.Context(), again(severalInput), estimator.EvalOptions{Steps: 2, Name: "second"})
	if got := slices.Sorted(maps.Keys(m)); err != nil || !slices.Equal(got, []string{"global_step", "guess", "loss", "rows"}) {
		t.Errorf("numbers are %v, %v", m, err)
	}
}

// sameEvents compares what an evaluation has written.
func sameEvents(t *testing.T, e *estimator.Estimator, want map[string]any) {
	t.Helper()
	got := map[string]*pb.Summary_Value{}
	for _, ev := range eventsIn(t, e.EvalDir("")) {
		for _, v := range ev.GetSummary().GetValue() {
			got[v.GetTag()] = v
		}
	}
	path, _ := e.LatestCheckpoint()
	if s := got["checkpoint_path"].GetTensor().GetStringVal(); len(s) != 1 || string(s[0]) != path {
		t.Errorf("the path of the checkpoint is %q", s)
	}
	delete(got, "checkpoint_path")
	if a, b := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
		t.Fatalf("summaries are %q, want %q", a, b)
	}
	for tag, w := range want {
		switch w := w.(type) {
		case float64:
			near(t, tag, float64(got[tag].GetSimpleValue()), w)
		case string:
			if got[tag].GetImage().GetWidth() != 4 {
				t.Errorf("%s is %v", tag, got[tag])
			}
		default:
			x, err := core.TensorFromProto(got[tag].GetTensor())
			if err != nil {
				t.Fatalf("%s: %v", tag, err)
			}
			sameAs(t, tag, (*tf.Tensor)(x), w)
		}
	}
}

// TestBadMetrics are refused with the line.
func TestBadMetrics(t *testing.T) {
	for want, value := range map[string]func(c *estimator.Call) tf.Output{
		"must be a serialized summary": func(c *estimator.Call) tf.Output { return ops.Scalar(c.Graph, "\xff") },
		"must have a value":            func(*estimator.Call) tf.Output { return tf.Output{} },
	} {
		fn := func(c *estimator.Call) (*estimator.Spec, error) {
			s, err := shaped(c)
			s.EvalMetrics["bad"] = estimator.Metric{Value: value(c), Update: s.Loss}
			return s, err
		}
		e, err := estimator.New(fn, estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Evaluate(t.Context(), severalInput, estimator.EvalOptions{})
		if !mistake(err, want, "shapes_test.go:") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestMovedWords begins with an embedding whose vocabulary has changed, from the
// checkpoint of TensorFlow's estimator, as TensorFlow does.
func TestMovedWords(t *testing.T) {
	want := readHeads(t).Moved
	const embedding = "dnn/input_from_feature_columns/input_layer/word_embedding/embedding_weights"
	words := []string{"c", "d", "a", "e"}
	column := &feature.VocabularyColumn{Key: "word", List: words, OOV: 1}
	e, err := estimator.DNNRegressor(
		estimator.DNN{Columns: []feature.Dense{feature.Embedding(column, 2)}, Hidden: []int{3}, Optimizer: train.GradientDescent{LearningRate: 1e-30}},
		estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir()}, WarmStart: &estimator.WarmStart{
			From: "testdata/python/words/model.ckpt-20",
			Vocab: map[string]*train.VocabInfo{embedding: {
				NewFile: "testdata/new.txt", NewSize: 4, OOV: 1, OldFile: "testdata/old.txt", OldSize: 3, Initializer: initializers.Constant(0.25),
			}},
		}})
	if err != nil {
		t.Fatal(err)
	}
	in := table(map[string]any{"word": append(slices.Clone(words), "x"), "y": make([]float32, 5)}, "y")
	if err := e.Train(t.Context(), in, estimator.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	v, err := e.VariableValue(embedding)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want.Embedding {
		near(t, embedding, float64(tf.Data[float32](v)[i]), w)
	}
	i := 0
	for p, err := range e.Predict(t.Context(), in, estimator.PredictOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		near(t, "prediction", float64(tf.Data[float32](p["predictions"])[0]), want.Predictions[i])
		i++
	}
	if i != 5 {
		t.Errorf("%d predictions", i)
	}
}

// TestLossOfOneElement: a loss [1] is as good as a scalar in all modes.
func TestLossOfOneElement(t *testing.T) {
	x, err := tf.FromSlice([]float32{1, 2}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	in := func(context.Context) (*estimator.Input, error) {
		return &estimator.Input{Data: data.FromTensors(x), Keys: []string{"x"}}, nil
	}
	for _, shape := range [][]int{{}, {1}, {1, 1}} {
		fn := func(c *estimator.Call) (*estimator.Spec, error) {
			loss := ops.Reshape(c.Features["x"].(tf.Output).Mean(), shape)
			return &estimator.Spec{Mode: c.Mode, Loss: loss, TrainOp: train.GlobalStep(c.Graph).AssignAdd(ops.Scalar(c.Graph, int64(1)))}, nil
		}
		e, err := estimator.New(fn, estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Train(t.Context(), in, estimator.TrainOptions{}); err != nil {
			t.Errorf("a loss of shape %v is not trained: %v", shape, err)
		}
		if m, err := e.Evaluate(t.Context(), in, estimator.EvalOptions{}); err != nil || m["loss"] != 1.5 || m["global_step"] != 1 {
			t.Errorf("a loss of shape %v: %v, %v", shape, m, err)
		}
	}
}

package metrics_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/vars"
)

// ranked is a metric of labels, predictions and weights whose ranks only the step knows.
type ranked func(l, p, w tf.Output) (value, update tf.Output)

// TestUnknownRanks: a last dimension of size 1 that is one too many or missing is found
// by the step where the graph does not know ranks. The numbers are TensorFlow's.
func TestUnknownRanks(t *testing.T) {
	labels, predictions, weights := []float32{1, 0, 1, 1}, []float32{1, 1, 1, 0}, []float32{1, 2, 3, 4}
	weighted := func(w tf.Output) metrics.Options { return metrics.Options{Weights: w} }
	for name, c := range map[string]struct {
		f    ranked
		want float32
	}{
		"accuracy":          {func(l, p, _ tf.Output) (tf.Output, tf.Output) { return metrics.Accuracy(l, p) }, 0.5},
		"accuracy weighted": {func(l, p, w tf.Output) (tf.Output, tf.Output) { return metrics.Accuracy(l, p, weighted(w)) }, 0.4},
		"mean":              {func(l, _, w tf.Output) (tf.Output, tf.Output) { return metrics.Mean(l, weighted(w)) }, 0.8},
		"absolute":          {func(l, p, w tf.Output) (tf.Output, tf.Output) { return metrics.MeanAbsoluteError(l, p, weighted(w)) }, 0.6},
		"precision":         {func(l, p, w tf.Output) (tf.Output, tf.Output) { return metrics.Precision(l, p, weighted(w)) }, 4. / 6},
		"recall":            {func(l, p, w tf.Output) (tf.Output, tf.Output) { return metrics.Recall(l, p, weighted(w)) }, 0.5},
		"true positives":    {func(l, p, w tf.Output) (tf.Output, tf.Output) { return metrics.TruePositives(l, p, weighted(w)) }, 4},
		"at thresholds": {func(l, p, w tf.Output) (tf.Output, tf.Output) {
			return metrics.TruePositivesAtThresholds(l, p, []float32{0.5}, weighted(w))
		}, 4},
	} {
		for _, shapes := range [][3]tf.Shape{{{4}, {4, 1}, {4}}, {{4, 1}, {4}, {4, 1}}, {{4}, {4}, {4, 1}}, {{4, 1}, {4, 1}, {4}}, {{4, 1}, {4, 1}, {4, 1}}} {
			g := tf.NewGraph()
			var xs [3]tf.Output
			feeds := session.Feeds{}
			for i, v := range [][]float32{labels, predictions, weights} {
				x, err := tf.FromSlice(v, shapes[i]...)
				if err != nil {
					t.Fatal(err)
				}
				xs[i] = ops.Placeholder(g, tf.Float32, nil)
				feeds[xs[i]] = x
			}
			value, update := c.f(xs[0], xs[1], xs[2])
			compare(t, name, after(t, g, feeds, value, update), []float32{c.want})
		}
	}
}

// after returns a metric's value after a batch.
func after(t *testing.T, g *tf.Graph, feeds session.Feeds, value, update tf.Output) *tf.Tensor {
	t.Helper()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, vars.Initialize(g, "init", tf.Variables(g, tf.LocalVariables)...)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), feeds, update); err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context(), nil, value)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// TestWeightsOfUnknownRank: weights that fit no way fail the step, as in TensorFlow.
func TestWeightsOfUnknownRank(t *testing.T) {
	g := tf.NewGraph()
	x, w := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 1}), ops.Placeholder(g, tf.Float32, nil)
	_, update := metrics.Mean(x, metrics.Options{Weights: w})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, vars.Initialize(g, "init", tf.Variables(g, tf.LocalVariables)...)); err != nil {
		t.Fatal(err)
	}
	values, err := tf.FromSlice([]float32{1, 2, 3}, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := tf.FromSlice(make([]float32, 6), 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), session.Feeds{x: values, w: wide}, update); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v", err)
	}
}

// TestWeightsOfUnknownSize: more weights than values fail the step, as in TensorFlow.
func TestWeightsOfUnknownSize(t *testing.T) {
	for name, f := range map[string]func(x tf.Output, o metrics.Options) (value, update tf.Output){
		"mean":           func(x tf.Output, o metrics.Options) (tf.Output, tf.Output) { return metrics.Mean(x, o) },
		"true positives": func(x tf.Output, o metrics.Options) (tf.Output, tf.Output) { return metrics.TruePositives(x, x, o) },
	} {
		for rows, code := range map[int]tf.Code{3: tf.OK, 1: tf.InvalidArgument} {
			g := tf.NewGraph()
			x := ops.PlaceholderWithDefault(ops.Const(g, make([]float32, rows), rows, 1), tf.Shape{-1, 1})
			_, update := f(x, metrics.Options{Weights: ops.Const(g, []float32{1, 2, 3}, 3, 1)})
			s, err := session.New(g)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Run(t.Context(), nil, vars.Initialize(g, "init", tf.Variables(g, tf.LocalVariables)...)); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Run(t.Context(), nil, update); tf.CodeOf(err) != code {
				t.Errorf("%s of %d values: %v", name, rows, err)
			}
		}
	}
}

// TestNormalizerOfAnotherRank: a last dimension of size 1 may be missing in the
// normalizer, or be one too many. Numbers are TensorFlow's, which refuses a normalizer of
// lower rank than labels.
func TestNormalizerOfAnotherRank(t *testing.T) {
	labels, predictions, normalizer := []float32{1, 2, 3, 4}, []float32{2, 2, 1, 4}, []float32{2, 0, 4, 1}
	for _, shapes := range [][3]tf.Shape{{{4}, {4}, {4}}, {{4}, {4}, {4, 1}}, {{4, 1}, {4, 1}, {4}}, {{4}, {4, 1}, {4, 1}}} {
		for _, known := range []bool{true, false} {
			g := tf.NewGraph()
			var xs [3]tf.Output
			for i, v := range [][]float32{labels, predictions, normalizer} {
				if xs[i] = ops.Const(g, v, shapes[i]...); !known {
					xs[i] = ops.PlaceholderWithDefault(xs[i], nil)
				}
			}
			value, update := metrics.MeanRelativeError(xs[0], xs[1], xs[2])
			compare(t, shapes[2].String(), after(t, g, nil, value, update), []float32{0.25})
		}
	}
}

// TestLabelsOfNoClass: a label that is no class fails the step.
func TestLabelsOfNoClass(t *testing.T) {
	for _, label := range []int64{-1, 2} {
		g := tf.NewGraph()
		labels, predictions := ops.Const(g, []int64{0, label}), ops.Const(g, []int64{0, 1})
		_, accuracy := metrics.MeanPerClassAccuracy(labels, predictions, 2)
		_, iou := metrics.MeanIOU(labels, predictions, 2)
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), nil, vars.Initialize(g, "init", tf.Variables(g, tf.LocalVariables)...)); err != nil {
			t.Fatal(err)
		}
		for i, update := range []tf.Output{accuracy, iou} {
			if _, err := s.Run(t.Context(), nil, update); tf.CodeOf(err) != tf.InvalidArgument {
				t.Errorf("metric %d of label %d: %v", i, label, err)
			}
		}
		s.Close()
	}
}

// TestThresholdOfAnyType: values are compared with the threshold as it is.
func TestThresholdOfAnyType(t *testing.T) {
	g := tf.NewGraph()
	for name, x := range map[string]struct {
		values    tf.Output
		threshold float64
	}{
		"float64": {ops.Const(g, []float64{0.1, 0.05}), 0.1}, // 0.1 is greater as float32
		"float32": {ops.Const(g, []float32{0.1, 0.05}), 0.1},
		"int32":   {ops.Const(g, []int32{2, 3}), 2.5},
	} {
		value, update := metrics.PercentageBelow(x.values, x.threshold)
		compare(t, name, after(t, g, nil, value, update), []float32{0.5})
	}
}

package estimator_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// ownLoss is the function of ported.py: it sees labels and logits as they are.
func ownLoss(labels, logits tf.Output, _ feature.Features) tf.Output {
	if len(labels.Shape()) != len(logits.Shape()) {
		return labels
	}
	return labels.Cast(tf.Float32).Sub(logits).Abs().Sum(len(logits.Shape()) - 1).Reshape(append(slices.Clone([]int(logits.Shape()[:len(logits.Shape())-1])), 1)...)
}

// deepHeads are those of ported.py, with the labels that they take.
func deepHeads(t *testing.T) map[string]struct {
	label string
	size  int
	head  estimator.AnyHead
} {
	t.Helper()
	sum := losses.Sum
	mean := estimator.HeadOptions{MeanLoss: true}
	with := func(change func(o *estimator.HeadOptions)) estimator.HeadOptions {
		o := mean
		change(&o)
		return o
	}
	must := func(h *estimator.Head, err error) *estimator.Head {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	weight := with(func(o *estimator.HeadOptions) { o.WeightColumn = "weight" })
	binary := with(func(o *estimator.HeadOptions) { o.WeightColumn, o.Thresholds = "weight", []float32{0.4} })
	labels := with(func(o *estimator.HeadOptions) {
		o.WeightColumn, o.Thresholds, o.ClassMetrics = "weight1", []float32{0.5}, []int{1}
	})
	number := with(func(o *estimator.HeadOptions) {
		o.WeightColumn, o.InverseLink = "weight", func(x tf.Output) tf.Output { return x.Exp() }
	})
	multi, err := estimator.NewMultiHead([]*estimator.Head{
		must(estimator.MultiClassHead(3, with(func(o *estimator.HeadOptions) { o.Name = "a" }))),
		must(estimator.RegressionHead(1, with(func(o *estimator.HeadOptions) { o.Name, o.WeightColumn = "b", "weight" }))),
	})
	if err != nil {
		t.Fatal(err)
	}
	type entry = struct {
		label string
		size  int
		head  estimator.AnyHead
	}
	return map[string]entry{
		"binary":     {"steps", 1, must(estimator.BinaryHead(binary))},
		"binary_sum": {"steps", 1, must(estimator.BinaryHead(estimator.HeadOptions{}))},
		"binary_own": {"steps", 1, must(estimator.BinaryHead(with(func(o *estimator.HeadOptions) { o.Loss = ownLoss })))},
		"classes":    {"third", 3, must(estimator.MultiClassHead(3, weight))},
		"words":      {"words", 3, must(estimator.MultiClassHead(3, with(func(o *estimator.HeadOptions) { o.Vocabulary = []string{"a", "b", "c"} })))},
		"labels":     {"two", 2, must(estimator.MultiLabelHead(2, labels))},
		"number":     {"number", 1, must(estimator.RegressionHead(1, number))},
		"numbers":    {"numbers", 2, must(estimator.RegressionHead(2, estimator.HeadOptions{WeightColumn: "weight2", Reduction: &sum}))},
		"poisson":    {"number", 1, must(estimator.PoissonHead(1, mean))},
		"multi":      {"both", 4, multi},
	}
}

// deepCall is the call of a model with the data of ported.py, and its logits.
func deepCall(g *tf.Graph, mode estimator.Mode, label string, size int, dims []int) (*estimator.Call, tf.Output) {
	n := tf.Shape(dims).NumElements()
	shape := func(more ...int) []int { return append(slices.Clone(dims), more...) }
	var steps, third, two []int64
	var words []string
	var weight, weight2, number, numbers, logits []float32
	for i := range n {
		steps, third = append(steps, int64(i%2)), append(third, int64(i%3))
		isThird := int64(0)
		if i%3 == 0 {
			isThird = 1
		}
		two, words = append(two, int64(i%2), isThird), append(words, []string{"a", "b", "c"}[i*i%3])
		w := float32(1 + i%3)
		weight, weight2 = append(weight, w), append(weight2, w, w/2)
		number, numbers = append(number, float32(float64(i)*0.1)), append(numbers, float32(float64(i)*0.1), float32(math.Cos(float64(i))))
	}
	for i := range n * size {
		logits = append(logits, float32(math.Sin(float64(i)*1.1)))
	}
	all := feature.Features{
		"steps": ops.Const(g, steps, shape()...), "third": ops.Const(g, third, shape(1)...), "words": ops.Const(g, words, shape()...),
		"two": ops.Const(g, two, shape(2)...), "number": ops.Const(g, number, shape()...), "numbers": ops.Const(g, numbers, shape(2)...),
	}
	c := &estimator.Call{Graph: g, Mode: mode, Labels: feature.Features{"label": all[label]}, Features: feature.Features{
		"weight": ops.Const(g, weight, shape()...), "weight1": ops.Const(g, weight, shape(1)...), "weight2": ops.Const(g, weight2, shape(2)...),
	}}
	if label == "both" {
		c.Labels = feature.Features{"a": all["third"], "b": all["number"]}
	}
	return c, ops.Const(g, logits, shape(size)...)
}

// initialized returns a session with local variables and tables ready.
func initialized(t *testing.T, g *tf.Graph) *session.Session {
	t.Helper()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	sc := &train.Scaffold{}
	if err := sc.Finalize(g); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), nil, sc.InitOp); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), nil, sc.LocalInitOp); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDeepHeadsAsTensorFlow compares heads on logits of ranks 2 to 4 with the heads
// of TensorFlow 1.15: losses, metrics with weights, and predictions.
func TestDeepHeadsAsTensorFlow(t *testing.T) {
	all := readPorted(t).Deep
	if len(all) != 30 {
		t.Fatalf("%d cases", len(all))
	}
	for _, want := range all {
		t.Run(fmt.Sprint(want.Head, want.Dims), func(t *testing.T) {
			h := deepHeads(t)[want.Head]
			g := tf.NewGraph()
			c, logits := deepCall(g, estimator.Eval, h.label, h.size, want.Dims)
			s, err := h.head.Spec(c, logits, nil)
			if err != nil {
				t.Fatal(err)
			}
			var updates, values, predictions []tf.Fetchable
			keys, served := slices.Sorted(maps.Keys(s.EvalMetrics)), slices.Sorted(maps.Keys(s.Predictions))
			if !slices.Equal(keys, slices.Sorted(maps.Keys(want.Metrics))) || !slices.Equal(served, slices.Sorted(maps.Keys(want.Predictions))) {
				t.Errorf("got metrics %q, predictions %q; want %v, %v", keys, served, want.Metrics, want.Predictions)
			}
			for _, key := range keys {
				updates, values = append(updates, s.EvalMetrics[key].Update), append(values, s.EvalMetrics[key].Value)
			}
			for _, key := range served {
				predictions = append(predictions, s.Predictions[key])
			}
			run := initialized(t, g)
			if _, err := run.Run(t.Context(), nil, updates...); err != nil {
				t.Fatal(err)
			}
			got, err := run.Run(t.Context(), nil, append(append(values, predictions...), s.Loss)...)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "loss", float64(tf.Data[float32](got[len(got)-1])[0]), want.Loss)
			for i, key := range keys {
				near(t, key, float64(tf.Data[float32](got[i])[0]), want.Metrics[key])
			}
			for i, key := range served {
				sameTensor(t, key, got[len(keys)+i], want.Predictions[key])
			}
		})
	}
}

// sameTensor compares with the shape and the elements that ported.py writes.
func sameTensor(t *testing.T, key string, got *tf.Tensor, want []any) {
	t.Helper()
	var shape []any
	for _, n := range got.Shape() {
		shape = append(shape, float64(n))
	}
	if fmt.Sprint(shape) != fmt.Sprint(want[0]) || got.Len() != len(want)-1 {
		t.Errorf("%s: got %v, want %v", key, got, want)
		return
	}
	for i, v := range want[1:] {
		if x, ok := got.At(i).(float32); ok {
			near(t, key, float64(x), v.(float64))
		} else if fmt.Sprint(got.At(i)) != fmt.Sprint(v) {
			t.Errorf("%s: got %v, want %v", key, got, want)
			return
		}
	}
}

// TestDeepHeadsRefuse: labels, weights and losses that do not fit the logits, known
// when the graph is built or only in the step.
func TestDeepHeadsRefuse(t *testing.T) {
	static := map[string]func(c *estimator.Call){
		"weights shape must be [D0, D1, ... DN]":   func(c *estimator.Call) { c.Features["weight"] = ops.Const(c.Graph, []float32{1, 2}) },
		"labels shape must be [D0, D1, ... DN, 1]": func(c *estimator.Call) { c.Labels["label"] = ops.Const(c.Graph, []int64{1, 0}) },
		"logits must be float32":                   nil,
	}
	for want, change := range static {
		g := tf.NewGraph()
		c, logits := deepCall(g, estimator.Eval, "steps", 1, []int{2, 3})
		if change == nil {
			logits = logits.Reshape(6)
		} else {
			change(c)
		}
		if _, err := deepHeads(t)["binary"].head.Spec(c, logits, nil); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for want, change := range map[string]func(c *estimator.Call, swap tf.Output){
		"labels shape must be [D0, D1, ... DN, 1]": func(c *estimator.Call, swap tf.Output) {
			c.Labels["label"] = c.Labels["label"].(tf.Output).Reshape(3, 2)
		},
		"weights shape must be [D0, D1, ... DN]": func(c *estimator.Call, swap tf.Output) {
			c.Features["weight"] = c.Features["weight"].(tf.Output).Reshape(3, 2)
		},
	} {
		g := tf.NewGraph()
		c, logits := deepCall(g, estimator.Eval, "steps", 1, []int{2, 3})
		change(c, logits)
		s, err := deepHeads(t)["binary"].head.Spec(c, logits, nil)
		if err == nil {
			_, err = initialized(t, g).Run(t.Context(), nil, s.Loss)
		}
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

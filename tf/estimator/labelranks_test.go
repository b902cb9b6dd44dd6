package estimator_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestLabelsOfUnknownRank: labels and weights whose rank only the step knows, [batch] or
// [batch 1], have the losses and metrics of labels whose rank is known.
func TestLabelsOfUnknownRank(t *testing.T) {
	labels, weights := []float32{0, 1, 1, 0}, []float32{1, 2, 3, 4}
	heads := map[string]func() (*estimator.Head, error){
		"binary": func() (*estimator.Head, error) { return estimator.BinaryHead(estimator.HeadOptions{WeightColumn: "w"}) },
		"regression": func() (*estimator.Head, error) {
			return estimator.RegressionHead(1, estimator.HeadOptions{WeightColumn: "w"})
		},
		"poisson": func() (*estimator.Head, error) {
			return estimator.PoissonHead(1, estimator.HeadOptions{WeightColumn: "w"})
		},
		"classes": func() (*estimator.Head, error) {
			return estimator.MultiClassHead(3, estimator.HeadOptions{WeightColumn: "w"})
		},
	}
	for name, make := range heads {
		t.Run(name, func(t *testing.T) {
			var want []float32
			for i, shape := range []tf.Shape{{-1, 1}, nil, nil} {
				fed := tf.Shape{4, 1}
				if i == 2 {
					fed = tf.Shape{4}
				}
				got := lossAndMetrics(t, make, shape, fed, labels, weights)
				if want == nil {
					want = got
				}
				for k := range want {
					near(t, name, float64(got[k]), float64(want[k]))
				}
			}
		})
	}
}

// lossAndMetrics returns the loss and the metrics that heads have, of labels and weights
// of a shape in the graph that are fed in another.
func lossAndMetrics(t *testing.T, make func() (*estimator.Head, error), shape, fed tf.Shape, labels, weights []float32) (out []float32) {
	t.Helper()
	h, err := make()
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	l, w := ops.Placeholder(g, tf.Float32, shape), ops.Placeholder(g, tf.Float32, shape)
	y := l
	if h.LogitsSize() == 3 {
		y = l.Cast(tf.Int64)
	}
	c := &estimator.Call{Graph: g, Mode: estimator.Eval, Features: feature.Features{"w": w}, Labels: feature.Features{"y": y}}
	logits := ops.Const(g, []float32{0.3, -1, 2, 0.5, 1, -0.7, 0.1, 0.2, 0.9, 1.1, -2, 0}[:4*h.LogitsSize()], 4, h.LogitsSize())
	s, err := h.Spec(c, logits, nil)
	if err != nil {
		t.Fatal(err)
	}
	feeds := session.Feeds{}
	for x, v := range map[tf.Output][]float32{l: labels, w: weights} {
		if feeds[x], err = tf.FromSlice(v, fed...); err != nil {
			t.Fatal(err)
		}
	}
	updates, values := []tf.Fetchable{s.Loss}, []tf.Fetchable{}
	for _, key := range []string{"average_loss", "accuracy", "auc", "label/mean", "precision"} {
		if m, ok := s.EvalMetrics[key]; ok {
			updates, values = append(updates, m.Update), append(values, m.Value)
		}
	}
	run := initialized(t, g)
	first, err := run.Run(t.Context(), feeds, updates...)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := run.Run(t.Context(), nil, values...)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range append(first[:1], rest...) {
		out = append(out, tf.Data[float32](x)[0])
	}
	return out
}

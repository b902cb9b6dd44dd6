package estimator_test

import (
	"context"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestReductions: squared errors 1, 4 and 9 with weights 2, 0 and 1 are reduced
// as tf.losses.Reduction defines it.
func TestReductions(t *testing.T) {
	for r, want := range map[losses.Reduction]float32{
		losses.Sum: 11, losses.Mean: 11.0 / 3, losses.SumOverBatchSize: 11.0 / 3, losses.SumByNonzeroWeights: 11.0 / 2,
	} {
		h, err := estimator.RegressionHead(1, estimator.HeadOptions{WeightColumn: "w", Reduction: &r})
		if err != nil {
			t.Fatal(err)
		}
		g := tf.NewGraph()
		column := func(x ...float32) tf.Output { return ops.Const(g, x, 3, 1) }
		c := &estimator.Call{Graph: g, Mode: estimator.Eval, Features: map[string]any{"w": column(2, 0, 1)}, Labels: map[string]any{"y": column(1, 2, 3)}}
		spec, err := h.Spec(c, column(0, 0, 0), nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got, err := session.Fetch[float32](t.Context(), s, nil, spec.Loss); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("reduction %v: got %v, %v, want %v", r, got, err, want)
		}
	}
	none, mean := losses.None, losses.Mean
	for _, o := range []estimator.HeadOptions{{Reduction: &none}, {Reduction: &mean, MeanLoss: true}} {
		if _, err := estimator.BinaryHead(o); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("got %v", err)
		}
	}
}

// TestWeightsOfNumbers: a regression of two numbers has a weight for each example, or
// for each number. Wants are TensorFlow 2.15's. Other heads refuse the latter.
func TestWeightsOfNumbers(t *testing.T) {
	x, err := tf.FromSlice(make([]float32, 3), 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		weights             []float32
		loss, average, mean float64
	}{{[]float32{1, 2, 0, 3, 0.5, 1}, 105.5, 14.066667, 3.4}, {[]float32{1, 0, 0.5}, 35.5, 11.833333, 2.8333333}} {
		in := func(context.Context) (*estimator.Input, error) {
			w, err := tf.FromSlice(c.weights, 3, len(c.weights)/3)
			if err != nil {
				return nil, err
			}
			y, err := tf.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
			return &estimator.Input{Data: data.FromTensors(x, w, y), Keys: []string{"x", "w", "y"}, Labels: []string{"y"}}, err
		}
		task := estimator.Task{Dimension: 2, Head: estimator.HeadOptions{WeightColumn: "w"}, Config: estimator.RunConfig{ModelDir: t.TempDir()}}
		e, err := estimator.LinearRegressor(estimator.Linear{Columns: []feature.Column{feature.Numeric("x")}}, task)
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Evaluate(t.Context(), in, estimator.EvalOptions{})
		for key, want := range map[string]float64{"loss": c.loss, "average_loss": c.average, "label/mean": c.mean} {
			if err != nil || math.Abs(m[key]-want) > 1e-5 {
				t.Errorf("weights %v: %s is %v, %v, want %v", c.weights, key, m[key], err, want)
			}
		}
	}
	two, err := estimator.RegressionHead(2, estimator.HeadOptions{WeightColumn: "w", NormalizeWeight: func(w tf.Output) tf.Output { return w.Sub(1<<40 + 1).Mul(2) }})
	if err != nil {
		t.Fatal(err)
	}
	ng := tf.NewGraph()
	nc := &estimator.Call{Graph: ng, Mode: estimator.Eval, Features: map[string]any{"w": ops.Const(ng, []int64{1<<40 + 1, 1<<40 + 3, 1<<40 + 2}, 3, 1)}, Labels: map[string]any{"y": ops.Const(ng, []float32{1, 2, 3, 4, 5, 6}, 3, 2)}}
	spec, err := two.Spec(nc, ops.Const(ng, make([]float32, 6), 3, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(ng)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if loss, err := session.Fetch[float32](t.Context(), s, nil, spec.Loss); err != nil || loss[0] != 4*(9+16)+2*(25+36) {
		t.Errorf("normalized weights: got %v, %v", loss, err)
	}
	h, err := estimator.MultiLabelHead(2, estimator.HeadOptions{WeightColumn: "w"})
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	pairs := ops.Const(g, make([]float32, 6), 3, 2)
	c := &estimator.Call{Graph: g, Mode: estimator.Eval, Features: map[string]any{"w": pairs}, Labels: map[string]any{"y": pairs}}
	if _, err := h.Spec(c, pairs, nil); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("weights of numbers for labels: got %v", err)
	}
}

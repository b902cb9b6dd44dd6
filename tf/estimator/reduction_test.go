package estimator_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
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

package estimator_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestNamesOfThresholds: they have six digits, as Python writes them.
func TestNamesOfThresholds(t *testing.T) {
	h, err := estimator.BinaryHead(estimator.HeadOptions{Thresholds: []float32{0.5, 1. / 3, 0.0001}})
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	c := &estimator.Call{Graph: g, Mode: estimator.Eval, Labels: feature.Features{"y": ops.Const(g, []int64{0, 1}, 2, 1)}}
	s, err := h.Spec(c, ops.Const(g, []float32{0, 1}, 2, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"accuracy/positive_threshold_0.5", "recall/positive_threshold_0.333333", "precision/positive_threshold_0.0001"} {
		if _, ok := s.EvalMetrics[key]; !ok {
			t.Errorf("there is no metric %s among %v", key, s.EvalMetrics)
		}
	}
}

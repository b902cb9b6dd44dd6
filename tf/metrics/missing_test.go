package metrics_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestMissing: a zero Output in place of any operand is a mistake.
func TestMissing(t *testing.T) {
	type two func(labels, predictions tf.Output) (value, update tf.Output)
	half := []float32{0.5}
	for name, f := range map[string]two{
		"accuracy":       func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.Accuracy(l, p) },
		"true positives": func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.TruePositives(l, p) },
		"precision":      func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.Precision(l, p) },
		"recall at":      func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.RecallAtThresholds(l, p, half) },
		"auc":            func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.AUC(l, p) },
		"iou":            func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.MeanIOU(l, p, 2) },
		"by class":       func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.MeanPerClassAccuracy(l, p, 2) },
		"cosine":         func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.MeanCosineDistance(l, p, 0) },
		"root":           func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.RootMeanSquaredError(l, p) },
		"precision at k": func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.PrecisionAtK(l, p, 1, 0) },
		"recall of top":  func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.RecallAtTopK(l, p, 0) },
		"average":        func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.AveragePrecisionAtK(l, p, 1) },
		"relative":       func(l, p tf.Output) (tf.Output, tf.Output) { return metrics.MeanRelativeError(l, l, p) },
		"tensor":         func(_, p tf.Output) (tf.Output, tf.Output) { return metrics.MeanTensor(p) },
		"mean":           func(l, _ tf.Output) (tf.Output, tf.Output) { return metrics.Mean(l) },
		"below":          func(l, _ tf.Output) (tf.Output, tf.Output) { return metrics.PercentageBelow(l, 1) },
	} {
		x := ops.Const(tf.NewGraph(), []float32{1, 1})
		for i, in := range [][2]tf.Output{{{}, x}, {x, {}}, {{}, {}}} {
			if i == 0 && name == "tensor" || i == 1 && (name == "mean" || name == "below") {
				continue
			}
			if value, update := f(in[0], in[1]); tf.CodeOf(value.Err()) != tf.InvalidArgument || tf.CodeOf(update.Err()) != tf.InvalidArgument {
				t.Errorf("%s: %v, %v", name, value.Err(), update.Err())
			}
		}
	}
}

// TestWhatIsNoClass: errors say so, and which operand has it.
func TestWhatIsNoClass(t *testing.T) {
	for want, f := range map[string]func(good, bad tf.Output) (value, update tf.Output){
		"[`labels` out of bound: a class must be in [0, 3)] [1 5]":      func(good, bad tf.Output) (tf.Output, tf.Output) { return metrics.MeanIOU(bad, good, 3) },
		"[`predictions` out of bound: a class must be in [0, 3)] [1 5]": func(good, bad tf.Output) (tf.Output, tf.Output) { return metrics.MeanIOU(good, bad, 3) },
		"`labels` out of bound: a class must be in [0, 3)":              func(good, bad tf.Output) (tf.Output, tf.Output) { return metrics.MeanPerClassAccuracy(bad, good, 3) },
	} {
		g := tf.NewGraph()
		_, update := f(ops.Const(g, []int32{0, 2}), ops.Const(g, []int32{1, 5}))
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), nil, update); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

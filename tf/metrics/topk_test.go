package metrics_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/vars"
)

// TestLabelsThatAreNone: negative labels fill up rows of fewer labels, and do not count
// among those that there are. The number is TensorFlow's.
func TestLabelsThatAreNone(t *testing.T) {
	g := tf.NewGraph()
	labels := ops.Const(g, []int64{1, -1, 0, 2}, 2, 2)
	scores := ops.Const(g, []float32{0.1, 0.9, 0.3, 0.5, 0.2, 0.4}, 2, 3)
	value, update := metrics.AveragePrecisionAtK(labels, scores, 2)
	compare(t, "average precision", after(t, g, nil, value, update), []float32{1})
}

// TestNeverAtK: a class that is neither predicted nor a label has no precision and no
// recall, as in TensorFlow.
func TestNeverAtK(t *testing.T) {
	for name, f := range map[string]func(labels, scores tf.Output) (value, update tf.Output){
		"precision": func(l, s tf.Output) (tf.Output, tf.Output) { return metrics.PrecisionAtK(l, s, 2, 1) },
		"recall":    func(l, s tf.Output) (tf.Output, tf.Output) { return metrics.RecallAtK(l, s, 2, 1) },
	} {
		g := tf.NewGraph()
		value, update := f(ops.Const(g, []int64{0, 2}, 2, 1), ops.Const(g, []float32{0.9, 0, 0.3, 0.5, 0.2, 0.4}, 2, 3))
		if x := after(t, g, nil, value, update); !math.IsNaN(tf.Data[float64](x)[0]) {
			t.Errorf("%s is %v", name, x)
		}
	}
}

// TestTwiceAtTopK: of classes that are predicted, or labels, more than once in an example each
// counts once. The numbers are TensorFlow's.
func TestTwiceAtTopK(t *testing.T) {
	for name, c := range map[string]struct {
		f     func(labels, classes tf.Output, class int, o ...metrics.Options) (value, update tf.Output)
		class int
		want  float32
	}{
		"precision": {metrics.PrecisionAtTopK, metrics.AnyClass, 0.6}, "recall": {metrics.RecallAtTopK, metrics.AnyClass, 0.75},
		"precision of a class": {metrics.PrecisionAtTopK, 1, 1}, "of another": {metrics.PrecisionAtTopK, 5, 0},
	} {
		g := tf.NewGraph()
		value, update := c.f(ops.Const(g, []int64{1, 1, 2, 3, 4, 4}, 2, 3), ops.Const(g, []int64{1, 1, 5, 5, 4, 3, 3, 7}, 2, 4), c.class)
		compare(t, name, after(t, g, nil, value, update), []float32{c.want})
	}
}

// TestOtherExamplesAtK: labels of one example do not stand for those of all.
func TestOtherExamplesAtK(t *testing.T) {
	for name, f := range map[string]func(labels, scores tf.Output) (value, update tf.Output){
		"precision": func(l, s tf.Output) (tf.Output, tf.Output) { return metrics.PrecisionAtK(l, s, 1, metrics.AnyClass) },
		"recall":    func(l, s tf.Output) (tf.Output, tf.Output) { return metrics.RecallAtK(l, s, 1, 1) },
		"average":   func(l, s tf.Output) (tf.Output, tf.Output) { return metrics.AveragePrecisionAtK(l, s, 1) },
	} {
		for _, known := range []bool{true, false} {
			g := tf.NewGraph()
			labels, scores := ops.Const(g, []int64{0, 1}, 1, 2), ops.Const(g, []float32{0, 1, 0, 1, 0, 1}, 3, 2)
			if !known {
				labels = ops.PlaceholderWithDefault(labels, tf.Shape{-1, 2})
			}
			_, update := f(labels, scores)
			s, err := session.New(g)
			if err == nil {
				_, err = s.Run(t.Context(), nil, vars.Initialize(g, "init", tf.Variables(g, tf.LocalVariables)...))
			}
			if err == nil {
				_, err = s.Run(t.Context(), nil, update)
				s.Close()
			}
			if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "of the examples") {
				t.Errorf("%s, known %v: %v", name, known, err)
			}
		}
	}
}

// TestWeightsAtK: weights of metrics that are float64 are not rounded to float32. The number
// is TensorFlow's.
func TestWeightsAtK(t *testing.T) {
	g := tf.NewGraph()
	weights := metrics.Options{Weights: ops.Const(g, []int64{1<<24 + 1, 1})}
	value, update := metrics.PrecisionAtTopK(ops.Const(g, []int64{0, 1}, 2, 1), ops.Const(g, []int64{0, 2}, 2, 1), metrics.AnyClass, weights)
	if x := tf.Data[float64](after(t, g, nil, value, update))[0]; x != 0.9999999403953623 {
		t.Errorf("got %v", x)
	}
}

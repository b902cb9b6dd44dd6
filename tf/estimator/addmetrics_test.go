package estimator_test

import (
	"errors"
	"fmt"
	"log"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestAddMetrics: evaluations have the metrics of the model, those of the function,
// and of both where a name is taken; training and predictions know nothing of them.
func TestAddMetrics(t *testing.T) {
	plain, err := estimator.LinearRegressor(estimator.Linear{Columns: []feature.Column{feature.Numeric("x")}}, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	e, err := estimator.AddMetrics(plain, func(c *estimator.Call, p map[string]tf.Output) (map[string]estimator.Metric, error) {
		calls++
		label := c.Label()
		delete(c.Labels, "y") // of the function alone
		return map[string]estimator.Metric{
			"mae":        estimator.MetricOf(metrics.MeanAbsoluteError(label, p["predictions"])),
			"label/mean": estimator.MetricOf(metrics.Mean(ops.ZerosLike(label).Sub(1))),
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Train(t.Context(), points(3), estimator.TrainOptions{}); err != nil || calls != 0 {
		t.Fatal(err, calls)
	}
	want, err := plain.Evaluate(t.Context(), points(4), estimator.EvalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Evaluate(t.Context(), points(4), estimator.EvalOptions{})
	if err != nil || calls != 1 || !(m["mae"] > 0) || m["label/mean"] != -1 || len(m) != len(want)+1 {
		t.Errorf("got %v, %v after %d calls", m, err, calls)
	}
	if want["label/mean"] == -1 || math.Abs(m["loss"]-want["loss"]) > 1e-6 || m["average_loss"] != want["average_loss"] {
		t.Errorf("got %v, without the function %v", m, want)
	}
}

// TestAddMetricsMistakes: a function's error and metrics without parts are told, and
// neither an estimator nor a function is left out.
func TestAddMetricsMistakes(t *testing.T) {
	bad, e := errors.New("no such label"), newLine(t, t.TempDir())
	failing, err := estimator.AddMetrics(e, func(*estimator.Call, map[string]tf.Output) (map[string]estimator.Metric, error) { return nil, bad })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := failing.Evaluate(t.Context(), points(1), estimator.EvalOptions{}); !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
	half, err := estimator.AddMetrics(e, func(*estimator.Call, map[string]tf.Output) (map[string]estimator.Metric, error) {
		return map[string]estimator.Metric{"m": {}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := half.Evaluate(t.Context(), points(1), estimator.EvalOptions{}); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v", err)
	}
	if _, err := estimator.AddMetrics(nil, nil); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v", err)
	}
	if _, err := estimator.AddMetrics(e, nil); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v", err)
	}
}

// How far a ready-made model is off, beside the metrics that it has.
func ExampleMetricsFn() {
	dir, remove := quiet()
	defer remove()
	e, err := estimator.BaselineRegressor(estimator.Baseline{}, estimator.Task{Config: estimator.RunConfig{ModelDir: dir}})
	if err != nil {
		log.Fatal(err)
	}
	var off estimator.MetricsFn = func(c *estimator.Call, p map[string]tf.Output) (map[string]estimator.Metric, error) {
		return map[string]estimator.Metric{"off": estimator.MetricOf(metrics.MeanAbsoluteError(c.Label().Reshape(-1, 1), p["predictions"]))}, nil
	}
	if e, err = estimator.AddMetrics(e, off); err != nil {
		log.Fatal(err)
	}
	m := learn(e, doubled)
	fmt.Printf("%.2f off, mean squared error %.2f\n", m["off"], m["average_loss"])
	// Output: 2.00 off, mean squared error 5.00
}

package estimator_test

import (
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// A rate that falls with the global step.
func ExampleOptimizerFn() {
	dir, remove := quiet()
	defer remove()
	falling := estimator.OptimizerFn(func(g *tf.Graph) (train.Optimizer, error) {
		rate := train.ExponentialDecay{LearningRate: 0.05, Decay: 0.5, Steps: 100}
		return train.GradientDescent{Rate: rate.At(train.GlobalStep(g).Value())}, nil
	})
	e, err := estimator.LinearRegressor(
		estimator.Linear{Columns: []feature.Column{feature.Numeric("x")}, Optimizer: falling},
		estimator.Task{Config: estimator.RunConfig{ModelDir: dir}, Head: estimator.HeadOptions{MeanLoss: true}})
	if err != nil {
		log.Fatal(err)
	}
	m := learn(e, doubled)
	fmt.Printf("mean squared error %.2f\n", m["average_loss"])
	// Output: mean squared error 0.00
}

// TestOptimizerFnRefuses: what a function of optimizers must not return.
func TestOptimizerFnRefuses(t *testing.T) {
	for want, f := range map[string]estimator.OptimizerFn{
		"needs a function":            nil,
		"must return an optimizer of": func(*tf.Graph) (train.Optimizer, error) { return nil, nil },
		"got a *train.SyncReplicas":   func(*tf.Graph) (train.Optimizer, error) { return &train.SyncReplicas{}, nil },
		"no rate":                     func(*tf.Graph) (train.Optimizer, error) { return nil, errors.New("no rate") },
	} {
		m := estimator.Linear{Columns: portedColumns(), Optimizer: f}
		e, err := estimator.LinearClassifier(m, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Train(t.Context(), portedInput(1), estimator.TrainOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestLogits: a network within a model of one's own has the names of TensorFlow's
// dnn_logit_fn_builder.
func TestLogits(t *testing.T) {
	g := tf.NewGraph()
	c := &estimator.Call{Graph: g, Mode: estimator.Train, Features: feature.Features{"x": ops.Const(g, []float32{1, 2, 3})}}
	y := estimator.DNN{Columns: []feature.Dense{feature.Numeric("x")}, Hidden: []int{4}}.Logits(c, 2)
	if y.Err() != nil || !y.Shape().Equal(tf.Shape{3, 2}) {
		t.Errorf("got %v, %v", y, y.Err())
	}
	var names []string
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		names = append(names, v.Name())
	}
	if want := []string{"hiddenlayer_0/kernel", "hiddenlayer_0/bias", "logits/kernel", "logits/bias"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if y := (estimator.DNN{Columns: []feature.Dense{feature.Numeric("x")}, Dropout: 2}).Logits(c, 2); tf.CodeOf(y.Err()) != tf.InvalidArgument {
		t.Errorf("got %v", y.Err())
	}
}

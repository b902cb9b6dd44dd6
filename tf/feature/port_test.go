package feature_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// people are the examples of testdata/port.py and their labels.
func people(g *tf.Graph) (f feature.Features, labels tf.Output) {
	const n = 32
	var age, label []float32
	var job []string
	for i := range n {
		a, j := i*7%50, i*i%7%4
		age, job = append(age, float32(20+a)), append(job, []string{"cook", "clerk", "smith", "judge"}[j])
		if (a > 20) == (j < 2) {
			label = append(label, 1)
		} else {
			label = append(label, 0)
		}
	}
	return feature.Features{"age": ops.Const(g, age), "job": ops.Const(g, job)}, ops.Const(g, label, n, 1)
}

// TestPort trains a wide and a deep model beside TensorFlow, from its initial
// variables, over 200 steps. Minimize runs the updates of the averages.
func TestPort(t *testing.T) {
	var want struct{ Wide, Deep, Variance []float64 }
	data, err := os.ReadFile("testdata/port.json")
	if err == nil {
		err = json.Unmarshal(data, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	f, labels := people(g)
	ages, jobs := feature.Bucketized(feature.Numeric("age"), 30, 40, 60), feature.Hashed("job", 20)
	crossed := feature.Crossed(30, ages, "job")
	crossEntropy := func(logits tf.Output) tf.Output { return ops.SigmoidCrossEntropyWithLogits(labels, logits).Mean() }
	wide := crossEntropy(feature.LinearModel(f, []feature.Column{ages, jobs, crossed}))
	scaled := &feature.NumericColumn{Key: "age", Normalize: func(x tf.Output) tf.Output { return x.Div(50) }}
	x := feature.InputLayer(f, scaled, feature.Embedding(jobs, 3), feature.Indicator(crossed))
	norm := layers.NewBatchNorm(layers.BatchNormOpts{Momentum: 0.9})
	deep := crossEntropy(layers.Dense(norm.Apply(layers.Dense(x, 8, layers.Relu), true), 1))
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var wideVars, deepVars []*tf.Variable
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		if strings.HasPrefix(v.Name(), "linear_model") {
			wideVars = append(wideVars, v)
		} else {
			deepVars = append(deepVars, v)
		}
	}
	wideStep := train.FTRL{LearningRate: 0.3, L1: 0.01, L2: 0.02}.Minimize(wide, wideVars...)
	deepStep := train.Adam{LearningRate: 0.005}.Minimize(deep, deepVars...)
	s := open(t, g)
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	if err := saver.Restore(t.Context(), s, "testdata/port.ckpt"); err != nil {
		t.Fatal(err)
	}
	for i := range want.Wide {
		out, err := s.Run(t.Context(), nil, wide, deep, wideStep, deepStep)
		if err != nil {
			t.Fatal(err)
		}
		for k, w := range []float64{want.Wide[i], want.Deep[i]} {
			if got := float64(tf.Data[float32](out[k])[0]); math.Abs(got-w) > 1e-4 {
				t.Fatalf("loss %d before step %d is %v, TensorFlow's %v", k, i, got, w)
			}
		}
	}
	variance, err := s.Run(t.Context(), nil, norm.MovingVariance.Value())
	if err != nil {
		t.Fatal(err)
	}
	near(t, "moving variance", variance[0], want.Variance)
}

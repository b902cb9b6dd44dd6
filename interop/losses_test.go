package interop

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// paritySteps is for how long losses are compared.
const paritySteps = 100

// parity are the models of the Python script, by name, with the optimizers that
// it trains them with.
var parity = map[string]func(g *tf.Graph) train.Optimizer{
	"sgd":      with(train.GradientDescent{LearningRate: 0.1}),
	"momentum": with(train.Momentum{LearningRate: 0.05, Momentum: 0.9}),
	"nesterov": with(train.Momentum{LearningRate: 0.05, Momentum: 0.9, Nesterov: true}),
	"adam":     with(train.Adam{LearningRate: 0.01}),
	"adagrad":  with(train.Adagrad{LearningRate: 0.1}),
	"adagrad_da": func(g *tf.Graph) train.Optimizer {
		return train.AdagradDA{LearningRate: 0.1, GlobalStep: train.GlobalStep(g), L1: 1e-4, L2: 1e-3}
	},
	"adadelta":         with(train.Adadelta{LearningRate: 1}),
	"rmsprop":          with(train.RMSProp{LearningRate: 0.003, Momentum: 0.5}),
	"centered":         with(train.RMSProp{LearningRate: 0.003, Centered: true}),
	"ftrl":             with(train.FTRL{LearningRate: 0.1, L1: 1e-4, L2: 1e-3}),
	"proximal":         with(train.ProximalGradientDescent{LearningRate: 0.1, L1: 1e-4}),
	"proximal_adagrad": with(train.ProximalAdagrad{LearningRate: 0.1, L2: 1e-3}),
	"cnn":              with(train.Adam{LearningRate: 0.002}),
	"resnet20":         with(train.Momentum{LearningRate: 1.0 / 128, Momentum: 0.875}),
	"lstm":             with(train.Adam{LearningRate: 0.01}),
	"word2vec":         with(train.GradientDescent{LearningRate: 0.5}),
	"word2vec_adam":    with(train.Adam{LearningRate: 0.01}),
	"ftrl2":            with(train.FTRL{LearningRate: 0.1, L1: 1e-4, L2: 1e-3, L2Shrinkage: 1e-2}),
	"wide":             with(train.FTRL{LearningRate: 0.2, L1: 1e-3}),
}

func with(m train.Optimizer) func(*tf.Graph) train.Optimizer {
	return func(*tf.Graph) train.Optimizer { return m }
}

// TestLossParity: models that TensorFlow built train under Gorge's gradients and
// optimizers as they do under TensorFlow's: dropout, samplers and inputs draw
// from equal streams.
func TestLossParity(t *testing.T) {
	needTensorFlow(t)
	dir := t.TempDir()
	names := slices.Sorted(maps.Keys(parity))
	for _, line := range script(t, "losses.py", append([]string{dir, fmt.Sprint(paritySteps)}, names...)...) {
		fields := strings.Fields(line)
		name, want := fields[0], fields[1:]
		t.Run(name, func(t *testing.T) {
			if len(want) != paritySteps {
				t.Fatalf("%d losses, want %d", len(want), paritySteps)
			}
			for i, got := range trained(t, importMeta(t, filepath.Join(dir, name+".meta")), parity[name]) {
				if w := number(t, want[i]); !(math.Abs(got-w) <= tolerance*math.Abs(w)) {
					t.Fatalf("loss before step %d = %v, TensorFlow's %v", i, got, w)
				}
			}
		})
	}
}

// trained adds an optimizer to an imported model and returns the losses.
func trained(t *testing.T, g *tf.Graph, optimizer func(*tf.Graph) train.Optimizer) []float64 {
	t.Helper()
	loss := g.Collection("losses")[0].(tf.Output)
	step := train.Minimize(optimizer(g), loss, train.Options{GlobalStep: globalStep(g)})
	fetches := []tf.Fetchable{loss, step}
	for _, op := range g.Collection("update_ops") {
		fetches = append(fetches, op.(tf.Fetchable))
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	losses := make([]float64, paritySteps)
	for i := range losses {
		v, err := s.Run(t.Context(), nil, fetches...)
		if err != nil {
			t.Fatal(err)
		}
		losses[i] = asFloat(v[0])
	}
	return losses
}

// globalStep is the counter that an optimizer has asked for.
func globalStep(g *tf.Graph) *tf.Variable {
	if v := tf.Variables(g, tf.GlobalStep); len(v) > 0 {
		return v[0]
	}
	return nil
}

func asFloat(t *tf.Tensor) float64 {
	if t.DType() == tf.Float64 {
		return tf.Data[float64](t)[0]
	}
	return float64(tf.Data[float32](t)[0])
}

package train_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// TestVariablesUnderControl: what makes variables where control inputs are in force,
// such as updates before a step, leaves their initializers free of them, as
// TensorFlow's init_scope does. Here the control input is a placeholder.
func TestVariablesUnderControl(t *testing.T) {
	for name, f := range map[string]func(g *tf.Graph, loss tf.Output){
		"global step": func(g *tf.Graph, _ tf.Output) { train.GlobalStep(g) },
		"variable":    func(g *tf.Graph, _ tf.Output) { vars.Get(g, "v", tf.Shape{2}) },
		"slots":       func(_ *tf.Graph, loss tf.Output) { train.Adam{}.Minimize(loss) },
		"averages":    func(g *tf.Graph, _ tf.Output) { (&train.ExponentialMovingAverage{Decay: 0.9}).Apply(g) },
		"mean":        func(_ *tf.Graph, loss tf.Output) { metrics.Mean(loss) },
		"auc":         func(_ *tf.Graph, loss tf.Output) { metrics.AUC(loss.Greater(0), ops.Sigmoid(loss)) },
		"epochs":      func(_ *tf.Graph, loss tf.Output) { train.LimitEpochs(loss, 3) },
		"scaling": func(g *tf.Graph, _ tf.Output) {
			_, _ = train.NewLossScaleOptimizer(g, train.Adam{}, train.LossScaling{})
		},
	} {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, tf.Shape{})
		w := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "w"})
		loss := w.Value().Square()
		g.ControlDependencies([]*tf.Operation{x.Operation()}, func() { f(g, loss) })
		s, err := session.New(g)
		if err != nil {
			t.Fatal(name, err)
		}
		defer s.Close()
		var all []tf.Fetchable
		for _, v := range slices.Concat(tf.Variables(g, tf.GlobalVariables), tf.Variables(g, tf.LocalVariables)) {
			all = append(all, v.Initializer())
		}
		if _, err := s.Run(t.Context(), nil, all...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestVariablesOfAdaMax: its variables are those of TensorFlow's AdaMaxOptimizer, so
// that checkpoints go both ways: it has no power of beta2.
func TestVariablesOfAdaMax(t *testing.T) {
	g := tf.NewGraph()
	w := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "w"})
	train.AdaMax{}.Minimize(w.Value().Square())
	var names []string
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		names = append(names, v.Name())
	}
	if want := []string{"beta1_power", "w", "w/AdaMax", "w/AdaMax_1"}; !slices.Equal(slices.Sorted(slices.Values(names)), want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

package train_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// rule is an optimizer and, independently of any graph, what it does to one
// number v of gradient g in step t (from 1).
type rule struct {
	name string
	opt  train.Optimizer
	next func(v, g float64, t int, state *[2]float64) float64
}

var rules = []rule{
	{"GradientDescent", train.GradientDescent{LearningRate: 0.1}, func(v, g float64, _ int, _ *[2]float64) float64 { return v - 0.1*g }},
	{"Momentum", train.Momentum{LearningRate: 0.1, Momentum: 0.9}, func(v, g float64, _ int, s *[2]float64) float64 {
		s[0] = 0.9*s[0] + g
		return v - 0.1*s[0]
	}},
	{"Nesterov", train.Momentum{LearningRate: 0.1, Momentum: 0.9, Nesterov: true}, func(v, g float64, _ int, s *[2]float64) float64 {
		s[0] = 0.9*s[0] + g
		return v - 0.1*g - 0.1*0.9*s[0]
	}},
	{"Adam", train.Adam{LearningRate: 0.1}, func(v, g float64, t int, s *[2]float64) float64 {
		s[0] = 0.9*s[0] + 0.1*g
		s[1] = 0.999*s[1] + 0.001*g*g
		rate := 0.1 * math.Sqrt(1-math.Pow(0.999, float64(t))) / (1 - math.Pow(0.9, float64(t)))
		return v - rate*s[0]/(math.Sqrt(s[1])+1e-8)
	}},
}

// start are the values that a variable begins with; its loss is the sum of
// their squares, so that the gradient is 2v.
var start = []float64{1, -2, 0.5}

func (r *rule) expected(steps int) []float64 {
	out := append([]float64(nil), start...)
	for i := range out {
		var s [2]float64
		for t := 1; t <= steps; t++ {
			out[i] = r.next(out[i], 2*out[i], t, &s)
		}
	}
	return out
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestOptimizersInGraph(t *testing.T) {
	for _, r := range rules {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Const(g, start, len(start)), tf.VariableOptions{Name: "v"})
		gvs, err := train.ComputeGradients(v.Value().Square().Sum())
		if err != nil {
			t.Fatal(err)
		}
		step, err := r.opt.ApplyGradients(gvs)
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range []tf.Fetchable{tf.InitializeAll(g), step, step, step} {
			if _, err := s.Run(t.Context(), nil, op); err != nil {
				t.Fatal(err)
			}
		}
		got, err := session.Fetch[float64](t.Context(), s, nil, v.Value())
		if err != nil {
			t.Fatal(err)
		}
		near(t, r.name, got, r.expected(3))
		s.Close()
	}
}

func TestOptimizersEagerly(t *testing.T) {
	for _, r := range rules {
		g := eager.New()
		v := tf.NewVariable(ops.Const(g, start, len(start)), tf.VariableOptions{Name: "v"})
		for range 3 {
			var loss tf.Output
			tape := eager.Record(g, func() { loss = v.Value().Square().Sum() })
			gvs, err := train.TapeGradients(tape, loss)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.opt.ApplyGradients(gvs); err != nil {
				t.Fatal(err)
			}
		}
		x, err := v.Value().Value()
		if err != nil {
			t.Fatal(err)
		}
		near(t, r.name, tf.Data[float64](x), r.expected(3))
	}
}

// TestNames: variables of optimizers are called what TensorFlow calls them, so
// that checkpoints fit.
func TestNames(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, start, len(start)), tf.VariableOptions{Name: "layer/w"})
	train.Adam{}.Minimize(v.Value().Square().Sum())
	train.Momentum{LearningRate: 1, Momentum: 0.5}.Minimize(v.Value().Square().Sum())
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		names = append(names, v.Name())
	}
	want := "layer/w beta1_power beta2_power layer/w/Adam layer/w/Adam_1 layer/w/Momentum"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("variables are %q, want %q", got, want)
	}
	for _, op := range []string{"Adam", "Adam/update_layer/w/ResourceApplyAdam", "Momentum", "layer/w/Adam/Assign"} {
		if g.Operation(op) == nil {
			t.Errorf("there is no operation %q", op)
		}
	}
	if n := len(tf.Variables(g, tf.TrainableVariables)); n != 1 {
		t.Errorf("%d variables are trainable, want 1", n)
	}
}

// TestDeviceScopes: updates are with their variables, whatever scope Minimize
// is called in.
func TestDeviceScopes(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, start, len(start)), tf.VariableOptions{Name: "v", Device: "/device:CPU:1"})
	g.Device("/device:CPU:0", func() { train.Adam{}.Minimize(v.Value().Square().Sum()) })
	for _, name := range []string{"Adam/update_v/ResourceApplyAdam", "v/Adam", "beta1_power"} {
		op := g.Operation(name)
		if op == nil || op.Device != "/device:CPU:1" && name != "v/Adam" && name != "beta1_power" {
			t.Errorf("operation %s: %v", name, op)
		}
	}
	s, err := session.New(g, session.Devices("CPU", 2))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, op := range []*tf.Operation{tf.InitializeAll(g), g.Operation("Adam")} {
		if _, err := s.Run(t.Context(), nil, op); err != nil {
			t.Error(err)
		}
	}
}

func TestMistakes(t *testing.T) {
	g := tf.NewGraph()
	tf.NewVariable(ops.Const(g, start, len(start)), tf.VariableOptions{})
	op := train.GradientDescent{LearningRate: 1}.Minimize(ops.Scalar(g, 1.0).Square())
	if op.Err() == nil || !strings.Contains(op.Err().Error(), "depends on no trainable variable") {
		t.Errorf("a loss without variables: %v", op.Err())
	}
	if _, err := session.New(g); err == nil {
		t.Error("the graph does not remember the mistake")
	}
	if _, err := (train.Adam{}).ApplyGradients(nil); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("no gradients: %v", err)
	}
	g = tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []int32{1}), tf.VariableOptions{})
	op = train.Adam{}.Minimize(v.Value())
	if op.Err() == nil {
		t.Error("integers have no gradients")
	}
}

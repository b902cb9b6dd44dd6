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
	next func(v, g float64, t int, state *[3]float64) float64
}

var rules = []rule{
	{"GradientDescent", train.GradientDescent{LearningRate: 0.1}, func(v, g float64, _ int, _ *[3]float64) float64 { return v - r32(0.1)*g }},
	{"Momentum", train.Momentum{LearningRate: 0.1, Momentum: 0.9}, func(v, g float64, _ int, s *[3]float64) float64 {
		s[0] = r32(0.9)*s[0] + g
		return v - r32(0.1)*s[0]
	}},
	{"Nesterov", train.Momentum{LearningRate: 0.1, Momentum: 0.9, Nesterov: true}, func(v, g float64, _ int, s *[3]float64) float64 {
		s[0] = r32(0.9)*s[0] + g
		return v - r32(0.1)*g - r32(0.1)*r32(0.9)*s[0]
	}},
	{"Adam", train.Adam{LearningRate: 0.1}, adam},
	{"AMSGrad", train.Adam{LearningRate: 0.1, AMSGrad: true}, func(v, g float64, t int, s *[3]float64) float64 {
		s[0] = r32(0.9)*s[0] + (1-r32(0.9))*g
		s[1] = r32(0.999)*s[1] + (1-r32(0.999))*g*g
		s[2] = max(s[2], s[1])
		return v - adamRate(t)*s[0]/(math.Sqrt(s[2])+r32(1e-8))
	}},
	{"AdamW", train.AdamW{Adam: train.Adam{LearningRate: 0.1}, WeightDecay: 0.01}, func(v, g float64, t int, s *[3]float64) float64 {
		return adam(v-r32(0.01)*v, g, t, s)
	}},
	{"AdaMax", train.AdaMax{LearningRate: 0.1}, func(v, g float64, t int, s *[3]float64) float64 {
		s[0] = r32(0.9)*s[0] + (1-r32(0.9))*g
		s[1] = max(r32(0.999)*s[1], math.Abs(g))
		return v - r32(0.1)/(1-power32(0.9, t))*s[0]/(s[1]+r32(1e-8))
	}},
	{"RMSProp", train.RMSProp{LearningRate: 0.1, Momentum: 0.5}, func(v, g float64, t int, s *[3]float64) float64 {
		ones(s, t, 1)
		s[0] = r32(0.9)*s[0] + (1-r32(0.9))*g*g
		s[1] = r32(0.5)*s[1] + r32(0.1)*g/math.Sqrt(s[0]+r32(1e-10))
		return v - s[1]
	}},
	{"centered RMSProp", train.RMSProp{LearningRate: 0.1, Centered: true, Decay: 0.8}, func(v, g float64, t int, s *[3]float64) float64 {
		ones(s, t, 1)
		s[0] = r32(0.8)*s[0] + (1-r32(0.8))*g*g
		s[1] = r32(0.8)*s[1] + (1-r32(0.8))*g
		return v - r32(0.1)*g/math.Sqrt(s[0]-s[1]*s[1]+r32(1e-10))
	}},
	{"Adagrad", train.Adagrad{LearningRate: 0.1}, func(v, g float64, t int, s *[3]float64) float64 {
		ones(s, t, 0.1)
		s[0] += g * g
		return v - r32(0.1)*g/math.Sqrt(s[0])
	}},
	{"Adadelta", train.Adadelta{LearningRate: 1}, func(v, g float64, t int, s *[3]float64) float64 {
		s[0] = r32(0.95)*s[0] + (1-r32(0.95))*g*g
		d := math.Sqrt(s[1]+r32(1e-8)) / math.Sqrt(s[0]+r32(1e-8)) * g
		s[1] = r32(0.95)*s[1] + (1-r32(0.95))*d*d
		return v - d
	}},
	{"FTRL", train.FTRL{LearningRate: 0.5, L1: 0.02, L2: 0.1}, func(v, g float64, t int, s *[3]float64) float64 {
		return ftrl(v, g, g, t, s, r32(0.1))
	}},
	{"FTRL with beta", train.FTRL{LearningRate: 0.5, L1: 0.02, L2: 0.1, Beta: 0.3}, func(v, g float64, t int, s *[3]float64) float64 {
		return ftrl(v, g, g, t, s, r32(0.1+0.3/(2*0.5)))
	}},
	{"FTRL with shrinkage", train.FTRL{LearningRate: 0.5, L1: 0.02, L2: 0.1, L2Shrinkage: 0.05}, func(v, g float64, t int, s *[3]float64) float64 {
		return ftrl(v, g, g+2*r32(0.05)*v, t, s, r32(0.1))
	}},
	{"ProximalGradientDescent", train.ProximalGradientDescent{LearningRate: 0.1, L1: 0.2, L2: 0.3}, func(v, g float64, _ int, _ *[3]float64) float64 {
		return shrink(v-r32(0.1)*g, r32(0.1), r32(0.2), r32(0.3))
	}},
	{"ProximalAdagrad", train.ProximalAdagrad{LearningRate: 0.1, L1: 0.2, L2: 0.3}, func(v, g float64, t int, s *[3]float64) float64 {
		ones(s, t, 0.1)
		s[0] += g * g
		rate := r32(0.1) / math.Sqrt(s[0])
		return shrink(v-rate*g, rate, r32(0.2), r32(0.3))
	}},
	{"AddSign", train.AddSign{}, func(v, g float64, _ int, s *[3]float64) float64 {
		s[0] = r32(0.9)*s[0] + (1-r32(0.9))*g
		return v - r32(0.1)*(1+sign(g)*sign(s[0]))*g
	}},
	{"PowerSign", train.PowerSign{Base: 2, SignDecay: 0.5}, func(v, g float64, _ int, s *[3]float64) float64 {
		s[0] = r32(0.9)*s[0] + (1-r32(0.9))*g
		return v - r32(0.1)*math.Pow(2, r32(0.5)*sign(g)*sign(s[0]))*g
	}},
	{"Adam without averages", train.Adam{LearningRate: 0.1, Beta1: train.Zero, Beta2: train.Zero}, func(v, g float64, _ int, _ *[3]float64) float64 {
		return v - r32(0.1)*g/(math.Abs(g)+r32(1e-8))
	}},
	{"AdaMax without averages", train.AdaMax{LearningRate: 0.1, Beta1: train.Zero, Beta2: train.Zero}, func(v, g float64, _ int, _ *[3]float64) float64 {
		return v - r32(0.1)*g/(math.Abs(g)+r32(1e-8))
	}},
	{"RMSProp of the last gradient", train.RMSProp{LearningRate: 0.1, Decay: train.Zero, Epsilon: train.Zero}, func(v, g float64, _ int, _ *[3]float64) float64 {
		return v - r32(0.1)*sign(g)
	}},
	{"FTRL from 0", train.FTRL{LearningRate: 0.5, InitialAccumulator: train.Zero, L1: 0.02, L2: 0.1}, func(v, g float64, t int, s *[3]float64) float64 {
		return ftrl(v, g, g, t+1, s, r32(0.1)) // which begins with r32(0.1) in step 1
	}},
	{"AddSign of the last sign", train.AddSign{Alpha: train.Zero, Beta: train.Zero}, func(v, g float64, _ int, _ *[3]float64) float64 {
		return v - r32(0.1)*g // signs agree: 0 + 1
	}},
}

func adamRate(t int) float64 {
	return r32(0.1) * math.Sqrt(1-power32(0.999, t)) / (1 - power32(0.9, t))
}

func adam(v, g float64, t int, s *[3]float64) float64 {
	s[0] = r32(0.9)*s[0] + (1-r32(0.9))*g
	s[1] = r32(0.999)*s[1] + (1-r32(0.999))*g*g
	return v - adamRate(t)*s[0]/(math.Sqrt(s[1])+r32(1e-8))
}

// ftrl is McMahan's update with a gradient g and one that has the shrinkage in
// it, for a rate of 0.5, a power of -0.5, an accumulator that begins with 0.1
// and an L1 of 0.02.
func ftrl(v, g, shrunk float64, t int, s *[3]float64, l2 float64) float64 {
	ones(s, t, 0.1)
	next := s[0] + g*g
	s[1] += shrunk - (math.Sqrt(next)-math.Sqrt(s[0]))/r32(0.5)*v
	s[0] = next
	if math.Abs(s[1]) <= r32(0.02) {
		return 0
	}
	return (sign(s[1])*r32(0.02) - s[1]) / (math.Sqrt(next)/r32(0.5) + 2*l2)
}

// shrink is the proximal operator of both penalties.
func shrink(v, rate, l1, l2 float64) float64 {
	return sign(v) * max(math.Abs(v)-rate*l1, 0) / (1 + rate*l2)
}

// ones sets the first slot to x before the first step.
func ones(s *[3]float64, t int, x float64) {
	if t == 1 {
		s[0] = x
	}
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// r32 is a number of an optimizer as float32 has it.
func r32(x float64) float64 { return float64(float32(x)) }

// power32 is a running power, a variable of float32.
func power32(x float32, t int) float64 {
	p := float32(1)
	for range t {
		p *= x
	}
	return float64(p)
}

// start are the values that a variable begins with; its loss is the sum of
// their squares, so that the gradient is 2v.
var start = []float64{1, -2, 0.5}

func (r *rule) expected(steps int) []float64 {
	out := append([]float64(nil), start...)
	for i := range out {
		var s [3]float64
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
		near(t, r.name, trained(t, r.opt, v, v.Value().Square().Sum(), 3), r.expected(3))
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

// TestSparse: of a variable of which a step needs some rows, one of them twice,
// only those rows change, as if there were no others.
func TestSparse(t *testing.T) {
	for _, r := range rules {
		if strings.Contains(r.name, "Sign") || r.name == "AMSGrad" || strings.HasPrefix(r.name, "AdaMax") || r.name == "AdamW" {
			continue // no sparse form: see TestNoSparse; AdamW changes all rows
		}
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Const(g, []float64{5, 1, -2, 7, 0.5, 3}, 6, 1), tf.VariableOptions{Name: "v"})
		rows := ops.ResourceGather(v.Handle(), ops.Const(g, []int32{1, 4, 2, 1}), tf.Float64)
		// Row 1 is there twice with half of the weight: the gradients are 2v.
		weights := ops.Const(g, []float64{0.5, 1, 1, 0.5}, 4, 1)
		got := trained(t, r.opt, v, rows.Mul(rows).Mul(weights).Sum(), 3)
		want := r.expected(3)
		near(t, r.name, got, []float64{5, want[0], want[1], 7, want[2], 3})
	}
}

// trained returns v after some steps.
func trained(t *testing.T, o train.Optimizer, v *tf.Variable, loss tf.Output, steps int) []float64 {
	t.Helper()
	gvs, err := train.ComputeGradients(loss)
	if err != nil {
		t.Fatal(err)
	}
	step, err := o.ApplyGradients(gvs)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(v.Graph())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(v.Graph())); err != nil {
		t.Fatal(err)
	}
	for range steps {
		if _, err := s.Run(t.Context(), nil, step); err != nil {
			t.Fatal(err)
		}
	}
	got, err := session.Fetch[float64](t.Context(), s, nil, v.Value())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestNoSparse(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, start, len(start)), tf.VariableOptions{Name: "v"})
	gvs, err := train.ComputeGradients(ops.ResourceGather(v.Handle(), ops.Const(g, []int32{1}), tf.Float64).Sum())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (train.AddSign{}).ApplyGradients(gvs); tf.CodeOf(err) != tf.Unimplemented || !strings.Contains(err.Error(), "variable v") {
		t.Errorf("a sparse gradient for AddSign: %v", err)
	}
}

// TestRate: a rate that the graph computes is read in each step.
func TestRate(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, start, len(start)), tf.VariableOptions{Name: "v"})
	fed := ops.Placeholder(g, tf.Float32, tf.Shape{})
	for _, o := range []train.Optimizer{
		train.GradientDescent{Rate: fed}, train.Momentum{Rate: fed}, train.Adam{Rate: fed}, train.AdaMax{Rate: fed}, train.Adagrad{Rate: fed},
		train.Adadelta{Rate: fed}, train.RMSProp{Rate: fed}, train.FTRL{Rate: fed, Beta: 1}, train.ProximalGradientDescent{Rate: fed},
		train.ProximalAdagrad{Rate: fed}, train.AddSign{Rate: fed}, train.PowerSign{Rate: fed},
	} {
		gvs, err := train.ComputeGradients(v.Value().Square().Sum())
		if err != nil {
			t.Fatal(err)
		}
		step, err := o.ApplyGradients(gvs)
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), nil, step); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%T without the rate it asks for: %v", o, err)
		}
		if _, err := s.Run(t.Context(), session.Feeds{fed: tf.Scalar(float32(0.5))}, step); err != nil {
			t.Errorf("%T: %v", o, err)
		}
		s.Close()
	}
}

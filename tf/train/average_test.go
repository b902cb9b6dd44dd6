package train_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

func TestMovingAverage(t *testing.T) {
	for _, counted := range []bool{false, true} {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Const(g, []float64{1, 10}), tf.VariableOptions{Name: "layer/v"})
		e := train.ExponentialMovingAverage{Decay: 0.9}
		decay := 0.9
		if counted {
			e.NumUpdates, decay = ops.Scalar(g, int32(2)), 0.25
		}
		change := v.AssignAdd(ops.Const(g, []float64{4, 0}))
		average := e.Apply(g)
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range []*tf.Operation{tf.InitializeAll(g), change, average, average} {
			if _, err := s.Run(t.Context(), nil, op); err != nil {
				t.Fatal(err)
			}
		}
		got, err := session.Fetch[float64](t.Context(), s, nil, e.Average(v).Value())
		if err != nil {
			t.Fatal(err)
		}
		for i := range got { // the decay is a float32 in TensorFlow too
			if want := []float64{5 - 4*decay*decay, 10}[i]; got[i] < want-1e-6 || got[i] > want+1e-6 {
				t.Errorf("average %d is %v, want %v", i, got[i], want)
			}
		}
		if name := e.Average(v).Name(); name != "layer/v/ExponentialMovingAverage" || e.AverageName(v) != name {
			t.Errorf("average is named %s and %s", name, e.AverageName(v))
		}
		if vs := tf.Variables(g, tf.MovingAverageVariables); len(vs) != 1 || vs[0] != v {
			t.Errorf("variables with averages: %v", vs)
		}
		s.Close()
	}
}

func TestMovingAverageOfIntegers(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []int32{1}), tf.VariableOptions{})
	if op := (&train.ExponentialMovingAverage{Decay: 0.9}).Apply(g, v); tf.CodeOf(op.Err()) != tf.InvalidArgument {
		t.Errorf("an average of integers: %v", op.Err())
	}
}

// TestMinimizeOptions: what the options ask for happens to the gradients, and
// the step is counted.
func TestMinimizeOptions(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float64{1, 2}), tf.VariableOptions{Name: "v"})
	other := tf.NewVariable(ops.Const(g, []float64{5}), tf.VariableOptions{Name: "other"})
	loss := v.Value().Square().Sum().Add(other.Value().Sum())
	step := train.GlobalStep(g)
	op := train.Minimize(train.GradientDescent{LearningRate: 0.5}, loss, train.Options{
		Vars: []*tf.Variable{v}, GlobalStep: step, Gate: train.GateGraph, GradLoss: ops.Scalar(g, 3.0),
		Clip: func(gs []tf.Gradient) []tf.Gradient { out, _ := train.ClipByGlobalNorm(2, gs...); return out },
	})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, op := range []*tf.Operation{tf.InitializeAll(g), op} {
		if _, err := s.Run(t.Context(), nil, op); err != nil {
			t.Fatal(err)
		}
	}
	out, err := s.Run(t.Context(), nil, v.Value(), other.Value(), step.Value())
	if err != nil {
		t.Fatal(err)
	}
	// The gradient (6, 12) is clipped to a norm of 2.
	root5 := 2.2360679774997896
	near(t, "v", tf.Data[float64](out[0]), []float64{1 - 1/root5, 2 - 2/root5})
	near(t, "other", tf.Data[float64](out[1]), []float64{5})
	if n := out[2].At(0); n != int64(1) || train.GlobalStep(g) != step {
		t.Errorf("global step is %v", n)
	}
}

// TestAverageOfSteps sees that a step which Apply waits for counts: the first
// decay is (1+1)/(10+1), as in TensorFlow, whose averages read num_updates late.
func TestAverageOfSteps(t *testing.T) {
	g := tf.NewGraph()
	step := train.GetOrCreateGlobalStep(g)
	v := tf.NewVariable(ops.Const(g, []float32{0}), tf.VariableOptions{Name: "v"})
	e := train.ExponentialMovingAverage{Decay: 0.9, Step: step}
	var average *tf.Operation
	updates := []*tf.Operation{v.AssignAdd(ops.Const(g, []float32{11})), step.AssignAdd(ops.Scalar[int64](g, 1))}
	g.ControlDependencies(updates, func() { average = e.Apply(g, v) })
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, op := range []*tf.Operation{tf.InitializeAll(g), average} {
		if _, err := s.Run(t.Context(), nil, op); err != nil {
			t.Fatal(err)
		}
	}
	got, err := session.Fetch[float32](t.Context(), s, nil, e.Average(v).Value())
	if err != nil || len(got) != 1 || got[0] < 8.9999 || got[0] > 9.0001 {
		t.Error(got, err)
	}
}

// TestAveragesApart: two ExponentialMovingAverages of one variable do not share it.
func TestAveragesApart(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar(g, float32(0)), tf.VariableOptions{Name: "v"})
	fast, slow := &train.ExponentialMovingAverage{Decay: 0.5}, &train.ExponentialMovingAverage{Decay: 0.9}
	change := v.AssignAdd(ops.Scalar(g, float32(10)))
	all := []*tf.Operation{change, fast.Apply(g, v), slow.Apply(g, v)}
	s := begin(t, g, true)
	for _, op := range all {
		if _, err := s.Run(t.Context(), nil, op); err != nil {
			t.Fatal(err)
		}
	}
	out, err := s.Run(t.Context(), nil, fast.Average(v).Value(), slow.Average(v).Value())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{5, 1} {
		if got := tf.Data[float32](out[i])[0]; got < want-1e-5 || got > want+1e-5 {
			t.Errorf("average %d is %v, want %v", i, got, want)
		}
	}
	if a, b := fast.AverageName(v), slow.AverageName(v); a != "v/ExponentialMovingAverage" || b != "v/ExponentialMovingAverage_1" {
		t.Errorf("the averages are named %s and %s", a, b)
	}
}

// TestMovingAverageOfNothing: a variable that is missing is no panic.
func TestMovingAverageOfNothing(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float32{1}), tf.VariableOptions{})
	for _, vs := range [][]*tf.Variable{{nil}, {v, nil}} {
		if op := (&train.ExponentialMovingAverage{Decay: 0.9}).Apply(g, vs...); !says(op.Err(), tf.InvalidArgument, "must be one of a variable, got nil") {
			t.Errorf("averages of %v: %v", vs, op.Err())
		}
	}
}

package interop

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

const (
	lstmSteps, lstmBatch   = 6, 4
	lstmInputs, lstmHidden = 3, 5
)

// wave returns numbers that the Python script makes as well.
func wave(seed, scale float64, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(scale) * float32(math.Sin(0.7*float64(i)+seed))
	}
	return out
}

// lstm is a network that a loop runs over time.
func lstm() (g *tf.Graph, loss tf.Output, init, step *tf.Operation) {
	g = tf.NewGraph()
	x := ops.Const(g, wave(1, 1, lstmSteps*lstmBatch*lstmInputs), lstmSteps, lstmBatch, lstmInputs)
	want := ops.Const(g, wave(2, 0.5, lstmBatch*lstmHidden), lstmBatch, lstmHidden)
	w := tf.NewVariable(ops.Const(g, wave(3, 0.4, (lstmInputs+lstmHidden)*4*lstmHidden), lstmInputs+lstmHidden, 4*lstmHidden), tf.VariableOptions{Name: "w"})
	b := tf.NewVariable(ops.Const(g, make([]float32, 4*lstmHidden), 4*lstmHidden), tf.VariableOptions{Name: "b"})
	length := ops.Scalar(g, int32(lstmSteps))
	rows := ops.NewTensorArray(length, tf.Float32, ops.TensorArrayOpts{}).Unstack(x)
	zero := ops.Const(g, make([]float32, lstmBatch*lstmHidden), lstmBatch, lstmHidden)
	out := tf.While([]tf.Output{ops.Scalar(g, int32(0)), zero, zero},
		func(v []tf.Output) tf.Output { return ops.Less(v[0], length) },
		func(v []tf.Output) []tf.Output {
			axis := ops.Scalar(g, int32(1))
			z := ops.BiasAdd(ops.MatMul(ops.ConcatV2([]tf.Output{rows.Read(v[0]), v[1]}, axis), w.Value()), b.Value())
			gates := ops.Split(z, 4, axis)
			keep, add := ops.Sigmoid(ops.AddV2(gates[2], ops.Scalar[float32](g, 1))), ops.Mul(ops.Sigmoid(gates[0]), ops.Tanh(gates[1]))
			c := ops.AddV2(ops.Mul(v[2], keep), add)
			h := ops.Mul(ops.Tanh(c), ops.Sigmoid(gates[3]))
			return []tf.Output{ops.AddV2(v[0], ops.Scalar(g, int32(1))), h, c}
		})
	loss = ops.SquaredDifference(out[1], want).Mean()
	init = tf.Group(g, "init", w.Initializer(), b.Initializer())
	return g, loss, init, train.GradientDescent{LearningRate: 0.5}.Minimize(loss)
}

func lstmLosses(t *testing.T) (losses []float64) {
	t.Helper()
	g, loss, init, step := lstm()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, init); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		v, err := session.Fetch[float32](t.Context(), s, nil, loss)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, float64(v[0]))
		if _, err := s.Run(t.Context(), nil, step); err != nil {
			t.Fatal(err)
		}
	}
	return losses
}

// A recurrent network learns as in TensorFlow: built and run by Gorge, and built
// by Python and run by a Gorge server.
func TestRecurrentNetwork(t *testing.T) {
	needTensorFlow(t)
	want := script(t, "controlflow.py", "lstm")
	for i, got := range lstmLosses(t) {
		if w := number(t, want[i]); !(math.Abs(got-w) <= tolerance) {
			t.Fatalf("loss before step %d = %v, TensorFlow's %v", i, got, w)
		}
	}
	addr := ports(t, 1)[0]
	serve(t, ofGorge, "worker|"+addr, "worker", 0)
	compareLosses(t, script(t, "controlflow.py", "lstm", "grpc://"+addr), want)
}

// flowCases are the functions of the Python script.
var flowCases = []struct {
	name string
	f    func(x, w tf.Output) tf.Output
}{
	{"power", power},
	{"nested", func(x, w tf.Output) tf.Output {
		return repeat(x, 3, func(_, y tf.Output) tf.Output {
			return ops.AddV2(repeat(y, 2, func(_, z tf.Output) tf.Output { return ops.Mul(z.Sin(), w) }), x)
		})
	}},
	{"cond", func(x, w tf.Output) tf.Output {
		return tf.Cond(positive(x), one(func() tf.Output { return ops.Mul(x, w, tf.Name("mul")) }), one(func() tf.Output { return x.Sin() }))[0]
	}},
	{"cond_in_while", func(x, w tf.Output) tf.Output {
		return repeat(x, 4, func(i, y tf.Output) tf.Output {
			early := ops.Less(i, ops.Scalar(i.Graph(), int32(2)))
			return tf.Cond(early, one(func() tf.Output { return ops.Mul(y, w) }), one(func() tf.Output { return y.Sin() }))[0]
		})
	}},
	{"while_in_cond", func(x, w tf.Output) tf.Output {
		return tf.Cond(positive(x), one(func() tf.Output { return power(x, w) }), one(func() tf.Output { return x }))[0]
	}},
	{"rows", func(x, w tf.Output) tf.Output {
		return repeat(x, 2, func(i, y tf.Output) tf.Output {
			zero := ops.Scalar(i.Graph(), int32(0))
			return ops.AddV2(y, ops.Mul(ops.GatherV2(w, ops.ExpandDims(i, zero), zero), x))
		})
	}},
	{"arrays", func(x, w tf.Output) tf.Output {
		n := ops.Scalar(x.Graph(), int32(3))
		a := ops.NewTensorArray(n, tf.Float64, ops.TensorArrayOpts{})
		out := tf.While([]tf.Output{ops.Scalar(x.Graph(), int32(0)), a.Flow()},
			func(v []tf.Output) tf.Output { return ops.Less(v[0], n) },
			func(v []tf.Output) []tf.Output {
				value := ops.Mul(ops.Mul(x, w), ops.Cast(v[0], tf.Float64))
				return []tf.Output{ops.AddV2(v[0], ops.Scalar(x.Graph(), int32(1))), a.WithFlow(v[1]).Write(v[0], value).Flow()}
			})
		return ops.Sum(ops.Square(a.WithFlow(out[1]).Stack()), ops.Scalar(x.Graph(), int32(0)))
	}},
	{"unused", func(x, w tf.Output) tf.Output {
		n := ops.Scalar(x.Graph(), int32(3))
		return tf.While([]tf.Output{ops.Scalar(x.Graph(), int32(0)), x, w},
			func(v []tf.Output) tf.Output { return ops.Less(v[0], n) },
			func(v []tf.Output) []tf.Output {
				return []tf.Output{ops.AddV2(v[0], ops.Scalar(x.Graph(), int32(1))), ops.Mul(v[1], v[2]), ops.Mul(v[2], w)}
			})[1]
	}},
}

func one(f func() tf.Output) func() []tf.Output {
	return func() []tf.Output { return []tf.Output{f()} }
}

func positive(x tf.Output) tf.Output { return ops.Greater(x.Sum(), ops.Scalar(x.Graph(), 0.0)) }

func power(x, w tf.Output) tf.Output {
	return repeat(x, 4, func(_, y tf.Output) tf.Output { return ops.Mul(y, w, tf.Name("mul")) })
}

// repeat applies body, which also gets the number of the iteration, n times.
func repeat(x tf.Output, n int32, body func(i, y tf.Output) tf.Output) tf.Output {
	g := x.Graph()
	return tf.While([]tf.Output{ops.Scalar(g, int32(0)), x},
		func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar(g, n)) },
		func(v []tf.Output) []tf.Output {
			return []tf.Output{ops.AddV2(v[0], ops.Scalar(g, int32(1))), body(v[0], v[1])}
		})[1]
}

// Values and gradients of loops and conditionals are TensorFlow's.
func TestControlFlowGradients(t *testing.T) {
	needTensorFlow(t)
	lines := script(t, "controlflow.py", "values")
	addr := ports(t, 1)[0]
	serve(t, ofGorge, "worker|"+addr, "worker", 0)
	served := script(t, "controlflow.py", "values", "grpc://"+addr)
	for i, c := range flowCases {
		want := lines[3*i : 3*i+3]
		for k, v := range flowValues(t, c.f) {
			closeTo(t, c.name, v, want[k])
			closeTo(t, c.name+" by Python", numbers(t, served[3*i+k]), want[k])
		}
	}
}

// flowValues returns f of the script's x and w, and the gradients.
func flowValues(t *testing.T, f func(x, w tf.Output) tf.Output) (out [][]float64) {
	t.Helper()
	g := tf.NewGraph()
	x, w := ops.Const(g, []float64{0.5, 1.5}), ops.Const(g, []float64{1.25, 0.75})
	y := f(x, w)
	gs, err := tf.Gradients(y, x, w)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Run(t.Context(), nil, y, gs[0], gs[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range got {
		out = append(out, tf.Data[float64](v))
	}
	return out
}

func numbers(t *testing.T, line string) (out []float64) {
	t.Helper()
	for _, s := range strings.Fields(line)[1:] {
		out = append(out, number(t, s))
	}
	return out
}

func closeTo(t *testing.T, name string, got []float64, line string) {
	t.Helper()
	want := numbers(t, line)
	for i := range want {
		if len(got) != len(want) || math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("%s: got %v, want %v", name, got, line)
			return
		}
	}
}

var flowOps = []string{"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond", "StackV2", "StackPushV2", "StackPopV2", "ControlTrigger"}

// The nodes that direct values have TensorFlow's names and inputs.
func TestControlFlowGraphs(t *testing.T) {
	needTensorFlow(t)
	want := script(t, "controlflow.py", "graphs")
	var got []string
	for _, i := range []int{0, 2} {
		g := tf.NewGraph()
		x, w := ops.Const(g, []float64{0.5, 1.5}), ops.Const(g, []float64{1.25, 0.75})
		if _, err := tf.Gradients(flowCases[i].f(x, w), x, w); err != nil {
			t.Fatal(err)
		}
		for _, op := range g.Operations() {
			if slices.Contains(flowOps, op.OpName()) {
				got = append(got, flowCases[i].name+" "+op.OpName()+" "+op.Name+" "+op.Str("frame_name"))
			}
		}
	}
	slices.Sort(got)
	for i, line := range want {
		f := strings.Fields(line)
		if want[i] = strings.Join(f[:3], " ") + " "; f[1] == "Enter" {
			want[i] += f[3]
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

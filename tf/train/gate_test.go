package train_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// gated returns what waits in the graph of a net of two layers, as TensorFlow's
// Optimizer.minimize(loss, gate_gradients=...) shows it for the same net.
func gated(t *testing.T, add func(loss tf.Output)) (lines []string) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{4, 3}, tf.Name("x"))
	w := tf.NewVariable(ops.Const(g, make([]float32, 6), 3, 2), tf.VariableOptions{Name: "w"})
	b := tf.NewVariable(ops.Const(g, make([]float32, 2)), tf.VariableOptions{Name: "b"})
	u := tf.NewVariable(ops.Const(g, make([]float32, 4), 2, 2), tf.VariableOptions{Name: "u"})
	h := x.MatMul(w.Value(), tf.Name("mm")).Add(b.Value(), tf.Name("plus")).Relu(tf.Name("relu")).MatMul(u.Value(), tf.Name("mm2"))
	add(h.Square(tf.Name("sq")).Mean())
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	for _, op := range g.Operations() {
		if !strings.Contains(op.Name, "tuple") {
			continue
		}
		line := op.Name
		for _, c := range op.ControlInputs() {
			line += " ^" + c.Name
		}
		lines = append(lines, line)
	}
	return lines
}

func perOperation(name, a, b string) []string {
	at := "gradients/" + name + "_grad/tuple/"
	return []string{
		at + "group_deps ^" + a + " ^" + b,
		at + "control_dependency ^" + at + "group_deps", at + "control_dependency_1 ^" + at + "group_deps",
	}
}

// TestGates: what waits for what, by TensorFlow's names.
func TestGates(t *testing.T) {
	sgd := train.GradientDescent{LearningRate: 0.1}
	byOp := slices.Concat(
		perOperation("mm2", "gradients/mm2_grad/MatMul", "gradients/mm2_grad/MatMul_1"),
		perOperation("plus", "gradients/relu_grad/ReluGrad", "gradients/plus_grad/Reshape"),
		perOperation("mm", "gradients/mm_grad/MatMul", "gradients/mm_grad/MatMul_1"))
	whole := []string{
		"tuple/group_deps ^gradients/mm_grad/MatMul_1 ^gradients/plus_grad/Reshape ^gradients/mm2_grad/MatMul_1",
		"tuple/control_dependency ^tuple/group_deps", "tuple/control_dependency_1 ^tuple/group_deps", "tuple/control_dependency_2 ^tuple/group_deps",
	}
	with := func(gate train.Gate) func(tf.Output) {
		return func(loss tf.Output) { train.Minimize(sgd, loss, train.Options{Gate: gate}) }
	}
	for _, c := range []struct {
		what string
		add  func(loss tf.Output)
		want []string
	}{
		{"GateNone", with(train.GateNone), nil},
		{"GateOp", with(train.GateOp), byOp},
		{"GateGraph", with(train.GateGraph), whole},
		{"Minimize without options", func(loss tf.Output) { sgd.Minimize(loss) }, byOp},
		{"ComputeGradients", func(loss tf.Output) {
			if _, err := train.ComputeGradients(loss); err != nil {
				t.Error(err)
			}
		}, byOp},
	} {
		if got := gated(t, c.add); !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.what, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
}

// TestGateThatIsNone: a number that no gate has is refused.
func TestGateThatIsNone(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{})
	train.Minimize(train.GradientDescent{LearningRate: 1}, v.Value().Square(), train.Options{Gate: 7})
	if err := g.Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v", err)
	}
}

// TestGatedSlices: of a sparse gradient the values wait, and the rows that it
// changes are those that it changes without a gate.
func TestGatedSlices(t *testing.T) {
	for _, gate := range []train.Gate{train.GateNone, train.GateOp, train.GateGraph} {
		g := tf.NewGraph()
		table := tf.NewVariable(ops.Const(g, []float32{1, 2, 3}, 3, 1), tf.VariableOptions{Name: "table"})
		scale := tf.NewVariable(ops.Scalar[float32](g, 2), tf.VariableOptions{Name: "scale"})
		rows := ops.EmbeddingLookup([]tf.Output{table.Value()}, ops.Const(g, []int32{2, 0, 2}), ops.EmbeddingOpts{})
		step := train.Minimize(train.GradientDescent{LearningRate: 1}, rows.Mul(scale.Value()).Sum(), train.Options{Gate: gate})
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, op := range []*tf.Operation{tf.InitializeAll(g), step} {
			if _, err := s.Run(t.Context(), nil, op); err != nil {
				t.Fatal(err)
			}
		}
		got, err := session.Fetch[float32](t.Context(), s, nil, table.Value())
		if want := []float32{-1, 2, -1}; err != nil || !slices.Equal(got, want) {
			t.Errorf("gate %d: %v, want %v (%v)", gate, got, want, err)
		}
	}
}

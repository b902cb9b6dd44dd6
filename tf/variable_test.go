package tf_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// TestVariablesAreTensorFlows compares names, ops and inputs with those of the
// variables in the graph that TensorFlow wrote.
func TestVariablesAreTensorFlows(t *testing.T) {
	want := &pb.GraphDef{}
	if err := prototext.Unmarshal(tensorFlowGraph, want); err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	g.Scope("layer", func() {
		g.Device("/job:ps/task:1", func() {
			tf.NewVariable(constant(g, (*tf.Tensor)(core.NewTensor(tf.Float32, tf.Shape{3, 2})), tf.Name("w/Initializer/initial_value")), tf.VariableOptions{Name: "w"})
		})
	})
	var names []string
	for _, n := range want.Node {
		if !strings.HasPrefix(n.Name, "layer/w") {
			continue
		}
		names = append(names, n.Name)
		op := g.Operation(n.Name)
		if op == nil {
			t.Errorf("there is no %s", n.Name)
			continue
		}
		var in []string
		for _, x := range op.Inputs() {
			in = append(in, x.Operation().Name)
		}
		if op.OpName() != n.Op || !slices.Equal(in, n.Input) || op.Device != n.Device && n.Op != "Const" {
			t.Errorf("%s: %s%v on %q, want %s%v on %q", n.Name, op.OpName(), in, op.Device, n.Op, n.Input, n.Device)
		}
	}
	if len(names) != 5 || len(g.Operations()) != 5 {
		t.Errorf("TensorFlow has %q, we have %v", names, g.Operations())
	}
}

func TestVariableNames(t *testing.T) {
	g := tf.NewGraph()
	one := vec(g, 1)
	for _, c := range []struct{ ask, want string }{{"", "Variable"}, {"", "Variable_1"}, {"v", "v"}, {"v", "v_1"}, {"a/v", "a/v"}} {
		v := tf.NewVariable(one, tf.VariableOptions{Name: c.ask})
		if v.Name() != c.want || v.Handle().Operation().Name != c.want || v.Handle().Operation().Str("shared_name") != c.want {
			t.Errorf("%q became %q, its handle is %v", c.ask, v.Name(), v.Handle())
		}
	}
	v := tf.Variables(g, tf.GlobalVariables)[2]
	if a, b := v.Read(), v.Read(); a.Name() != "Read/ReadVariableOp:0" || b.Name() != "Read_1/ReadVariableOp:0" {
		t.Errorf("reads are %v and %v", a, b)
	}
}

func TestVariableCollections(t *testing.T) {
	g := tf.NewGraph()
	one := vec(g, 1)
	a := tf.NewVariable(one, tf.VariableOptions{})
	b := tf.NewVariable(one, tf.VariableOptions{NotTrainable: true})
	c := tf.NewVariable(one, tf.VariableOptions{Local: true})
	g.AddToCollection(tf.GlobalVariables, "no variable")
	for name, want := range map[string][]*tf.Variable{
		tf.GlobalVariables: {a, b}, tf.TrainableVariables: {a}, tf.LocalVariables: {c}, "none": nil,
	} {
		if got := tf.Variables(g, name); !slices.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestVariablesInASession(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(vec(g, 1, 2), tf.VariableOptions{Name: "v"})
	local := tf.NewVariable(vec(g, 5), tf.VariableOptions{Name: "local", Local: true})
	plus, minus, set := v.AssignAdd(vec(g, 10, 10)), v.AssignSub(vec(g, 1, 1)), v.Assign(vec(g, 7, 7))
	init := tf.InitializeAll(g)
	if v.DType() != tf.Float64 || !v.Shape().Equal(tf.Shape{2}) || v.Graph() != g {
		t.Errorf("got %v%v", v.DType(), v.Shape())
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	value := func(x tf.Output) *tf.Tensor {
		t.Helper()
		got, err := s.Run(ctx, nil, x)
		if err != nil {
			t.Fatal(err)
		}
		return got[0]
	}
	if tf.Data[bool](value(v.IsInitialized()))[0] {
		t.Error("initialized before its initializer ran")
	}
	if _, err := s.Run(ctx, nil, v.Value()); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("reading it: %v", err)
	}
	for _, c := range []struct {
		op   *tf.Operation
		want []float64
	}{{init, []float64{1, 2}}, {plus, []float64{11, 12}}, {minus, []float64{10, 11}}, {set, []float64{7, 7}}, {v.Initializer(), []float64{1, 2}}} {
		if _, err := s.Run(ctx, nil, c.op); err != nil {
			t.Fatal(err)
		}
		tftest.Elements(t, value(v.Value()), c.want)
	}
	tftest.Elements(t, value(local.Value()), []float64{5})
	tftest.Elements(t, value(v.Initial()), []float64{1, 2})
	if !tf.Data[bool](value(v.IsInitialized()))[0] {
		t.Error("not initialized after all")
	}
}

func TestSlots(t *testing.T) {
	g := tf.NewGraph()
	var v *tf.Variable
	g.Device("/job:ps", func() { v = tf.NewVariable(vec(g, 1), tf.VariableOptions{Name: "v"}) })
	zero := func() tf.Output { return vec(g, 0) }
	var m *tf.Variable
	g.Scope("train", func() { m = v.Slot("Momentum", zero) })
	if m.Name() != "v/Momentum" || v.Slot("Momentum", zero) != m || m.Handle().Operation().Device != "/job:ps" {
		t.Errorf("the slot is %s on %q", m.Name(), m.Handle().Operation().Device)
	}
	if power := v.Shared("beta1_power", zero); power.Name() != "beta1_power" || v.Shared("beta1_power", zero) != power {
		t.Errorf("the shared one is %s", power.Name())
	}
	if got := tf.Variables(g, tf.TrainableVariables); !slices.Equal(got, []*tf.Variable{v}) {
		t.Errorf("trainable are %v", got)
	}
}

func TestBadVariables(t *testing.T) {
	g := tf.NewGraph()
	bad := tf.Apply(g, "Nonsense", nil).Output(0)
	v := tf.NewVariable(bad, tf.VariableOptions{Name: "v"})
	if v.Value().Err() == nil || v.Initializer().Err() == nil || g.Err() != bad.Err() {
		t.Errorf("value: %v, graph: %v", v.Value().Err(), g.Err())
	}
	v = tf.NewVariable(tf.Output{}, tf.VariableOptions{})
	if v.Value().Err() == nil || v.Graph().Err() == nil {
		t.Error("a variable without initial value is fine")
	}
	other := tf.NewGraph()
	w := tf.NewVariable(vec(other, 1), tf.VariableOptions{Name: "w", ColocateWith: tf.NewVariable(vec(other, 2), tf.VariableOptions{})})
	if w.Assign(constant(other, tf.Scalar("text"))).Err() == nil {
		t.Error("a string was assigned to a float64 variable")
	}
}

// TestNoInitializer: a variable of a file that names no initializer is left as it is.
func TestNoInitializer(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(constant(g, tf.Scalar(float32(1))), tf.VariableOptions{Name: "v"})
	bare, err := g.ImportVariable(&pb.VariableDef{VariableName: v.Handle().Name(), SnapshotName: v.Value().Name(), IsResource: true}, "")
	if err != nil || bare.Initializer() != nil {
		t.Fatal(bare, err)
	}
	g.AddToCollection(tf.GlobalVariables, bare)
	if op := tf.InitializeAll(g); op.Err() != nil || len(op.ControlInputs()) != 1 {
		t.Error(op.Err(), op.ControlInputs())
	}
}

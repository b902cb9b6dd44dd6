package tf_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// TestNoGraph: what is asked of a nil graph is an error or nothing, no panic.
func TestNoGraph(t *testing.T) {
	g := tf.NewGraph()
	x, away := ops.Scalar(g, float32(1)), ops.Scalar(g, float32(1), tf.OnDevice("/device:CPU:1"))
	for name, err := range map[string]error{
		"InitializeAll":  tf.InitializeAll(nil).Err(),
		"NewFunction":    tf.NewFunction(nil, "f", nil, func([]tf.Output) []tf.Output { return nil }).Err(),
		"a call":         tf.NewFunction(nil, "f", nil, func([]tf.Output) []tf.Output { return nil }).Call([]tf.Output{x})[0].Err(),
		"CustomGradient": tf.CustomGradient([]tf.Output{x}, nil)[0].Err(),
		"Group":          tf.Group(nil, "all", x.Operation(), away.Operation(), nil).Err(),
		"a tape":         tapeOfNothing(x),
	} {
		if tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(tf.Variables(nil, tf.GlobalVariables)); n != 0 {
		t.Errorf("no graph has %d variables", n)
	}
	(*tf.Graph)(nil).AddToCollection("c", 1)
	tf.SetDefaultSession(nil)()
	if _, err := x.Eval(t.Context(), nil); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "No default session is registered") {
		t.Error(err)
	}
}

// TestNoVariable: a variable that is nil, as one that nothing has made, gives errors with the
// line that uses it.
func TestNoVariable(t *testing.T) {
	x := ops.Scalar(tf.NewGraph(), float32(1))
	var v *tf.Variable
	for name, err := range map[string]error{
		"Value": v.Value().Err(), "Read": v.Read().Err(), "Handle": v.Handle().Err(), "Initial": v.Initial().Err(), "Initializer": v.Initializer().Err(),
		"IsInitialized": v.IsInitialized().Err(), "Assign": v.Assign(x).Err(), "AssignAdd": v.AssignAdd(x).Err(), "AssignSub": v.AssignSub(x).Err(),
		"a sum": x.Add(v.Value()).Err(), "Slot": v.Slot("m", func() tf.Output { return x }).Value().Err(),
	} {
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "a variable must not be nil") || !strings.Contains(err.Error(), "nograph_test.go:") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if x.Graph().Err() == nil {
		t.Error("the graph of what is assigned has no error")
	}
	if v.Name() != "" || v.DType() != tf.Invalid || v.Shape() != nil || v.IsReference() || v.Constraint() != nil || v.Slice() != nil {
		t.Error("it has a property")
	}
}

// TestNoFunction: scopes without a function to call have errors.
func TestNoFunction(t *testing.T) {
	for name, scope := range map[string]func(g *tf.Graph){
		"Scope":               func(g *tf.Graph) { g.Scope("a", nil) },
		"Device":              func(g *tf.Graph) { g.Device("/cpu:0", nil) },
		"DeviceFunc":          func(g *tf.Graph) { g.DeviceFunc(nil, nil) },
		"ControlDependencies": func(g *tf.Graph) { g.ControlDependencies(nil, nil) },
		"InitScope":           func(g *tf.Graph) { g.InitScope(nil) },
		"Recompute":           func(g *tf.Graph) { g.Recompute(nil) },
		"a variable scope":    func(g *tf.Graph) { vars.Scope(g, "a", vars.ScopeOptions{}, nil) },
		"a unique scope":      func(g *tf.Graph) { vars.Unique(g, "a", vars.ScopeOptions{}, nil) },
		"a scope entered":     func(g *tf.Graph) { vars.Capture(g).Enter(vars.ScopeOptions{}, nil) },
	} {
		g := tf.NewGraph()
		scope(g)
		if err := g.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "function to call") || !strings.Contains(err.Error(), "nograph_test.go:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// tapeOfNothing asks a tape of no graph for gradients: what was to be recorded is called.
func tapeOfNothing(x tf.Output) error {
	called := false
	tape := eager.Record(nil, func() { called = true })
	(*tf.Graph)(nil).StopRecording(func() { called = called && tape != nil })
	if _, err := tape.Jacobian(x, x); !called || tf.CodeOf(err) != tf.InvalidArgument {
		return err
	}
	_, err := tape.Gradients(x, x)
	return err
}

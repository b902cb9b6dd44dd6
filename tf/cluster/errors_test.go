package cluster_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestErrorsOfTasks: an error of a cluster names the program's node and line, in the
// body of a function, too, and speaks to Go programs.
func TestErrorsOfTasks(t *testing.T) {
	r := start(t, map[string]int{"ps": 1, "worker": 1})
	seven, err := tf.TensorOf(7)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, want string // a pattern
		build      func(g *tf.Graph, x tf.Output, v *tf.Variable) tf.Fetchable
	}{
		{"a kernel on another task", `^errors_test.go:\d+: FloorMod "FloorMod".*Integer division by zero`,
			func(_ *tf.Graph, x tf.Output, _ *tf.Variable) tf.Fetchable { return x.Mod(0).Add(1) }},
		{"a kernel in a function", `^errors_test.go:\d+: FloorMod "FloorMod".*Integer division by zero`,
			func(g *tf.Graph, x tf.Output, _ *tf.Variable) tf.Fetchable {
				f := tf.NewFunction(g, "f", tf.SpecOf(x), func(in []tf.Output) []tf.Output { return []tf.Output{in[0].Mod(0)} })
				return f.Call([]tf.Output{x})[0]
			}},
		{"a variable without a value", `^errors_test.go:\d+: ReadVariableOp .*Could not find variable v: .*run tf.InitializeAll\(g\)`,
			func(_ *tf.Graph, _ tf.Output, v *tf.Variable) tf.Fetchable { return v }},
		{"an addition to a variable without a value", `^errors_test.go:\d+: AssignAddVariableOp .*Could not find variable v: .*run tf.InitializeAll\(g\)`,
			func(g *tf.Graph, _ tf.Output, v *tf.Variable) tf.Fetchable {
				return v.AssignAdd(ops.Scalar[float32](g, 1))
			}},
		{"a reference without a value", `^errors_test.go:\d+: Identity .*Attempting to use uninitialized value r: .*run tf.InitializeAll\(g\)`,
			func(g *tf.Graph, _ tf.Output, _ *tf.Variable) tf.Fetchable {
				return tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "r", Reference: true}).Value()
			}},
	} {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Int32, nil, tf.Name("x"))
		var y tf.Fetchable
		g.Device("/job:ps/task:0", func() {
			y = c.build(g, x, tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "v"}))
		})
		s := open(t, g, r.servers["worker:0"].Target())
		_, err := s.Run(t.Context(), session.Feeds{x: seven}, y)
		if err == nil {
			t.Errorf("%s: no error", c.what)
			continue
		}
		text := err.Error()
		if flat := strings.ReplaceAll(text, "\n", " "); !regexp.MustCompile(c.want).MatchString(flat) || strings.Contains(flat, "N10tensorflow") {
			t.Errorf("%s: %s", c.what, text)
		}
	}
}

// TestSameNameInFunctions: where several functions have a node of that name, none of
// their lines is shown.
func TestSameNameInFunctions(t *testing.T) {
	r := start(t, map[string]int{"worker": 1})
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Int32, tf.Shape{})
	body := func(in []tf.Output) []tf.Output { return []tf.Output{in[0].Mod(0)} }
	f := tf.NewFunction(g, "f", tf.SpecOf(x), body)
	tf.NewFunction(g, "h", tf.SpecOf(x), body).Call([]tf.Output{x})
	y := f.Call([]tf.Output{x})[0]
	seven, err := tf.TensorOf(7)
	if err != nil {
		t.Fatal(err)
	}
	_, err = open(t, g, r.servers["worker:0"].Target()).Run(t.Context(), session.Feeds{x: seven}, y)
	if tf.CodeOf(err) != tf.InvalidArgument || strings.HasPrefix(err.Error(), "errors_test.go") {
		t.Errorf("got %v", err)
	}
}

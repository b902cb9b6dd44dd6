package cluster_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
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

// failing is a graph some of whose nodes have one name.
type failing struct {
	g          *tf.Graph
	x          tf.Output // an integer
	two, three tf.Output // vectors of so many elements, of which the graph does not know
	bad        []*tf.Operation
}

// divides is a body that divides by zero.
func (f *failing) divides(in []tf.Output) []tf.Output { return []tf.Output{f.fails(in[0].Mod(0))} }

// fails adds y, which gets a line of its own, to bad.
func (f *failing) fails(y tf.Output) tf.Output {
	y.Operation().SetPos(fmt.Sprintf("model.go:%d", len(f.bad)))
	f.bad = append(f.bad, y.Operation())
	return y
}

// call adds a function and a call of it.
func (f *failing) call(name string, body func(in []tf.Output) []tf.Output, x tf.Output, opts ...tf.Option) tf.Output {
	return ops.PartitionedCall(tf.NewFunction(f.g, name, tf.SpecOf(x), body), []tf.Output{x}, opts...)[0]
}

// sameNames are graphs in which the node of index at of what was added to bad is to
// fail.
var sameNames = []struct {
	what  string
	at    int
	build func(f *failing) tf.Output
}{
	{"the first of two functions", 0, func(f *failing) tf.Output {
		y := f.call("f", f.divides, f.x)
		f.call("h", f.divides, f.x)
		return y
	}},
	{"the second of two functions", 1, func(f *failing) tf.Output {
		f.call("f", f.divides, f.x)
		return f.call("h", f.divides, f.x)
	}},
	{"a function beside a node of the graph", 1, func(f *failing) tf.Output {
		f.divides([]tf.Output{f.x})
		return f.call("f", f.divides, f.x)
	}},
	{"a node of the graph beside a function", 1, func(f *failing) tf.Output {
		f.call("f", f.divides, f.x)
		return f.divides([]tf.Output{f.x})[0]
	}},
	{"a function in a function", 1, func(f *failing) tf.Output {
		return f.call("outer", func(in []tf.Output) []tf.Output {
			f.call("f", f.divides, in[0])
			return []tf.Output{f.call("inner", f.divides, in[0]).Add(1)}
		}, f.x)
	}},
	{"a function that stays a call", 1, func(f *failing) tf.Output {
		f.call("f", f.divides, f.x)
		return f.call("h", f.divides, f.x, tf.Attr("_noinline", true))
	}},
	{"a call in a function that stays one", 1, func(f *failing) tf.Output {
		return f.call("outer", func(in []tf.Output) []tf.Output {
			f.call("f", f.divides, in[0])
			return []tf.Output{f.call("inner", f.divides, in[0], tf.Attr("_noinline", true)).Add(1)}
		}, f.x, tf.Attr("_noinline", true))
	}},
	{"a loop", 1, func(f *failing) tf.Output {
		f.call("f", f.divides, f.x)
		cond := tf.NewFunction(f.g, "cond", tf.SpecOf(f.x), func(in []tf.Output) []tf.Output { return []tf.Output{in[0].Less(9)} })
		return ops.While([]tf.Output{f.x}, cond, tf.NewFunction(f.g, "body", tf.SpecOf(f.x), f.divides))[0]
	}},
	{"a branch", 1, func(f *failing) tf.Output {
		branch := func(name string) *tf.Function { return tf.NewFunction(f.g, name, tf.SpecOf(f.x), f.divides) }
		then, otherwise := branch("then"), branch("otherwise")
		return ops.If(f.x.Less(0), []tf.Output{f.x}, then, otherwise)[0]
	}},
	{"nodes that run as one", 1, func(f *failing) tf.Output {
		chain := func([]tf.Output) []tf.Output {
			return []tf.Output{ops.Tanh(f.fails(f.two.Mul(2).Add(f.three)).Mul(3)).Add(1)}
		}
		f.call("f", chain, f.x)
		return f.call("h", chain, f.x)
	}},
	{"constants", 1, func(f *failing) tf.Output {
		fold := func([]tf.Output) []tf.Output { return f.divides([]tf.Output{ops.Scalar[int32](f.g, 5).Add(1)}) }
		f.call("f", fold, f.x)
		return f.call("h", fold, f.x).Add(f.x)
	}},
}

// TestSameNameInFunctions: where several functions have a node of that name, an error
// has the line of the one that failed, in process and by gRPC and links.
func TestSameNameInFunctions(t *testing.T) {
	targets := map[string]string{
		"in process": "",
		"links":      start(t, map[string]int{"worker": 1}).servers["worker:0"].Target(),
		"gRPC":       startAlike(t, map[string]int{"worker": 1}, cluster.Config{NoLinks: true}).servers["worker:0"].Target(),
	}
	for _, c := range sameNames {
		f := &failing{g: tf.NewGraph()}
		f.x, f.two, f.three = ops.Placeholder(f.g, tf.Int32, tf.Shape{}), ops.Placeholder(f.g, tf.Float32, nil), ops.Placeholder(f.g, tf.Float32, nil)
		feeds := session.Feeds{f.x: tf.Scalar[int32](7), f.two: must(tf.FromSlice([]float32{1, 2})), f.three: must(tf.FromSlice([]float32{1, 2, 3}))}
		y := c.build(f)
		if err := f.g.Err(); err != nil {
			t.Fatal(c.what, err)
		}
		want := f.bad[c.at]
		for name, target := range targets {
			_, err := open(t, f.g, target).Run(t.Context(), feeds, y)
			if e := tf.AsError(err); e.Code != tf.InvalidArgument || e.Pos != want.Pos() || e.Op != want.OpName() {
				t.Errorf("%s, %s: got %v, want one of %s", c.what, name, err, want.Pos())
			}
		}
	}
}

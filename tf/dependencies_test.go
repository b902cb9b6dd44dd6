package tf_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// controls returns the names of what x waits for.
func controls(x tf.Output) (names []string) {
	for _, op := range x.Operation().ControlInputs() {
		names = append(names, op.Name)
	}
	return names
}

// TestDependenciesThroughInputs: control inputs are those that TensorFlow 2.21 gives
// the same program: none where an input already runs after the operation.
func TestDependenciesThroughInputs(t *testing.T) {
	g := tf.NewGraph()
	named := func(op, name string, in ...tf.Output) tf.Output { return tf.Apply(g, op, in, tf.Name(name)).Output(0) }
	constant := func(name string) tf.Output {
		return tf.Apply(g, "Const", nil, tf.Attr("value", tf.Scalar(1.0)), tf.Attr("dtype", tf.Float64), tf.Name(name)).Output(0)
	}
	a := named("Neg", "a", constant("c"))
	want := map[tf.Output][]string{}
	g.ControlDependencies([]*tf.Operation{a.Operation()}, func() {
		b := constant("b")
		y, z := named("Mul", "y", b, b), named("Mul", "z", a, a)
		want[b], want[y], want[z] = []string{"a"}, nil, nil
		g.ControlDependencies([]*tf.Operation{y.Operation()}, func() {
			want[named("AddV2", "w", y, b)] = nil
			want[named("AddV2", "q", z, z)] = []string{"y"}
			want[constant("r")] = []string{"a", "y"}
		})
	})
	want[constant("after")] = nil
	for x, names := range want {
		if got := controls(x); !slices.Equal(got, names) {
			t.Errorf("%s waits for %q, want %q", x.Name(), got, names)
		}
	}
}

// TestLoopAfterAnOperation: a loop in the scope of ControlDependencies runs after the
// operation, also when that has a value.
func TestLoopAfterAnOperation(t *testing.T) {
	for name, loop := range map[string]func(x tf.Output, body func(x tf.Output) tf.Output) tf.Output{
		"inside": func(x tf.Output, body func(x tf.Output) tf.Output) tf.Output {
			return repeat(3, x, func(_, x tf.Output) tf.Output { return body(x) })
		},
		"nested": func(x tf.Output, body func(x tf.Output) tf.Output) tf.Output {
			return repeat(1, x, func(_, x tf.Output) tf.Output {
				return repeat(3, x, func(_, x tf.Output) tf.Output { return body(x) })
			})
		},
		"in a branch": func(x tf.Output, body func(x tf.Output) tf.Output) tf.Output {
			return tf.Cond(constant(x.Graph(), tf.Scalar(true)), func() []tf.Output {
				return []tf.Output{repeat(3, x, func(_, x tf.Output) tf.Output { return body(x) })}
			}, func() []tf.Output { return []tf.Output{apply("Neg", x)} })[0]
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			v := tf.Apply(g, "VariableV2", nil, tf.Attr("shape", tf.Shape{1}), tf.Attr("dtype", tf.Float64)).Output(0)
			first := tf.Apply(g, "Assign", []tf.Output{v, vec(g, 1)})
			var outer, inner tf.Output
			g.ControlDependencies([]*tf.Operation{first}, func() {
				outer = loop(vec(g, 2), func(x tf.Output) tf.Output { return apply("AddV2", x, apply("Identity", v)) })
			})
			second := apply("Neg", vec(g, 5))
			inner = loop(vec(g, 2), func(x tf.Output) (y tf.Output) {
				g.ControlDependencies([]*tf.Operation{second.Operation()}, func() { y = apply("AddV2", x, vec(g, 1)) })
				return y
			})
			if err := g.Err(); err != nil {
				t.Fatal(err)
			}
			for _, x := range run(t, g, outer, inner) {
				tftest.Elements(t, x, []float64{5})
			}
		})
	}
}

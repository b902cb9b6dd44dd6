package tf_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// loopLeak returns what a loop's body computes, and what the loop returns.
func loopLeak(g *tf.Graph) (leak, result tf.Output) {
	w := tf.While([]tf.Output{ops.Scalar[float32](g, 0)},
		func(v []tf.Output) tf.Output { return v[0].Less(ops.Scalar[float32](g, 3)) },
		func(v []tf.Output) []tf.Output {
			leak = v[0].Add(ops.Scalar[float32](g, 1))
			return []tf.Output{leak}
		})
	return leak, w[0]
}

// branchLeak returns what a branch computes, and what the conditional returns.
func branchLeak(g *tf.Graph) (leak, result tf.Output) {
	p := ops.Placeholder(g, tf.Bool, tf.Shape{})
	y := tf.Cond(p, func() []tf.Output {
		leak = ops.Scalar[float32](g, 1).Square()
		return []tf.Output{leak}
	}, func() []tf.Output { return []tf.Output{ops.Scalar[float32](g, 2)} })
	return leak, y[0]
}

func functionLeak(g *tf.Graph) (leak, result tf.Output) {
	f := tf.NewFunction(g, "f", []tf.ArgSpec{{DType: tf.Float32}}, func(v []tf.Output) []tf.Output {
		leak = v[0].Square()
		return []tf.Output{leak}
	})
	return leak, f.Call([]tf.Output{ops.Scalar[float32](g, 2)})[0]
}

// another loops over v with the given body.
func another(g *tf.Graph, v tf.Output, body func(v tf.Output) tf.Output) tf.Output {
	return tf.While([]tf.Output{v}, func(v []tf.Output) tf.Output { return v[0].Less(ops.Scalar[float32](g, 3)) },
		func(v []tf.Output) []tf.Output { return []tf.Output{body(v[0])} })[0]
}

func choose(g *tf.Graph, f func() tf.Output) tf.Output {
	return tf.Cond(ops.Placeholder(g, tf.Bool, tf.Shape{}), func() []tf.Output { return []tf.Output{f()} },
		func() []tf.Output { return []tf.Output{ops.Scalar[float32](g, 2)} })[0]
}

func TestTensorsOfLoopsAndBranchesAreRefusedOutside(t *testing.T) {
	uses := map[string]func(g *tf.Graph, x tf.Output){
		"input":         func(_ *tf.Graph, x tf.Output) { x.Square() },
		"control input": func(g *tf.Graph, x tf.Output) { ops.NoOp(g, tf.After(x.Operation())) },
		"control inputs": func(g *tf.Graph, x tf.Output) {
			g.ControlDependencies([]*tf.Operation{x.Operation()}, func() { ops.NoOp(g) })
		},
		"group":         func(g *tf.Graph, x tf.Output) { tf.Group(g, "all", x.Operation()) },
		"loop variable": func(g *tf.Graph, x tf.Output) { another(g, x, func(v tf.Output) tf.Output { return v.Square() }) },
		"in another loop": func(g *tf.Graph, x tf.Output) {
			another(g, ops.Scalar[float32](g, 1), func(v tf.Output) tf.Output { return v.Add(x) })
		},
		"result of a loop": func(g *tf.Graph, x tf.Output) {
			another(g, ops.Scalar[float32](g, 1), func(tf.Output) tf.Output { return x })
		},
		"in a branch":      func(g *tf.Graph, x tf.Output) { choose(g, func() tf.Output { return x.Square() }) },
		"result of branch": func(g *tf.Graph, x tf.Output) { choose(g, func() tf.Output { return x }) },
		"predicate": func(g *tf.Graph, x tf.Output) {
			v := func() []tf.Output { return []tf.Output{ops.Scalar[float32](g, 1)} }
			tf.Cond(x.Greater(ops.Scalar[float32](g, 1)), v, v)
		},
		"in a function": func(g *tf.Graph, x tf.Output) {
			tf.NewFunction(g, "h", nil, func([]tf.Output) []tf.Output { return []tf.Output{x.Square()} }).Call(nil)
		},
	}
	makers := map[string]func(*tf.Graph) (leak, result tf.Output){"while loop": loopLeak, "branch of a conditional": branchLeak, "body of function": functionLeak}
	for what, maker := range makers {
		for use, f := range uses {
			g := tf.NewGraph()
			leak, _ := maker(g)
			if err := g.Err(); err != nil {
				t.Fatal(err)
			}
			f(g, leak)
			text := ""
			if err := g.Err(); err != nil {
				text = err.Error()
			}
			if strings.Count(text, "reach_test.go:") < 2 || !strings.Contains(text, what) && !strings.Contains(text, "different while loops") {
				t.Errorf("%s used as %s must be refused with both lines, got %q", what, use, text)
			}
		}
	}
}

func TestGradientsAndFetchesOfTensorsInside(t *testing.T) {
	for _, maker := range []func(*tf.Graph) (leak, result tf.Output){loopLeak, branchLeak} {
		g := tf.NewGraph()
		leak, result := maker(g)
		if leak.Operation().CheckFetchable() == nil || result.Operation().CheckFetchable() != nil {
			t.Errorf("what is inside is not fetchable, what is returned is: %v and %v", leak.Operation().CheckFetchable(), result.Operation().CheckFetchable())
		}
		if _, err := tf.Gradients(leak, ops.Scalar[float32](g, 1)); err == nil || !strings.Contains(err.Error(), "Cannot use") {
			t.Errorf("a gradient of %v must be refused, got %v", leak, err)
		}
		if _, err := tf.Gradients(result, leak); err == nil || !strings.Contains(err.Error(), "Cannot use") {
			t.Errorf("a gradient with respect to %v must be refused, got %v", leak, err)
		}
	}
}

func TestTensorsFromAroundServeInside(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 2)
	y := another(g, x, func(v tf.Output) tf.Output {
		return choose(g, func() tf.Output { return v.Mul(x).Add(another(g, v, func(u tf.Output) tf.Output { return u.Add(v) })) })
	})
	d, err := tf.Gradients(y, x)
	if err != nil || g.Err() != nil {
		t.Fatal(err, g.Err())
	}
	d[0].Add(y, tf.After(y.Operation()))
	if g.Err() != nil {
		t.Fatal(g.Err())
	}
}

package tf_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestFailedConditionalsKeepTheirResults checks that a program may index the results
// of a conditional that cannot be built: the error is found later, not a panic.
func TestFailedConditionalsKeepTheirResults(t *testing.T) {
	two := func(x tf.Output) func() []tf.Output {
		return func() []tf.Output { return []tf.Output{x.Neg(), x} }
	}
	other := func(x tf.Output) func() []tf.Output {
		return func() []tf.Output { return []tf.Output{x.Cast(tf.Int32), x} }
	}
	for name, build := range map[string]func(x tf.Output) []tf.Output{
		"predicate of another type": func(x tf.Output) []tf.Output { return tf.Cond(x, two(x), two(x)) },
		"predicate that failed": func(x tf.Output) []tf.Output {
			return tf.Cond(x.Less(ops.Const(x.Graph(), []int32{1})), two(x), two(x))
		},
		"no second branch":     func(x tf.Output) []tf.Output { return tf.Cond(x.Less(1), two(x), nil) },
		"branches that differ": func(x tf.Output) []tf.Output { return tf.Cond(x.Less(1), two(x), other(x)) },
		"a case": func(x tf.Output) []tf.Output {
			return tf.Case([]tf.CaseBranch{{Pred: x, Then: two(x)}, {Pred: x.MatMul(x).Less(1), Then: two(x)}}, two(x))
		},
		"in a function": func(x tf.Output) []tf.Output {
			f := tf.NewFunction(x.Graph(), "f", tf.SpecOf(x), func(a []tf.Output) []tf.Output { return tf.Cond(a[0].Less(1), two(a[0]), other(a[0]))[1:] })
			return append([]tf.Output{x.MatMul(x)}, ops.PartitionedCall(f, []tf.Output{x})...)
		},
	} {
		for kind, g := range map[string]*tf.Graph{"graph": tf.NewGraph(), "eager": eager.New()} {
			out := build(ops.Scalar(g, float32(2)))
			if len(out) < 2 || kind == "graph" && out[1].Err() == nil {
				t.Errorf("%s, %s: got %d results, %v", name, kind, len(out), out)
			}
		}
	}
}

// TestConditionalsWithoutBranches: a Case of nothing, or with a branch that is nil, is an
// error of its results. A nil option counts for nothing, as in Apply.
func TestConditionalsWithoutBranches(t *testing.T) {
	for kind, g := range map[string]*tf.Graph{"graph": tf.NewGraph(), "eager": eager.New()} {
		x := ops.Scalar(g, float32(2))
		two := func() []tf.Output { return []tf.Output{x, x} }
		for name, out := range map[string][]tf.Output{
			"no branches":         tf.Case(nil, two),
			"no branches at all":  tf.Case(nil, nil),
			"a nil branch":        tf.Case([]tf.CaseBranch{{Pred: x.Less(1), Then: two}, {Pred: x.Less(3)}}, two),
			"a nil branch at end": tf.Case([]tf.CaseBranch{{Pred: x.Less(1), Then: two}, {Pred: x.Less(3)}}, nil),
		} {
			if err := out[len(out)-1].Err(); tf.CodeOf(err) != tf.InvalidArgument {
				t.Errorf("%s, %s: %d results, %v", name, kind, len(out), err)
			}
		}
	}
	g := tf.NewGraph()
	x := ops.Scalar(g, float32(2))
	two := func() []tf.Output { return []tf.Output{x, x} }
	less, more := func(v []tf.Output) tf.Output { return v[0].Less(9) }, func(v []tf.Output) []tf.Output { return []tf.Output{v[0].Add(1)} }
	out := append(tf.Case([]tf.CaseBranch{{Pred: x.Less(1), Then: two}}, two, nil), tf.While([]tf.Output{x}, less, more, nil)...)
	if err := g.Err(); err != nil || len(out) != 3 {
		t.Errorf("nil options: %v, %v", out, err)
	}
}

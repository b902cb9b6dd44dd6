package ops_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestAssertions: each passes where it should and fails where it should, with a
// message that says what was compared.
func TestAssertions(t *testing.T) {
	for _, c := range []struct {
		name, text string
		f          func(x tf.Output) *tf.Operation
		good, bad  []float32
	}{
		{"equal", "x == y", func(x tf.Output) *tf.Operation { return ops.AssertEqual(x, 2) }, []float32{2, 2}, []float32{2, 3}},
		{"none equal", "x != y", func(x tf.Output) *tf.Operation { return ops.AssertNoneEqual(x, 2) }, []float32{1, 3}, []float32{1, 2}},
		{"less", "x < y", func(x tf.Output) *tf.Operation { return ops.AssertLess(x, 2) }, []float32{1, 1.5}, []float32{1, 2}},
		{"less or equal", "x <= y", func(x tf.Output) *tf.Operation { return ops.AssertLessEqual(x, 2) }, []float32{1, 2}, []float32{1, 2.5}},
		{"greater", "x > y", func(x tf.Output) *tf.Operation { return ops.AssertGreater(x, 2) }, []float32{3, 4}, []float32{3, 2}},
		{"greater or equal", "x >= y", func(x tf.Output) *tf.Operation { return ops.AssertGreaterEqual(x, 2) }, []float32{3, 2}, []float32{3, 1}},
		{"near", "tolerance", func(x tf.Output) *tf.Operation { return ops.AssertNear(x, 2, 0.01, 0.01) }, []float32{2.02, 1.98}, []float32{2, 2.1}},
		{"positive", "x > 0", ops.AssertPositive, []float32{1, 2}, []float32{1, 0}},
		{"negative", "x < 0", ops.AssertNegative, []float32{-1, -2}, []float32{-1, 0}},
		{"non-negative", "x >= 0", ops.AssertNonNegative, []float32{1, 0}, []float32{1, -1}},
		{"non-positive", "x <= 0", ops.AssertNonPositive, []float32{-1, 0}, []float32{-1, 1}},
		{"rank", "rank", func(x tf.Output) *tf.Operation { return ops.AssertRank(x, 1) }, []float32{1}, nil},
		{"rank at least", "rank", func(x tf.Output) *tf.Operation { return ops.AssertRankAtLeast(x, 1) }, []float32{1}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := tf.NewGraph()
			x := ops.Placeholder(g, tf.Float32, nil)
			op := c.f(x)
			s, err := session.New(g)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			good, bad := tensor(t, c.good), tf.Scalar[float32](1)
			if c.bad != nil {
				bad = tensor(t, c.bad)
			}
			if _, err := s.Run(t.Context(), session.Feeds{x: good}, op); err != nil {
				t.Errorf("%v: %v", good, err)
			}
			_, err = s.Run(t.Context(), session.Feeds{x: bad}, op)
			if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v: %v", bad, err)
			}
		})
	}
}

func tensor(t *testing.T, v []float32) *tf.Tensor {
	t.Helper()
	x, err := tf.FromSlice(v)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestStaticRank: a rank that is known is checked while the graph is built.
func TestStaticRank(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 2})
	if ops.AssertRank(x, 1, 2); g.Err() != nil {
		t.Fatal(g.Err())
	}
	if ops.AssertRankAtLeast(x, 3); tf.CodeOf(g.Err()) != tf.InvalidArgument {
		t.Errorf("a matrix must have rank 3 at least: %v", g.Err())
	}
}

// TestComposedRefuse: what cannot be built gives an error that says why, and the
// first error is kept.
func TestComposedRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		f    func(g *tf.Graph, x tf.Output) tf.Output
		text string
	}{
		"axis":         {func(_ *tf.Graph, x tf.Output) tf.Output { return ops.Sort(x, 2, false) }, "axis"},
		"mask":         {func(g *tf.Graph, x tf.Output) tf.Output { return ops.BooleanMask(x, ops.Const(g, []bool{true}), 0) }, "incompatible"},
		"scalar mask":  {func(g *tf.Graph, x tf.Output) tf.Output { return ops.BooleanMask(x, ops.Scalar(g, true), 0) }, "rank"},
		"kind of pool": {func(_ *tf.Graph, x tf.Output) tf.Output { return ops.Pool(x, []int{2}, "MIN", "SAME", []int{1}) }, "AVG or MAX"},
		"no parts":     {func(_ *tf.Graph, x tf.Output) tf.Output { return ops.EmbeddingLookup(nil, x, ops.EmbeddingOpts{}) }, "at least one"},
		"shapes": {func(g *tf.Graph, x tf.Output) tf.Output {
			return ops.SigmoidCrossEntropyWithLogits(ops.Const(g, []float32{1}), x)
		}, "same shape"},
		"unknown shape": {func(g *tf.Graph, _ tf.Output) tf.Output {
			return ops.ParallelStack([]tf.Output{ops.Placeholder(g, tf.Float32, nil)})
		}, "known"},
	} {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			y := c.f(g, ops.Const(g, make([]float32, 6), 2, 3))
			if err := y.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v", err)
			}
		})
	}
	if y := ops.Sort(tf.Output{}, 0, false); y.Err() == nil {
		t.Error("a sort of no output must be an error")
	}
	if m, v := ops.Moments(tf.Output{}, nil, false); m.Err() == nil || v.Err() == nil {
		t.Error("moments of no output must be errors")
	}
	if op := ops.AssertPositive(tf.Output{}); op == nil || op.Err() == nil {
		t.Error("an assertion on no output must be an error")
	}
}

// TestUnknownRanks: what needs no rank works without one.
func TestUnknownRanks(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, nil)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := session.Fetch[float32](t.Context(), s, session.Feeds{x: tensor(t, []float32{2, 3, 1})}, ops.Sort(x, -1, false))
	if err != nil || got[0] != 1 || got[2] != 3 {
		t.Errorf("sorted: %v %v", got, err)
	}
	v, err := session.Fetch[float32](t.Context(), s, session.Feeds{x: tensor(t, []float32{1, 3})}, ops.Variance(x, ops.AllAxes))
	if err != nil || v[0] != 1 {
		t.Errorf("variance: %v %v", v, err)
	}
}

// TestTupleWaits: an output is not passed on before the other operation is done.
func TestTupleWaits(t *testing.T) {
	g := eager.New()
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{})
	got, err := ops.Tuple([]tf.Output{ops.Scalar[float32](g, 5)}, v.AssignAdd(ops.Scalar[float32](g, 1)))[0].Value()
	if err != nil || got.At(0) != float32(5) {
		t.Errorf("%v %v", got, err)
	}
}

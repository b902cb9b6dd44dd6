package fuse_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// lines returns what a callable says of a step, without running it.
func lines(t *testing.T, g *tf.Graph, c session.Config, fetches ...tf.Fetchable) string {
	t.Helper()
	s := must(session.New(g, session.With(c)))
	defer s.Close()
	text, err := must(s.MakeCallable(nil, fetches...)).Explain(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestReasons: each kind of reason is told, of nodes that are in no cluster.
func TestReasons(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1}, tf.Name("x"))
	p := ops.Placeholder(g, tf.Bool, tf.Shape{}, tf.Name("p"))
	h := ops.Neg(ops.Cast(x, tf.Complex64, tf.Name("c")), tf.Name("complex"))
	branch := tf.Cond(p, func() []tf.Output { return []tf.Output{ops.Exp(x, tf.Name("in_branch"))} }, func() []tf.Output { return []tf.Output{x} })
	after := ops.Neg(branch[0], tf.Name("after"))
	row := ops.Tanh(ops.Placeholder(g, tf.Float32, tf.Shape{3}, tf.Name("v")), tf.Name("row"))
	wide := ops.AddV2(row, ops.Placeholder(g, tf.Float32, tf.Shape{2, 3}, tf.Name("m")), tf.Name("wide"))
	a := ops.Square(x, tf.Name("a"))
	around := ops.AddV2(a, ops.Cumsum(a, ops.Scalar[int32](g, 0)), tf.Name("around"))
	text := lines(t, g, session.Config{}, h, after, wide, around)
	for _, want := range []string{
		"device:CPU:0: ", "of other kinds: ", "Placeholder",
		"row = Tanh (", "wide: their shapes differ, [3] and [2,3]",
		"a = Square (", "around: what else uses a, or what else around depends on, makes a path between them that leads outside", "Cumsum is not elementwise",
		"after = Neg (", "Merge is not elementwise",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestWhatExplainSaysElsewhere: of devices that do not fuse, of the pass that is
// switched off, of nothing.
func TestWhatExplainSaysElsewhere(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	y := ops.Neg(ops.Exp(x))
	if text := lines(t, g, session.Config{DisabledPasses: []string{"fusion"}}, y); !strings.Contains(text, "none of ") || !strings.Contains(text, "the pass fusion is disabled") {
		t.Errorf("got %q", text)
	}
	s := must(session.New(g))
	defer s.Close()
	if text := must(must(s.MakeCallable([]tf.Output{x}, x)).Explain(context.Background())); !strings.Contains(text, "nothing is run") {
		t.Errorf("got %q", text)
	}
	c := must(s.MakeCallable([]tf.Output{x}, y))
	first, second := must(c.Explain(context.Background())), must(c.Explain(context.Background()))
	if first != second || !strings.Contains(first, "2 of them joined to 1") {
		t.Errorf("got %q, then %q", first, second)
	}
	if got := must(c.Run(context.Background(), vector(0)))[0].At(0); got != float32(-1) {
		t.Errorf("after Explain the step gives %v", got)
	}
}

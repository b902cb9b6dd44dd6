package savedmodel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestFreezeSession freezes a model between two steps of its training, as it is then, with a branch and on devices.
func TestFreezeSession(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 2}, tf.Name("x"))
	w := tf.NewVariable(ops.Const(g, []float32{1, 2, 3, 4}, 2, 2), tf.VariableOptions{Name: "w"})
	var y tf.Output
	g.Device("/cpu:0", func() { y = ops.MatMul(x, w.Value(), tf.Name("y")) })
	step := train.GradientDescent{LearningRate: 0.5}.Minimize(ops.L2Loss(y))
	init := tf.InitializeAll(g)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	feed := session.Feeds{x: must(tf.FromSlice([]float32{1, 1}, 1, 2))}
	if _, err := savedmodel.FreezeSession(t.Context(), s, y); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("variables without values: %v", err)
	}
	for _, run := range []tf.Fetchable{init, step} {
		if _, err := s.Run(t.Context(), feed, run); err != nil {
			t.Fatal(err)
		}
	}
	want, err := s.Run(t.Context(), feed, y)
	if err != nil {
		t.Fatal(err)
	}
	size := len(g.Operations())
	def, err := savedmodel.FreezeSession(t.Context(), s, y)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(g.Operations()); n != size {
		t.Errorf("the graph has %d operations more", n-size)
	}
	if _, err := s.Run(t.Context(), feed, step); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range def.GetNode() {
		names = append(names, n.GetName())
		if n.GetDevice() != "" || strings.Contains(n.GetOp(), "Var") {
			t.Errorf("node %v", n)
		}
	}
	if !slices.Contains(names, "w") || slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "gradients") }) {
		t.Errorf("nodes %v", names)
	}
	frozen, err := savedmodel.LoadFrozen(t.Context(), def, map[string]string{"x": "x:0"}, map[string]string{"y": "y:0"}, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	if got := run(t, frozen, map[string]any{"x": [][]float32{{1, 1}}}); fmt.Sprint(got) != fmt.Sprint(tf.Data[float32](want[0])) {
		t.Errorf("frozen: %v, want %v", got, want)
	}
	other := ops.Scalar[float32](tf.NewGraph(), 1)
	for rule, err := range map[string]error{
		"none is given": freezeError(t, s), "must belong to the session's graph": freezeError(t, s, other),
		"output 1 of 2 is no output of any": freezeError(t, s, y, tf.Output{}),
	} {
		if err == nil || !strings.Contains(err.Error(), rule) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

func freezeError(t *testing.T, s *session.Session, outputs ...tf.Output) error {
	_, err := savedmodel.FreezeSession(t.Context(), s, outputs...)
	return err
}

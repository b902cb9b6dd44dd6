package tf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

func ExampleGraph_Finalize() {
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 2)
	y := x.Square()
	g.Finalize()
	fmt.Println(g.Finalized(), y.Err())
	fmt.Println(tf.AsError(x.Add(1).Err()).Message())
	// Output:
	// true <nil>
	// Graph is finalized and cannot be modified. Steps fetch operations that were added before
}

// TestFinalized has a graph that is finalized refuse all that it would keep, and go on to
// serve sessions.
func TestFinalized(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{})
	initial := tf.InitializeAll(g)
	def, err := g.GraphProto(0)
	if err != nil {
		t.Fatal(err)
	}
	g.Finalize()
	n := len(g.Operations())
	for what, err := range map[string]error{
		"an operation":  v.Read().Err(),
		"a constant":    ops.Scalar[float32](g, 1).Err(),
		"a variable":    tf.NewVariable(v.Value(), tf.VariableOptions{}).Value().Err(),
		"a group":       tf.Group(g, "all", initial).Err(),
		"what it lacks": v.Value().Add("text").Err(),
		"a function": tf.NewFunction(g, "f", tf.SpecOf(v.Value()), func(x []tf.Output) []tf.Output {
			return []tf.Output{x[0].Neg()}
		}).Err(),
	} {
		if tf.CodeOf(err) != tf.FailedPrecondition || !strings.Contains(err.Error(), "Graph is finalized and cannot be modified.") || !strings.Contains(err.Error(), "finalize_test.go:") || strings.Contains(err.Error(), "handle") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := g.ImportProto(def, tf.ImportOptions{Prefix: "again"}); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("an import: %v", err)
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, initial); err != nil {
		t.Error(err)
	}
	if _, err := s.Run(t.Context(), nil, v.Read()); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("a step with a new operation: %v", err)
	}
	if len(g.Operations()) != n {
		t.Errorf("%d operations have become %d", n, len(g.Operations()))
	}
	if g.AddToCollection("a", 1); tf.CodeOf(g.Err()) != tf.FailedPrecondition || len(g.Collection("a")) > 0 {
		t.Errorf("a collection: %v", g.Err())
	}
}

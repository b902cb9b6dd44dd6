package tf_test

import (
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestAddConcurrently has goroutines add the operations that they fetch, which none of
// them may notice of another, and no detector of races either.
func TestAddConcurrently(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 40 {
				y := v.Read().Add(1)
				g.AddToCollection("sums", y)
				got, err := session.Fetch[float32](t.Context(), s, nil, y)
				if err != nil || got[0] != 2 {
					t.Errorf("got %v, %v", got, err)
				}
				g.Device("/cpu:0", func() { g.ControlDependencies(nil, func() { v.Value().Neg() }) })
			}
		})
	}
	all.Wait()
	names := map[string]bool{}
	for _, op := range g.Operations() {
		if names[op.Name] {
			t.Errorf("two operations are called %s", op.Name)
		}
		names[op.Name] = true
	}
	if len(g.Collection("sums")) != 160 || g.CurrentScope() != "" {
		t.Errorf("the collection has %d members, the scope in force is %q", len(g.Collection("sums")), g.CurrentScope())
	}
}

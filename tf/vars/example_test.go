package vars_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A variable has the name of its scope and its own.
func ExampleGet() {
	g := tf.NewGraph()
	vars.Scope(g, "layer1", vars.ScopeOptions{}, func() {
		w := vars.Get(g, "weights", tf.Shape{784, 10})
		fmt.Println(w.Name(), w.Shape(), w.DType())
	})
	// Output: layer1/weights [784,10] float32
}

// A scope that reuses variables finds those that another one has made.
func ExampleScope() {
	g := tf.NewGraph()
	model := func(reuse vars.Reuse) (w *tf.Variable) {
		vars.Scope(g, "model", vars.ScopeOptions{Reuse: reuse}, func() { w = vars.Get(g, "w", tf.Shape{2}) })
		return w
	}
	forTraining, forTest := model(vars.Inherit), model(vars.Always)
	fmt.Println(forTraining == forTest, len(vars.All(g)))
	// Output: true 1
}

// Scopes set what their variables begin with.
func ExampleScopeOptions() {
	g := tf.NewGraph()
	var w *tf.Variable
	vars.Scope(g, "ones", vars.ScopeOptions{Initializer: initializers.Ones, DType: tf.Float64}, func() {
		w = vars.Get(g, "w", tf.Shape{3})
	})
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		fmt.Println(err)
		return
	}
	out, err := s.Run(ctx, nil, w.Value())
	fmt.Println(out, err)
	// Output: [float64[3]{1, 1, 1}] <nil>
}

// What a regularizer returns joins the losses of the graph.
func ExampleL2() {
	g := tf.NewGraph()
	vars.Get(g, "w", tf.Shape{2}, vars.Options{Initializer: initializers.Constant(3), Regularizer: vars.L2(0.5)})
	total := losses.Total(g)
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		fmt.Println(err)
		return
	}
	out, err := s.Run(ctx, nil, total) // 0.5 · (9 + 9) / 2
	fmt.Println(out, err)
	// Output: [float32[]{4.5}] <nil>
}

// A partitioner cuts large variables into parts, which may be on different
// devices.
func ExamplePartitioned() {
	g := tf.NewGraph()
	vars.Scope(g, "embedding", vars.ScopeOptions{Partitioner: vars.FixedSize(2, 0)}, func() {
		table := vars.GetPartitioned(g, "table", tf.Shape{5, 8})
		for _, part := range table.Parts {
			fmt.Println(part.Name(), part.Shape())
		}
		fmt.Println(table.Value().Shape())
	})
	// Output:
	// embedding/table/part_0 [3,8]
	// embedding/table/part_1 [2,8]
	// [5,8]
}

// ReportUninitialized names the variables that have no value yet.
func ExampleReportUninitialized() {
	g := tf.NewGraph()
	a, b := vars.Get(g, "a", tf.Shape{}), vars.Get(g, "b", tf.Shape{})
	missing := vars.ReportUninitialized(g, a, b)
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	if _, err := s.Run(ctx, nil, a.Initializer()); err != nil {
		fmt.Println(err)
		return
	}
	names, err := session.Fetch[string](ctx, s, nil, missing)
	fmt.Println(names, err)
	// Output: [b] <nil>
}

// A scope that was captured is entered again from anywhere.
func ExampleCaptured() {
	g := tf.NewGraph()
	var scope *vars.Captured
	vars.Scope(g, "model", vars.ScopeOptions{}, func() { scope = vars.Capture(g) })
	scope.Enter(vars.ScopeOptions{}, func() { fmt.Println(vars.Get(g, "w", tf.Shape{}).Name()) })
	// Output: model/w
}

// The projection of a variable onto the values that it may have.
func ExampleNonNegative() {
	g := tf.NewGraph()
	v := vars.Get(g, "w", tf.Shape{2}, vars.Options{Constraint: vars.NonNegative})
	fmt.Println(v.Constraint() != nil)
	// Output: true
}

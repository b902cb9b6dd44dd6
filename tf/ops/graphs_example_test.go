package ops_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// Loops are made of frames: Enter takes values in, Exit takes them out. A
// Constant is the same in all iterations; this loop has only one. See While.
func ExampleEnter() {
	g := tf.NewGraph()
	x := ops.Enter(ops.Scalar[float32](g, 3), "loop")
	by := ops.Enter(ops.Scalar[float32](g, 7), "loop", ops.EnterOpts{Constant: true})
	y := ops.Exit(ops.Mul(x, by))
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	v, err := session.Fetch[float32](context.Background(), s, nil, y)
	fmt.Println(v, err)
	// Output: [21] <nil>
}

// A gradient that must not be taken is an error, with a message that says why.
func ExamplePreventGradient() {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1, 2})
	y := ops.PreventGradient(x, ops.PreventGradientOpts{Message: "x was rounded"})
	_, err := tf.Gradients(y.Square(), x)
	fmt.Println(tf.CodeOf(err), tf.AsError(err).Msg)
	// Output: FAILED_PRECONDITION Gradient explicitly disabled. Reason: x was rounded
}

// The seed of an operation: equal seeds give equal numbers, and without any
// each run has numbers of its own.
func ExampleRandomOpts() {
	seed := int64(7)
	for _, o := range []ops.RandomOpts{{Seed: &seed}, ops.Seed(7), ops.Seed(8)} {
		v, err := ops.RandomUniformInt(eager.New(), []int{5}, 0, 100, o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[5]{87, 87, 25, 94, 60} <nil>
	// int32[5]{87, 87, 25, 94, 60} <nil>
	// int32[5]{52, 82, 10, 53, 84} <nil>
}

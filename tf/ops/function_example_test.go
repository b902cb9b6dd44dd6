package ops_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// show prints the values of xs.
func show(xs ...tf.Output) {
	s, err := session.New(xs[0].Graph())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for _, x := range xs {
		v, err := session.Fetch[float32](context.Background(), s, nil, x)
		fmt.Println(v, err)
	}
}

func ExamplePartitionedCall() {
	g := tf.NewGraph()
	x, scale := ops.Const(g, []float32{1, 2, 3}), ops.Scalar[float32](g, 10)
	square := tf.NewFunction(g, "square", tf.SpecOf(x), func(args []tf.Output) []tf.Output {
		return []tf.Output{args[0].Mul(args[0]).Mul(scale)} // scale is captured
	})
	y := ops.PartitionedCall(square, []tf.Output{x})
	dx, err := tf.Gradients(y[0], x)
	if err != nil {
		fmt.Println(err)
		return
	}
	show(y[0], dx[0])
	// Output:
	// [10 40 90] <nil>
	// [20 40 60] <nil>
}

func ExampleIf() {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{-1, 4})
	root := tf.NewFunction(g, "root", nil, func([]tf.Output) []tf.Output { return []tf.Output{ops.Sqrt(x)} })
	same := tf.NewFunction(g, "same", nil, func([]tf.Output) []tf.Output { return []tf.Output{x} })
	positive := ops.All(ops.GreaterEqual(x, ops.Scalar[float32](g, 0)), ops.Const(g, []int32{0}))
	show(ops.If(ops.LogicalNot(positive), nil, root, same)[0], ops.If(positive, nil, root, same)[0])
	// Output:
	// [NaN 2] <nil>
	// [-1 4] <nil>
}

func ExampleWhile() {
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 1)
	loop := tf.SpecOf(x)
	cond := tf.NewFunction(g, "cond", loop, func(v []tf.Output) []tf.Output {
		return []tf.Output{ops.Less(v[0], ops.Scalar[float32](g, 100))}
	})
	body := tf.NewFunction(g, "body", loop, func(v []tf.Output) []tf.Output { return []tf.Output{v[0].Add(v[0])} })
	y := ops.While([]tf.Output{x}, cond, body, ops.WhileOpts{ParallelIterations: 1})
	dx, err := tf.Gradients(y[0], x)
	if err != nil {
		fmt.Println(err)
		return
	}
	show(y[0], dx[0])
	// Output:
	// [128] <nil>
	// [128] <nil>
}

package tf_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A graph is built first, then run by a session.
func ExampleGraph() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1}, tf.Name("x"))
	y := x.Square().Sum()

	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	in, err := tf.FromSlice([]float32{1, 2, 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := s.Run(context.Background(), session.Feeds{x: in}, y)
	fmt.Println(out, err)
	// Output: [float32[]{14}] <nil>
}

// Scopes put a prefix before the names of operations.
func ExampleGraph_Scope() {
	g := tf.NewGraph()
	g.Scope("layer", func() {
		x := ops.Scalar[float32](g, 1, tf.Name("x"))
		fmt.Println(x.Name())
		g.Scope("inner", func() {
			fmt.Println(x.Neg().Name())
		})
	})
	// Output:
	// layer/x:0
	// layer/inner/Neg:0
}

// Names are made unique, as TensorFlow does it.
// What is added within Recompute is computed again for gradients, so that only what
// each block passes on is kept in memory.
func ExampleGraph_Recompute() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 2})
	w := ops.Const(g, []float32{0.5, -0.5, 1, 2}, 2, 2)
	y := x
	for range 3 {
		g.Recompute(func() { y = ops.Tanh(ops.MatMul(y, w)) })
	}
	dx, err := tf.Gradients(y.Sum(), x)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	in, _ := tf.FromSlice([]float32{0, 0}, 1, 2)
	out, err := s.Run(context.Background(), session.Feeds{x: in}, dx[0])
	fmt.Println(out, err)
	// Output: [float32[1,2]{-3.75, 10.5}] <nil>
}

func ExampleGraph_UniqueName() {
	g := tf.NewGraph()
	fmt.Println(g.UniqueName("x"), g.UniqueName("x"), g.UniqueName("X"))
	// Output: x x_1 X_2
}

// What is built in a device scope asks for that device.
func ExampleGraph_Device() {
	g := tf.NewGraph()
	g.Device("/job:ps", func() {
		x := ops.Scalar[float32](g, 1)
		y := ops.Neg(x, tf.OnDevice("/task:1"))
		fmt.Println(x.Operation().Device)
		fmt.Println(y.Operation().Device)
	})
	// Output:
	// /job:ps
	// /job:ps/task:1
}

// An operation that is built within ControlDependencies runs after others,
// although it does not use their results.
func ExampleGraph_ControlDependencies() {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[int32](g, 1), tf.VariableOptions{})
	add := v.AssignAdd(ops.Scalar[int32](g, 41))
	var after tf.Output
	g.ControlDependencies([]*tf.Operation{add}, func() { after = v.Read() })

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
	out, err := s.Run(ctx, nil, after)
	fmt.Println(out, err)
	// Output: [int32[]{42}] <nil>
}

// A graph can be written as a GraphDef and read into another graph, here or in
// TensorFlow.
func ExampleGraph_ImportGraphDef() {
	g := tf.NewGraph()
	ops.Square(ops.Scalar[float32](g, 3, tf.Name("x")), tf.Name("y"))
	def, err := g.MarshalGraphDef()
	if err != nil {
		fmt.Println(err)
		return
	}

	copied := tf.NewGraph()
	if err := copied.ImportGraphDef(def, tf.ImportOptions{Prefix: "copy"}); err != nil {
		fmt.Println(err)
		return
	}
	for _, op := range copied.Operations() {
		fmt.Println(op)
	}
	// Output:
	// Const "copy/x"
	// Square "copy/y"
}

// The first mistake stays with the graph. It names the operation and its inputs.
func ExampleGraph_Err() {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)
	y := ops.Const(g, []float32{1, 2, 3}, 3, 1)
	ops.MatMul(x, y, tf.Name("product")).Relu()

	e := tf.AsError(g.Err())
	fmt.Println(e.Code, e.Node, e.In)
	// Output: INVALID_ARGUMENT product [Const:0 float32[2,2] Const_1:0 float32[3,1]]
}

func ExampleOperation() {
	g := tf.NewGraph()
	x, y := ops.Scalar[float32](g, 1, tf.Name("x")), ops.Scalar[float32](g, 2, tf.Name("y"))
	op := ops.Add(x, y, tf.Name("sum")).Operation()
	fmt.Println(op, op.Inputs(), op.Type("T"), op.NumOutputs())
	fmt.Println(g.Operation("sum") == op, g.Operation("none") == nil)
	// Output:
	// AddV2 "sum" [x:0 float32[] y:0 float32[]] float32 1
	// true true
}

// Outputs have a name, a type and a shape before anything is computed.
func ExampleOutput() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 784}, tf.Name("x"))
	w := ops.Placeholder(g, tf.Float32, tf.Shape{784, 10}, tf.Name("w"))
	y := x.MatMul(w).Softmax()
	fmt.Println(y.Name(), y.DType(), y.Shape())
	// Output: Softmax:0 float32 [?,10]
}

// In an eager graph an output has a value at once.
func ExampleOutput_Value() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)
	v, err := x.Mul(x).Sum(1).Value()
	fmt.Println(v, err)
	// Output: float32[2]{5, 25} <nil>
}

// Eval computes an output in the graph's default session.
func ExampleOutput_Eval() {
	g := tf.NewGraph()
	s, err := session.Interactive(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	v, err := ops.Scalar[float32](g, 4).Sqrt().Eval(context.Background(), nil)
	fmt.Println(v, err)
	// Output: float32[]{2} <nil>
}

// A variable keeps its value from one step to the next.
func ExampleVariable() {
	g := tf.NewGraph()
	counter := tf.NewVariable(ops.Scalar[int64](g, 0), tf.VariableOptions{Name: "counter"})
	next := counter.AssignAdd(ops.Scalar[int64](g, 1))

	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	for _, op := range []*tf.Operation{counter.Initializer(), next, next, next} {
		if _, err := s.Run(ctx, nil, op); err != nil {
			fmt.Println(err)
			return
		}
	}
	v, err := session.Fetch[int64](ctx, s, nil, counter.Value())
	fmt.Println(v, err)
	// Output: [3] <nil>
}

// In an eager graph a variable is initialized at once, and Assign takes effect
// at once.
func ExampleVariable_eager() {
	g := eager.New()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "v"})
	if err := v.Assign(v.Value().Mul(ops.Scalar[float32](g, 10))).Err(); err != nil {
		fmt.Println(err)
		return
	}
	x, err := v.Value().Value()
	fmt.Println(x, err)
	// Output: float32[2]{10, 20} <nil>
}

// InitializeAll runs the initializers of all variables.
func ExampleInitializeAll() {
	g := tf.NewGraph()
	a := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "a"})
	b := tf.NewVariable(ops.Scalar[float32](g, 2), tf.VariableOptions{Name: "b"})
	start := tf.InitializeAll(g)

	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	_, err = s.Run(ctx, nil, a.Value())
	fmt.Println("before:", tf.CodeOf(err))
	if _, err := s.Run(ctx, nil, start); err != nil {
		fmt.Println(err)
		return
	}
	out, err := s.Run(ctx, nil, a.Value(), b.Value())
	fmt.Println("after:", out, err)
	// Output:
	// before: FAILED_PRECONDITION
	// after: [float32[]{1} float32[]{2}] <nil>
}

// A function is traced once and may be called often.
func ExampleNewFunction() {
	g := eager.New()
	args := []tf.ArgSpec{{Name: "x", DType: tf.Float32, Shape: tf.Shape{}}}
	f := tf.NewFunction(g, "cube", args, func(args []tf.Output) []tf.Output {
		x := args[0]
		return []tf.Output{x.Mul(x).Mul(x)}
	})
	for _, x := range []float32{2, 3} {
		v, err := f.Call([]tf.Output{ops.Scalar(g, x)})[0].Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[]{8} <nil>
	// float32[]{27} <nil>
}

func ExampleFunction() {
	g := tf.NewGraph()
	scale := ops.Scalar[float32](g, 10, tf.Name("scale"))
	f := tf.NewFunction(g, "scaled", []tf.ArgSpec{{Name: "x", DType: tf.Float32, Shape: tf.Shape{2}}}, func(args []tf.Output) []tf.Output {
		return []tf.Output{args[0].Mul(scale)} // scale is captured
	})
	fmt.Println(f.Captures(), f.Err())
	fmt.Println(f.Results()[0].Shape())
	// Output:
	// [scale:0 float32[]] <nil>
	// [2]
}

// The gradient with respect to a vector has its shape.
func ExampleGradients_vector() {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1, 2, 3})
	y := x.Square().Sum()
	dx, err := tf.Gradients(y, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, dx[0])
	fmt.Println(out, err)
	// Output: [float32[3]{2, 4, 6}] <nil>
}

// A tape records what an eager graph computes, so that gradients can be taken.
func ExampleTape() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3})
	var y tf.Output
	tape := eager.Record(g, func() { y = x.Mul(x).Sum() })
	dx, err := tape.Gradients(y, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := dx[0].Value()
	fmt.Println(v, err)
	// Output: float32[3]{2, 4, 6} <nil>
}

func ExampleTape_Jacobian() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2})
	var y tf.Output
	tape := eager.Record(g, func() { y = x.Square() })
	j, err := tape.Jacobian(y, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := j[0].Value()
	fmt.Println(v, err)
	// Output: float32[2,2]{2, 0, 0, 4} <nil>
}

// Differentiate is the general form of Gradients.
func ExampleDifferentiate() {
	g := tf.NewGraph()
	x, z := ops.Scalar[float32](g, 3), ops.Scalar[float32](g, 5)
	y := x.Mul(z)
	grads, err := tf.Differentiate(tf.GradientOptions{
		Ys: []tf.Output{y}, Xs: []tf.Output{x, z}, GradYs: []tf.Output{ops.Scalar[float32](g, 10)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, grads[0].Output(), grads[1].Output())
	fmt.Println(out, err)
	// Output: [float32[]{50} float32[]{30}] <nil>
}

// The gradient of gathered rows is sparse: the rows, and where they belong.
func ExampleIndexedSlices() {
	g := tf.NewGraph()
	table := ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, 3, 2)
	rows := ops.Gather(table, ops.Const(g, []int32{2, 0}), 0)
	grads, err := tf.Differentiate(tf.GradientOptions{Ys: []tf.Output{rows}, Xs: []tf.Output{table}})
	if err != nil {
		fmt.Println(err)
		return
	}
	slices, sparse := grads[0].IndexedSlices()
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, slices.Indices, slices.Values)
	fmt.Println(sparse, out, err)
	// Output: true [int32[2]{2, 0} float32[2,2]{1, 1, 1, 1}] <nil>
}

// CustomGradient replaces the gradient of what a function computes: here that of
// a square root is kept finite at 0.
func ExampleCustomGradient() {
	g := eager.New()
	x := ops.Const(g, []float32{0, 4})
	var y tf.Output
	tape := eager.Record(g, func() {
		y = tf.CustomGradient([]tf.Output{x}, func(xs []tf.Output) ([]tf.Output, func([]tf.Output) []tf.Output) {
			root := xs[0].Sqrt()
			return []tf.Output{root}, func(dys []tf.Output) []tf.Output {
				limit := ops.Scalar[float32](g, 0.5)
				return []tf.Output{dys[0].Mul(limit.Div(root.Maximum(limit)))}
			}
		})[0]
	})
	dx, err := tape.Gradients(y, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := dx[0].Value()
	fmt.Println(v, err)
	// Output: float32[2]{1, 0.25} <nil>
}

// Cond computes only the branch that is taken.
func ExampleCond() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	y := tf.Cond(x.Less(ops.Scalar[float32](g, 0)),
		func() []tf.Output { return []tf.Output{x.Neg()} },
		func() []tf.Output { return []tf.Output{x.Sqrt()} })

	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for _, v := range []float32{-3, 9} {
		out, err := s.Run(context.Background(), session.Feeds{x: tf.Scalar(v)}, y[0])
		fmt.Println(out, err)
	}
	// Output:
	// [float32[]{3}] <nil>
	// [float32[]{3}] <nil>
}

func ExampleCase() {
	g := eager.New()
	grade := func(points int32) tf.Output {
		p := ops.Scalar(g, points)
		name := func(s string) func() []tf.Output {
			return func() []tf.Output { return []tf.Output{ops.Scalar(g, s)} }
		}
		return tf.Case([]tf.CaseBranch{
			{Pred: p.GreaterEqual(ops.Scalar[int32](g, 90)), Then: name("very good")},
			{Pred: p.GreaterEqual(ops.Scalar[int32](g, 60)), Then: name("good")},
		}, name("failed"))[0]
	}
	for _, points := range []int32{95, 70, 10} {
		v, err := grade(points).Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[]{"very good"} <nil>
	// string[]{"good"} <nil>
	// string[]{"failed"} <nil>
}

// While doubles a number until it exceeds 100.
func ExampleWhile() {
	g := tf.NewGraph()
	x := ops.Scalar[int32](g, 3)
	last := tf.While([]tf.Output{x},
		func(v []tf.Output) tf.Output { return v[0].LessEqual(ops.Scalar[int32](g, 100)) },
		func(v []tf.Output) []tf.Output { return []tf.Output{v[0].Add(v[0])} })

	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, last[0])
	fmt.Println(out, err)
	// Output: [int32[]{192}] <nil>
}

// Group makes one operation of several.
func ExampleGroup() {
	g := tf.NewGraph()
	a := tf.NewVariable(ops.Scalar[int32](g, 0), tf.VariableOptions{Name: "a"})
	b := tf.NewVariable(ops.Scalar[int32](g, 0), tf.VariableOptions{Name: "b"})
	one := ops.Scalar[int32](g, 1)
	both := tf.Group(g, "both", a.AssignAdd(one), b.AssignSub(one))

	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	for _, op := range []*tf.Operation{tf.InitializeAll(g), both, both} {
		if _, err := s.Run(ctx, nil, op); err != nil {
			fmt.Println(err)
			return
		}
	}
	out, err := s.Run(ctx, nil, a.Value(), b.Value())
	fmt.Println(out, err)
	// Output: [int32[]{2} int32[]{-2}] <nil>
}

// Apply adds an operation by its name: what the functions of package ops do.
func ExampleApply() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)
	y := tf.Apply(g, "MatMul", []tf.Output{x, x}, tf.Attr("transpose_a", true), tf.Name("product"))
	v, err := y.Output(0).Value()
	fmt.Println(v, err)
	// Output: float32[2,2]{10, 14, 14, 20} <nil>
}

// The caller knows which kind of mistake was made by its code.
func ExampleError() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3})
	_, err := ops.Reshape(x, ops.Const(g, []int32{2, 2})).Value()

	var e *tf.Error
	if errors.As(err, &e) {
		fmt.Println(e.Op, e.Code)
	}
	fmt.Println(errors.Is(err, &tf.Error{Code: tf.InvalidArgument}))
	// Output:
	// Reshape INVALID_ARGUMENT
	// true
}

func ExampleErrorf() {
	err := tf.Errorf(tf.NotFound, "no model in %q", "dir")
	fmt.Println(err)
	fmt.Println(tf.CodeOf(fmt.Errorf("restoring: %w", err)))
	// Output:
	// NOT_FOUND: no model in "dir"
	// NOT_FOUND
}

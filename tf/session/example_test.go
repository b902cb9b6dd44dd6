package session_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// Run feeds values, runs operations and returns what it fetches.
func ExampleSession() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{2})
	total := tf.NewVariable(ops.Const(g, []float32{0, 0}), tf.VariableOptions{Name: "total"})
	add := total.AssignAdd(x)

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
	for _, v := range [][]float32{{1, 2}, {10, 20}} {
		in, err := tf.FromSlice(v)
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := s.Run(ctx, session.Feeds{x: in}, add); err != nil {
			fmt.Println(err)
			return
		}
	}
	out, err := s.Run(ctx, nil, total.Value())
	fmt.Println(out[0], err)
	// Output: float32[2]{11, 22} <nil>
}

// New returns the first mistake that was made while the graph was built.
func ExampleNew() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{2})
	y := ops.Placeholder(g, tf.Float32, tf.Shape{3})
	x.Add(y)
	_, err := session.New(g)
	fmt.Println(tf.CodeOf(err))
	// Output: INVALID_ARGUMENT
}

// A session may have several devices of this process.
func ExampleDevices() {
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 3, tf.OnDevice("/device:CPU:0"))
	y := ops.Square(x, tf.OnDevice("/device:CPU:1"))
	s, err := session.New(g, session.Devices("CPU", 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, y)
	fmt.Println(out, err)
	// Output: [float32[]{9}] <nil>
}

func ExampleConfig() {
	g := tf.NewGraph()
	y := ops.Square(ops.Scalar[float32](g, 3), tf.OnDevice("/device:GPU:0"))
	s, err := session.New(g, session.With(session.Config{
		SoftPlacement: true, // use the CPU where there is no GPU
		Threads:       1,
		Timeout:       time.Minute,
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, y)
	fmt.Println(out, err)
	// Output: [float32[]{9}] <nil>
}

// Any output may be fed, not only placeholders.
func ExampleFeeds() {
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 3)
	square := x.Square()
	y := square.Add(ops.Scalar[float32](g, 1))
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for _, feeds := range []session.Feeds{nil, {x: tf.Scalar[float32](4)}, {square: tf.Scalar[float32](100)}} {
		out, err := s.Run(context.Background(), feeds, y)
		fmt.Println(out, err)
	}
	// Output:
	// [float32[]{10}] <nil>
	// [float32[]{17}] <nil>
	// [float32[]{101}] <nil>
}

// A feed must have the type and the shape of its output.
func ExampleFeeds_wrongShape() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{2, -1}, tf.Name("x"))
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	_, err = s.Run(context.Background(), session.Feeds{x: tf.Scalar[float32](1)}, x)
	fmt.Println(tf.CodeOf(err))
	// Output: INVALID_ARGUMENT
}

// FetchInto writes to memory that the program uses again in each step.
func ExampleFetchInto() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	y := x.Mul(ops.Const(g, []float32{1, 10}))
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out := make([]float32, 2)
	for _, v := range []float32{1, 2} {
		err := session.FetchInto(context.Background(), s, out, session.Feeds{x: tf.Scalar(v)}, y)
		fmt.Println(out, err)
	}
	// Output:
	// [1 10] <nil>
	// [2 20] <nil>
}

// FetchAs fills a structure: the places of outputs get Go values.
func ExampleFetchAs() {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)
	type fetches struct{ Sum, Rows tf.Output }
	type results struct {
		Sum  float32
		Rows [][]float32
	}
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	r, err := session.FetchAs[results](context.Background(), s, nil, fetches{Sum: x.Sum(), Rows: x.Square()})
	fmt.Println(r.Sum, r.Rows, err)
	// Output: 10 [[1 4] [9 16]] <nil>
}

// A callable is prepared once and may be run from many goroutines.
func ExampleCallable() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	y := ops.Placeholder(g, tf.Float32, tf.Shape{})
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	product, err := s.MakeCallable([]tf.Output{x, y}, x.Mul(y))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 3 {
		out, err := product.Run(context.Background(), tf.Scalar(float32(i)), tf.Scalar[float32](10))
		fmt.Println(out, err)
	}
	// Output:
	// [float32[]{0}] <nil>
	// [float32[]{10}] <nil>
	// [float32[]{20}] <nil>
}

// In a partial run a later feed may depend on an earlier fetch.
func ExamplePartialRun() {
	g := tf.NewGraph()
	a := ops.Placeholder(g, tf.Float32, tf.Shape{})
	b := ops.Placeholder(g, tf.Float32, tf.Shape{})
	first := a.Square()
	second := first.Add(b)
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	p, err := s.PartialRun(ctx, []tf.Output{a, b}, first, second)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	out, err := p.Run(ctx, session.Feeds{a: tf.Scalar[float32](3)}, first)
	if err != nil {
		fmt.Println(err)
		return
	}
	half := tf.Data[float32](out[0])[0] / 2
	out, err = p.Run(ctx, session.Feeds{b: tf.Scalar(half)}, second)
	fmt.Println(out, err)
	// Output: [float32[]{13.5}] <nil>
}

// An interactive session is the graph's default: outputs evaluate themselves.
func ExampleInteractive() {
	g := tf.NewGraph()
	s, err := session.Interactive(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	v := tf.NewVariable(ops.Scalar[float32](g, 2), tf.VariableOptions{Name: "v"})
	if err := v.Initializer().Run(ctx, nil); err != nil {
		fmt.Println(err)
		return
	}
	y, err := v.Value().Square().Eval(ctx, nil)
	fmt.Println(y, err)
	// Output: float32[]{4} <nil>
}

// A step that is traced reports which nodes ran, on which device and when.
func ExampleSession_RunWithOptions() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("x"))
	y := ops.Square(x, tf.Name("y"))
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	o := session.RunOptions{Trace: session.FullTrace}
	out, meta, err := s.RunWithOptions(context.Background(), o, session.Feeds{x: tf.Scalar[float32](3)}, y)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out)
	for _, d := range meta.GetStepStats().GetDevStats() {
		for _, n := range d.GetNodeStats() {
			if n.GetNodeName() == "y" {
				fmt.Println(n.GetNodeName(), "ran on", d.GetDevice())
			}
		}
	}
	// Output:
	// [float32[]{9}]
	// y ran on /job:localhost/replica:0/task:0/device:CPU:0
}

// A step that takes too long is ended by its context, as any call in Go.
func ExampleSession_Run_canceled() {
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 1)
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = s.Run(ctx, nil, x.Square())
	fmt.Println(tf.CodeOf(err))
	// Output: CANCELLED
}

// FeedsOf pairs structures of outputs and values of one form.
func ExampleFeedsOf() {
	g := tf.NewGraph()
	type batch[T any] struct{ X, Y T }
	in := batch[tf.Output]{X: ops.Placeholder(g, tf.Float32, tf.Shape{}), Y: ops.Placeholder(g, tf.Float32, tf.Shape{})}
	feeds, err := session.FeedsOf(in, batch[*tf.Tensor]{X: tf.Scalar[float32](1), Y: tf.Scalar[float32](2)})
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
	out, err := s.Run(context.Background(), feeds, in.X.Sub(in.Y))
	fmt.Println(out, err)
	// Output: [float32[]{-1}] <nil>
}

// Which operations of a step run as one node, and why others do not.
func ExampleCallable_Explain() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1}, tf.Name("x"))
	y := ops.Relu(ops.AddV2(ops.Neg(x, tf.Name("n")), x, tf.Name("a")), tf.Name("r"))
	q := ops.Square(ops.Cumsum(y, ops.Scalar[int32](g, 0), tf.Name("c")), tf.Name("q"))
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	step, err := s.MakeCallable([]tf.Output{x}, q)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := step.Explain(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(text)
	// Output:
	// /job:localhost/replica:0/task:0/device:CPU:0: 8 nodes, 3 of them joined to 1
	// r/fused: 3 nodes, 3 for machine code
	// 	n = Neg
	// 	a = AddV2
	// 	r = Relu
	// not fused: q = Square (c: Cumsum is not elementwise; _retval_q_0_0: _Retval is not elementwise)
	// of other kinds: 1 Const, 1 Cumsum, 1 _Arg, 1 _Retval
}

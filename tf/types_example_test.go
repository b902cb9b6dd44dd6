package tf_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// column returns elements as a matrix of one column: of any type that elements of
// tensors have.
func column[T tf.Elem](g *tf.Graph, elements ...T) tf.Output {
	return ops.Const(g, elements).ExpandDims(1)
}

// A function of one's own takes elements of all types.
func ExampleElem() {
	g := eager.New()
	fmt.Println(column(g, "a", "b").Value())
	fmt.Println(column(g, 1.5, 2).Value())
	// Output:
	// string[2,1]{"a", "b"} <nil>
	// float64[2,1]{1.5, 2} <nil>
}

// powersOf returns v, v² and v³.
func powersOf[N tf.Number](g *tf.Graph, v N) tf.Output {
	x := ops.Scalar(g, v)
	return ops.Stack([]tf.Output{x, x.Mul(x), x.Mul(x).Mul(x)}, 0)
}

// A Number may also be an int, which becomes an int32.
func ExampleNumber() {
	g := eager.New()
	fmt.Println(powersOf(g, 2).Value())
	fmt.Println(powersOf(g, float32(0.5)).Value())
	// Output:
	// int32[3]{2, 4, 8} <nil>
	// float32[3]{0.5, 0.25, 0.125} <nil>
}

// last returns the last of the slices of x along an axis.
func last[I tf.Int](x tf.Output, axis I) tf.Output {
	return ops.Gather(x, ops.Scalar(x.Graph(), 1), axis)
}

// An axis is given as an integer, or computed by the graph.
func ExampleInt() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4}, 2, 2)
	fmt.Println(last(x, 0).Value())
	fmt.Println(last(x, ops.Scalar[int32](g, 1)).Value())
	// Output:
	// int32[2]{3, 4} <nil>
	// int32[2]{2, 4} <nil>
}

// BF16 has the range of a float32, and 8 bits of precision.
func ExampleBF16() {
	g := eager.New()
	x, err := ops.Const(g, []float32{1, 1.001, 3e38}).Cast(tf.BFloat16).Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	var elements []tf.BF16 = tf.Data[tf.BF16](x)
	for _, v := range elements {
		fmt.Println(v.Float32())
	}
	// Output:
	// 1
	// 1
	// 3.0040553e+38
}

// What to do about an error follows from its code.
func ExampleCode() {
	temporary := map[tf.Code]bool{tf.Unavailable: true, tf.Aborted: true}
	for _, err := range []error{tf.Errorf(tf.Unavailable, "the task restarts"), context.DeadlineExceeded, nil} {
		code := tf.CodeOf(err)
		fmt.Println(code, temporary[code])
	}
	// Output:
	// UNAVAILABLE true
	// DEADLINE_EXCEEDED false
	// OK false
}

// celsius is a type of a program's own that can be fed.
type celsius []float32

func (c celsius) AsTensor() (*tf.Tensor, error) { return tf.FromSlice([]float32(c)) }

// A type of one's own is a Value by one method.
func ExampleValue() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	var v tf.Value = celsius{0, 100}
	fmt.Println(s.Run(context.Background(), session.Feeds{x: v}, x.Mul(1.8).Add(32)))
	// Output: [float32[2]{32, 212}] <nil>
}

// Outputs and operations are fetched together: only the former have values.
func ExampleFetchable() {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[int32](g, 5), tf.VariableOptions{Name: "v"})
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	fetches := []tf.Fetchable{v.Initializer(), ops.Scalar[int32](g, 1)}
	fmt.Println(s.Run(context.Background(), nil, fetches...))
	// Output: [<nil> int32[]{1}] <nil>
}

// mean runs a step n times and returns the mean of a scalar.
func mean(ctx context.Context, r tf.StepRunner, n int, x tf.Output) (sum float32, err error) {
	for range n {
		out, err := r.RunStep(ctx, nil, x)
		if err != nil {
			return 0, err
		}
		sum += tf.Data[float32](out[0])[0]
	}
	return sum / float32(n), nil
}

// What takes a StepRunner works with sessions of all kinds.
func ExampleStepRunner() {
	ctx, g := context.Background(), tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "v"})
	next := v.Read(tf.After(v.AssignAdd(ops.Scalar[float32](g, 1))))
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mean(ctx, s, 3, next))
	// Output: 2 <nil>
}

// timed is an Option of a program's own: it notes when an operation is added.
type timed map[string]time.Time

func (t timed) Apply(s *tf.Spec) { t[s.Name] = time.Now() }

// An Option of one's own sees and changes what is about to be added.
func ExampleSpec() {
	g, added := tf.NewGraph(), timed{}
	ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("x"), added)
	for name := range added {
		fmt.Println(name)
	}
	// Output: x
}

// A strict graph panics where the mistake is made, which is handy in tests.
func ExampleGraphOption() {
	var strict tf.GraphOption = tf.Strict()
	g := tf.NewGraph(strict)
	defer func() { fmt.Println(tf.CodeOf(recover().(error))) }()
	ops.Placeholder(g, tf.Float32, tf.Shape{2}).Add(ops.Placeholder(g, tf.Float32, tf.Shape{3}))
	// Output: INVALID_ARGUMENT
}

// Within f the gradient of Sign, which is 0, is that of the identity: a straight
// through estimator.
func ExampleGradFunc() {
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 0.5)
	straight := tf.GradFunc(func(_ *tf.Operation, dy []tf.Output) []tf.Gradient { return tf.Grads(dy[0]) })
	var y tf.Output
	g.GradientOverrideMap(map[string]tf.GradFunc{"Sign": straight}, func() { y = x.Sign() })
	dx, err := tf.Gradients(y.Mul(3), x)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := session.Interactive(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	fmt.Println(dx[0].Eval(context.Background(), nil))
	// Output: float32[]{3} <nil>
}

// x is used twice, so its gradient is a sum; ExperimentalTree adds two at a time and
// needs less memory.
func ExampleAggregation() {
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 2)
	y := x.Mul(x).Add(x)
	for _, how := range []tf.Aggregation{tf.AddN, tf.ExperimentalTree} {
		grads, err := tf.Differentiate(tf.GradientOptions{Ys: []tf.Output{y}, Xs: []tf.Output{x}, Aggregation: how})
		if err != nil {
			fmt.Println(err)
			return
		}
		sum := grads[0].Output()
		fmt.Println(sum.Operation().Inputs())
	}
	// Output:
	// [gradients/grad_ys_0:0 float32[] gradients/Mul_grad/Mul:0 float32[] gradients/Mul_grad/Mul_1:0 float32[]]
	// [gradients_1/Const_gradient_sum/AddN:0 float32[] gradients_1/Mul_grad/Mul_1:0 float32[]]
}

// A loop that a mistake would make endless is bounded; invariants are what its
// variables keep of their shapes.
func ExampleWhileOpts() {
	g := tf.NewGraph()
	x := ops.Const(g, []int32{1})
	out := tf.While([]tf.Output{x},
		func(v []tf.Output) tf.Output { return ops.Scalar(g, true) },
		func(v []tf.Output) []tf.Output { return []tf.Output{ops.Concat(0, []tf.Output{v[0], v[0]})} },
		tf.WhileOpts{MaxIterations: 3, ShapeInvariants: []tf.Shape{{-1}}})
	s, err := session.Interactive(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	v, err := out[0].Eval(context.Background(), nil)
	fmt.Println(out[0].Shape(), v, err)
	// Output: [?] int32[8]{1, 1, 1, 1, 1, 1, 1, 1} <nil>
}

// Operations know the branch or the loop that they are in.
func ExampleControlFlowContext() {
	g := tf.NewGraph()
	show := func(x tf.Output) {
		var c *tf.ControlFlowContext = x.Operation().ControlFlowContext()
		for ; c != nil; c = c.Outer() {
			fmt.Println(c.Name(), c.IsLoop())
		}
	}
	x := ops.Scalar[int32](g, 1)
	tf.While([]tf.Output{x},
		func(v []tf.Output) tf.Output { return v[0].Less(int32(10)) },
		func(v []tf.Output) []tf.Output {
			y := v[0].Add(int32(1))
			show(y)
			return []tf.Output{y}
		})
	show(x)
	// Output: while/while_context true
}

// A MetaGraph is a graph with its collections and tags: variables are found again.
func ExampleMetaGraphOptions() {
	g := tf.NewGraph()
	tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	data, err := g.MarshalMetaGraph(tf.MetaGraphOptions{Collections: []string{tf.GlobalVariables}, Tags: []string{"train"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	other := tf.NewGraph()
	if err := other.ImportMetaGraph(data, tf.ImportOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range other.Collections() {
		fmt.Println(name, other.Collection(name)[0].(*tf.Variable).Name())
	}
	// Output: variables v
}

// Two variables hold the rows of one matrix; checkpoints have it whole.
func ExampleSliceInfo() {
	g := tf.NewGraph()
	for i := range 2 {
		part := tf.NewVariable(ops.Const(g, []float32{0, 0}, 1, 2), tf.VariableOptions{Name: fmt.Sprintf("m/part_%d", i)})
		part.SetSlice(tf.SliceInfo{FullName: "m", FullShape: tf.Shape{2, 2}, Offset: []int{i, 0}, Shape: part.Shape()})
		fmt.Println(part.Name(), part.Slice().FullName, part.Slice().Offset)
	}
	// Output:
	// m/part_0 m [0 0]
	// m/part_1 m [1 0]
}

package session_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// Options add up: each sets something of the session's Config.
func ExampleOption() {
	options := []session.Option{session.Devices("CPU", 2), session.Timeout(time.Hour)}
	options = append(options, func(c *session.Config) { c.Threads = 1 })
	var c session.Config
	for _, set := range options {
		set(&c)
	}
	fmt.Println(c.Devices, c.Timeout, c.Threads)
	s, err := session.New(tf.NewGraph(), options...)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Close())
	// Output:
	// map[CPU:2] 1h0m0s 1
	// <nil>
}

// A session refuses graphs of which it would not see the end.
func ExampleLimits() {
	g := tf.NewGraph()
	y := ops.Scalar[int32](g, 1)
	for range 20 {
		y = y.Add(y)
	}
	s, err := session.New(g, session.With(session.Config{Limits: session.Limits{Nodes: 10}}))
	if err != nil {
		fmt.Println(tf.CodeOf(err))
		return
	}
	defer s.Close()
	_, err = s.Run(context.Background(), nil, y)
	fmt.Println(tf.CodeOf(err))
	// Output: RESOURCE_EXHAUSTED
}

// A traced step reports what it ran, and where.
func ExampleRunMetadata() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("x"))
	y := x.Square(tf.Name("y"))
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for _, level := range []session.TraceLevel{session.NoTrace, session.FullTrace} {
		var report *session.RunMetadata
		_, report, err = s.RunWithOptions(context.Background(), session.RunOptions{Trace: level}, session.Feeds{x: tf.Scalar[float32](2)}, y)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, d := range report.GetStepStats().GetDevStats() {
			fmt.Println(d.Device, len(d.NodeStats) > 0)
		}
	}
	// Output: /job:localhost/replica:0/task:0/device:CPU:0 true
}

// The three tensors of a sparse one are fed and fetched together.
func ExampleSparseTensor() {
	g := tf.NewGraph()
	x := session.SparseTensor{
		Indices:    ops.Placeholder(g, tf.Int64, tf.Shape{-1, 2}),
		Values:     ops.Placeholder(g, tf.Float32, tf.Shape{-1}),
		DenseShape: ops.Placeholder(g, tf.Int64, tf.Shape{2}),
	}
	indices, err := tf.FromSlice([]int64{0, 1, 2, 0}, 2, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	values, err := tf.FromSlice([]float32{5, 7})
	if err != nil {
		fmt.Println(err)
		return
	}
	shape, err := tf.FromSlice([]int64{3, 2})
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
	feeds := session.Feeds{}.AddSparse(x, session.SparseTensorValue{Indices: indices, Values: values, DenseShape: shape})
	x.Values = x.Values.Mul(float32(10))
	v, err := session.FetchAs[session.SparseTensorValue](context.Background(), s, feeds, x)
	fmt.Println(v.Indices, v.Values, v.DenseShape, err)
	// Output: int64[2,2]{0, 1, 2, 0} float32[2]{50, 70} int64[2]{3, 2} <nil>
}

// The gradient of rows that were gathered is fetched as the rows and where they
// belong.
func ExampleIndexedSlicesValue() {
	g := tf.NewGraph()
	table := ops.Const(g, make([]float32, 6), 3, 2)
	loss := ops.Gather(table, ops.Const(g, []int32{2, 0}), 0).Sum()
	grads, err := tf.Differentiate(tf.GradientOptions{Ys: []tf.Output{loss}, Xs: []tf.Output{table}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, ok := grads[0].IndexedSlices()
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	v, err := session.FetchAs[session.IndexedSlicesValue](context.Background(), s, nil, rows)
	fmt.Println(ok, v.Indices, v.Values, err)
	// Output: true int32[2]{2, 0} float32[2,2]{1, 1, 1, 1} <nil>
}

package data_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	_ "github.com/gorge-tf/gorge/tf/ops/data"
	"github.com/gorge-tf/gorge/tf/session"
)

// A pipeline within a graph, as tf.data makes it: range(n), squares, batches of 3,
// and an iterator that each run of start puts at the beginning, for another n.
func Example() {
	g := tf.NewGraph()
	numbers := func(x int64) tf.Output { return ops.Scalar(g, x) }
	types := tf.Attr("output_types", []tf.DType{tf.Int64})
	scalars, rows := tf.Attr("output_shapes", []tf.Shape{{}}), tf.Attr("output_shapes", []tf.Shape{{-1}})

	n := ops.Placeholder(g, tf.Int64, tf.Shape{})
	square := tf.NewFunction(g, "square", []tf.ArgSpec{{DType: tf.Int64, Shape: tf.Shape{}}}, func(x []tf.Output) []tf.Output {
		return []tf.Output{x[0].Square()}
	})
	d := tf.Apply(g, "RangeDataset", []tf.Output{numbers(0), n, numbers(1)}, types, scalars).Output(0)
	d = tf.Apply(g, "MapDataset", []tf.Output{d}, types, scalars, tf.Attr("f", square), tf.Attr("Targuments", []tf.DType{})).Output(0)
	d = tf.Apply(g, "BatchDatasetV2", []tf.Output{d, numbers(3), ops.Constant(g, false)}, types, rows).Output(0)
	it := tf.Apply(g, "IteratorV2", nil, types, rows, tf.Attr("shared_name", ""), tf.Attr("container", "")).Output(0)
	start := tf.Apply(g, "MakeIterator", []tf.Output{d, it})
	next := tf.Apply(g, "IteratorGetNext", []tf.Output{it}, types, rows).Output(0)

	ctx := context.Background()
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for _, size := range []int64{5, 2} {
		_, err := s.Run(ctx, session.Feeds{n: tf.Scalar(size)}, start)
		for err == nil {
			var batch []*tf.Tensor
			if batch, err = s.Run(ctx, nil, next); err == nil {
				fmt.Println(batch[0])
			}
		}
		fmt.Println(tf.CodeOf(err))
	}
	// Output:
	// int64[3]{0, 1, 4}
	// int64[2]{9, 16}
	// OUT_OF_RANGE
	// int64[2]{0, 1}
	// OUT_OF_RANGE
}

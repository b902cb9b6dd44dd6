package queue_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
)

// Queues hold tuples. Several elements come out as the rows of tensors.
func ExampleQueue() {
	g := eager.New()
	types := []tf.DType{tf.String, tf.Int32}
	var q *queue.Queue = queue.NewFIFO(g, types, queue.Opts{Shapes: []tf.Shape{{}, {}}})
	put := q.EnqueueMany([]tf.Output{ops.Const(g, []string{"a", "b", "c"}), ops.Const(g, []int32{1, 2, 3})})
	if err := put.Err(); err != nil {
		fmt.Println(err)
		return
	}
	for _, y := range append(q.DequeueMany(ops.Scalar[int32](g, 2)), q.Size()) {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[2]{"a", "b"} <nil>
	// int32[2]{1, 2} <nil>
	// int32[]{1} <nil>
}

// A padding queue makes batches of what differs in size: that of the first
// dimension is open.
func ExampleOpts() {
	g := eager.New()
	q := queue.NewPaddingFIFO(g, []tf.DType{tf.Int32}, queue.Opts{Capacity: 10, Shapes: []tf.Shape{{-1}}})
	for _, x := range [][]int32{{1}, {2, 3, 4}} {
		if err := q.Enqueue([]tf.Output{ops.Const(g, x)}).Err(); err != nil {
			fmt.Println(err)
			return
		}
	}
	v, err := q.DequeueMany(ops.Scalar[int32](g, 2))[0].Value()
	fmt.Println(v, err)
	// Output: int32[2,3]{1, 0, 0, 2, 3, 4} <nil>
}

// A closed queue lets nothing in. What it has comes out, then OUT_OF_RANGE.
func ExampleQueueCloseV2() {
	g := eager.New()
	types := []tf.DType{tf.Int32}
	q := queue.FIFOQueueV2(g, types)
	fmt.Println(queue.QueueEnqueueV2(q, []tf.Output{ops.Scalar[int32](g, 7)}).Err())
	fmt.Println(queue.QueueCloseV2(q, queue.CloseOpts{CancelPendingEnqueues: true}).Err())
	fmt.Println(tf.CodeOf(queue.QueueEnqueueV2(q, []tf.Output{ops.Scalar[int32](g, 8)}).Err()))
	for range 2 {
		v, err := queue.QueueDequeueV2(q, types)[0].Value()
		fmt.Println(v, tf.CodeOf(err))
	}
	// Output:
	// <nil>
	// <nil>
	// CANCELLED
	// int32[]{7} OK
	// <nil> OUT_OF_RANGE
}

// An accumulator gives out the mean of gradients, or their sum.
func ExampleAccumulatorOpts() {
	for _, sum := range []bool{false, true} {
		g := eager.New()
		a := queue.ResourceConditionalAccumulator(g, tf.Float32, tf.Shape{2}, queue.AccumulatorOpts{Sum: sum})
		for _, gradient := range [][]float32{{1, 2}, {3, 6}} {
			if err := queue.AccumulatorApplyGradient(a, ops.Scalar[int64](g, 0), ops.Const(g, gradient)).Err(); err != nil {
				fmt.Println(err)
				return
			}
		}
		v, err := queue.AccumulatorTakeGradient(a, ops.Scalar[int32](g, 2), tf.Float32).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[2]{2, 4} <nil>
	// float32[2]{4, 8} <nil>
}

package stage_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/stage"
	"github.com/gorge-tf/gorge/tf/session"
)

// A barrier collects tuples whose components come one after the other. When it
// is closed and what is pending dropped, small batches are allowed.
func ExampleBarrier() {
	g := tf.NewGraph()
	types := []tf.DType{tf.Int32, tf.Int32}
	b := stage.Barrier(g, types, []tf.Shape{{}, {}}, stage.BarrierOpts{SharedName: "pairs"})
	first := stage.BarrierInsertMany(b, ops.Const(g, []string{"x", "y"}), ops.Const(g, []int32{1, 2}), 0)
	second := stage.BarrierInsertMany(b, ops.Const(g, []string{"x"}), ops.Const(g, []int32{10}), 1, tf.After(first))
	closed := stage.BarrierClose(b, stage.CancelPendingEnqueues(true), tf.After(second))
	_, keys, values := stage.BarrierTakeMany(b, ops.Scalar[int32](g, 5), types, stage.TakeOpts{AllowSmallBatch: true}, tf.After(closed))
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, keys, values[0], values[1])
	fmt.Println(out, err)
	// Output: [string[1]{"x"} int32[1]{1} int32[1]{10}] <nil>
}

// An ordered map gives out the tuple of the lowest key.
func ExampleKind() {
	g := eager.New()
	types, both := []tf.DType{tf.Int32, tf.String}, ops.Const(g, []int32{0, 1})
	o := stage.Opts{SharedName: "jobs"}
	var kind stage.Kind = stage.Ordered
	for i, name := range []string{"b", "a"} {
		key := ops.Scalar(g, int64(2-i))
		op := stage.MapStage(kind, key, both, []tf.Output{ops.Scalar(g, int32(i)), ops.Scalar(g, name)}, types, o)
		if err := op.Err(); err != nil {
			fmt.Println(err)
			return
		}
	}
	key, values := stage.MapUnstageNoKey(kind, both, types, o)
	for _, y := range append(values, key) {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[]{1} <nil>
	// string[]{"a"} <nil>
	// int64[]{1} <nil>
}

// A mutex is held from MutexLock until its result is consumed.
func ExampleMutexLock() {
	g := eager.New()
	lock := stage.MutexLock(stage.MutexV2(g, stage.MutexOpts{SharedName: "m"}))
	// What is added here runs alone.
	fmt.Println(stage.ConsumeMutexLock(lock).Err())
	// Output: <nil>
}

// Steps leave tuples for each other in a staging area, which nodes of one
// shared name have in common.
func ExampleStage() {
	g := eager.New()
	types, o := []tf.DType{tf.Int32}, stage.Opts{Capacity: 2, SharedName: "batches"}
	for _, x := range []int32{1, 2} {
		if err := stage.Stage([]tf.Output{ops.Scalar(g, x)}, o).Err(); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, y := range []tf.Output{stage.StageSize(g, types, o), stage.Unstage(g, types, o)[0]} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[]{2} <nil>
	// int32[]{1} <nil>
}

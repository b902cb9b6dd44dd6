package ragged_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/ragged"
)

// Strings of one segment are joined.
func ExampleUnsortedSegmentJoin() {
	g := eager.New()
	x, ids := ops.Const(g, []string{"a", "b", "c"}), ops.Const(g, []int32{1, 0, 1})
	v, err := ragged.UnsortedSegmentJoin(x, ids, ops.Scalar[int32](g, 2), ragged.SegmentJoinOpts{Separator: "+"}).Value()
	fmt.Println(v, err)
	// Output: string[2]{"b", "a+c"} <nil>
}

// A row of numbers for each limit: [0 1] and [0 1 2]. Splits says where rows
// begin.
func ExampleRaggedRange() {
	g := eager.New()
	start, limits, delta := ops.Scalar[int32](g, 0), ops.Const(g, []int32{2, 3}), ops.Scalar[int32](g, 1)
	splits, values := ragged.RaggedRange(start, limits, delta, ragged.SplitsOpts{Type: tf.Int32})
	for _, y := range []tf.Output{splits, values} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[3]{0, 2, 5} <nil>
	// int32[5]{0, 1, 0, 1, 2} <nil>
}

// Rows that differ in length become those of a dense tensor.
func ExampleRaggedTensorToTensor() {
	g := eager.New()
	values, splits := ops.Const(g, []int32{1, 2, 3}), ops.Const(g, []int64{0, 1, 3}) // [1] and [2 3]
	asNeeded, rest := ops.Scalar[int64](g, -1), ops.Scalar[int32](g, 0)
	v, err := ragged.RaggedTensorToTensor(asNeeded, values, rest, []tf.Output{splits}, []string{ragged.RowSplits}).Value()
	fmt.Println(v, err)
	// Output: int32[2,2]{1, 0, 2, 3} <nil>
}

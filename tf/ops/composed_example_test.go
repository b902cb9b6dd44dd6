package ops_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Moments are what layers normalize by.
func ExampleMoments() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 6}, 2, 2)
	mean, variance := ops.Moments(x, []int{0}, false)
	m, err := mean.Value()
	fmt.Println(m, err)
	v, err := variance.Value()
	fmt.Println(v, err)
	// Output:
	// float32[2]{2, 4} <nil>
	// float32[2]{1, 4} <nil>
}

func ExampleSort() {
	g := eager.New()
	v, err := ops.Sort(ops.Const(g, []int32{3, 1, 2}), -1, true).Value()
	fmt.Println(v, err)
	// Output: int32[3]{3, 2, 1} <nil>
}

// BooleanMask keeps the rows for which the mask is true.
func ExampleBooleanMask() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, 3, 2)
	v, err := ops.BooleanMask(x, ops.Const(g, []bool{true, false, true}), 0).Value()
	fmt.Println(v, err)
	// Output: float32[2,2]{1, 2, 5, 6} <nil>
}

// SequenceMask is for batches of sequences that were padded to one length.
func ExampleSequenceMask() {
	g := eager.New()
	v, err := ops.SequenceMask(ops.Const(g, []int32{1, 3, 2}), 3, tf.Int32).Value()
	fmt.Println(v, err)
	// Output: int32[3,3]{1, 0, 0, 1, 1, 1, 1, 1, 0} <nil>
}

// A table may be in several parts, each on a device of its own.
func ExampleEmbeddingLookup() {
	g := eager.New()
	even, odd := ops.Const(g, []float32{0, 2, 4}, 3, 1), ops.Const(g, []float32{1, 3}, 2, 1)
	ids := ops.Const(g, []int64{3, 0, 4})
	v, err := ops.EmbeddingLookup([]tf.Output{even, odd}, ids).Value()
	fmt.Println(v, err)
	low, high := ops.Const(g, []float32{0, 1, 2}, 3, 1), ops.Const(g, []float32{3, 4}, 2, 1)
	v, err = ops.EmbeddingLookup([]tf.Output{low, high}, ids, ops.EmbeddingOpts{Div: true}).Value()
	fmt.Println(v, err)
	// Output:
	// float32[3,1]{3, 0, 4} <nil>
	// float32[3,1]{3, 0, 4} <nil>
}

// What relies on an assertion runs after it.
func ExampleAssertPositive() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	var y tf.Output
	g.ControlDependencies([]*tf.Operation{ops.AssertPositive(x)}, func() { y = x.Log() })
	fmt.Println(y.Shape(), g.Err())
	// Output: [?] <nil>
}

// Labels come first, as in all losses.
func ExampleSigmoidCrossEntropyWithLogits() {
	g := eager.New()
	labels, logits := ops.Const(g, []float32{1, 0}), ops.Const(g, []float32{0, 0})
	v, err := ops.SigmoidCrossEntropyWithLogits(labels, logits).Value()
	fmt.Printf("%.3f %v\n", tf.Data[float32](v), err)
	// Output: [0.693 0.693] <nil>
}

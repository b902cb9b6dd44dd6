package ragged_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/ragged"
)

// TestGatherWithoutElements: indices without elements may ask for more splits than
// there is memory for.
func TestGatherWithoutElements(t *testing.T) {
	g := eager.New()
	indices := ops.Const(g, []int64{}, 1<<40, 0)
	_, values := ragged.RaggedGather([]tf.Output{ops.Const(g, []int64{0, 2})}, ops.Const(g, []float32{1, 2}), indices, 2)
	if _, err := values.Value(); tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("%v, want RESOURCE_EXHAUSTED", err)
	}
}

// TestSparseWithoutElements: 2^40 rows of no elements take no time.
func TestSparseWithoutElements(t *testing.T) {
	g := eager.New()
	at, _, _ := ragged.RaggedTensorToSparse([]tf.Output{ops.Const(g, []int64{0, 1})}, ops.Const(g, []float32{}, 1, 1<<40, 0))
	v, err := at.Value()
	if err != nil || !v.Shape().Equal(tf.Shape{0, 4}) {
		t.Errorf("%v, %v", v, err)
	}
}

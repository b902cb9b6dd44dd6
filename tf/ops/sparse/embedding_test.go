package sparse_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// TestAllIDs: where no id is negative, to say so changes nothing, rows without ids and
// tables of more dimensions included; a negative one fails then.
func TestAllIDs(t *testing.T) {
	look := func(rows tf.Shape, all bool, ids ...int64) ([]float32, error) {
		g := eager.New()
		values := make([]float32, rows.NumElements())
		for i := range values {
			values[i] = float32(i*i%7) / 3
		}
		x := sparse.Tensor{Indices: ops.Const(g, []int64{0, 0, 0, 1, 2, 0}, 3, 2), Values: ops.Const(g, ids), DenseShape: ops.Const(g, []int64{4, 2})}
		v, err := sparse.SafeEmbeddingLookupSparse([]tf.Output{ops.Const(g, values, rows...)}, x, sparse.EmbeddingOpts{AllIDs: all}).Value()
		if err != nil {
			return nil, err
		}
		return tf.Data[float32](v), nil
	}
	for _, rows := range []tf.Shape{{5, 3}, {5, 2, 2}} {
		want, err := look(rows, false, 1, 4, 2)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := look(rows, true, 1, 4, 2); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: got %v, %v, want %v", rows, got, err, want)
		}
	}
	if _, err := look(tf.Shape{5, 3}, false, 1, -1, 2); err != nil {
		t.Errorf("a negative id: %v", err)
	}
	if _, err := look(tf.Shape{5, 3}, true, 1, -1, 2); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("a negative id that cannot be: %v", err)
	}
}

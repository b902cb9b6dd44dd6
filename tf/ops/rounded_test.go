package ops_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestHalvesBetweenOperations: differences and quotients of 16-bit floats are rounded before they are
// squared or cut, as TensorFlow's are.
func TestHalvesBetweenOperations(t *testing.T) {
	type binary = func(x, y tf.Output, opts ...tf.Option) tf.Output
	for _, c := range []struct {
		name string
		op   binary
		d    tf.DType
		x, y []float32
		want []float32
	}{
		{"FloorDiv", ops.FloorDiv, tf.Float16, []float32{-1, 1}, []float32{0.3333, 0.3333}, []float32{-3, 3}},
		{"FloorDiv", ops.FloorDiv, tf.BFloat16, []float32{-1, 1}, []float32{0.3333, 0.3333}, []float32{-3, 3}},
		{"TruncateDiv", ops.TruncateDiv, tf.BFloat16, []float32{-1, 1}, []float32{0.3333, 0.3333}, []float32{-3, 3}},
		{"SquaredDifference", ops.SquaredDifference, tf.Float16, []float32{1, 1}, []float32{-0.9, 1. / 3}, []float32{3.6113281, 0.44482422}},
		{"SquaredDifference", ops.SquaredDifference, tf.BFloat16, []float32{1, 1}, []float32{-700, 1. / 3}, []float32{489472, 0.44140625}},
	} {
		g := eager.New()
		v, err := c.op(ops.Const(g, c.x).Cast(c.d), ops.Const(g, c.y).Cast(c.d)).Cast(tf.Float32).Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := tf.Data[float32](v); !slices.Equal(got, c.want) {
			t.Errorf("%s of %v: %v, want %v", c.name, c.d, got, c.want)
		}
	}
}

package ops_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestTruncatingCasts: what is no number stays so, and float64 is rounded to bfloat16.
func TestTruncatingCasts(t *testing.T) {
	g := eager.New()
	nan32, nan64 := math.Float32frombits(0x7f800001), math.Float64frombits(0x7ff0000000000001)
	for _, c := range []struct {
		x    tf.Output
		to   tf.DType
		want float32
	}{
		{ops.Scalar(g, nan32), tf.BFloat16, float32(math.NaN())},
		{ops.Scalar(g, nan32), tf.Float16, float32(math.NaN())},
		{ops.Scalar(g, nan64), tf.Float32, float32(math.NaN())},
		{ops.Scalar(g, float32(87.33)), tf.BFloat16, 87},
		{ops.Scalar(g, 87.33), tf.BFloat16, 87.5},
		{ops.Scalar(g, math.Inf(1)), tf.Float32, float32(math.Inf(1))},
	} {
		v, err := ops.Cast(c.x, c.to, ops.CastOpts{Truncate: true}).Cast(tf.Float32).Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := tf.Data[float32](v)[0]; got != c.want && (got == got || c.want == c.want) {
			t.Errorf("%v to %v: %v, want %v", c.x.DType(), c.to, got, c.want)
		}
	}
}

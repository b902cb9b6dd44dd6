package quantize_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
)

// TestUnusualGradients: an infinite gradient makes that of each bound infinite or
// NaN. In a range that is turned around a value counts for both bounds if it is
// below the one and above the other. Both as in TensorFlow 2.21.
func TestUnusualGradients(t *testing.T) {
	g := eager.New()
	vec := func(v ...float32) tf.Output { return ops.Const(g, v, len(v)) }
	inf := float32(math.Inf(1))
	for name, c := range map[string]struct {
		dy, x    tf.Output
		lo, hi   float32
		min, max string
	}{
		"infinite inside": {vec(1, inf), vec(0.5, 0), -1, 2, "NaN", "NaN"},
		"infinite below":  {vec(1, inf), vec(0.5, -9), -1, 2, "+Inf", "NaN"},
		"turned around":   {vec(1, 2), vec(0, 5), 65504, 2, "3", "2"},
	} {
		_, lo, hi := quantize.FakeQuantWithMinMaxVarsGradient(c.dy, c.x, ops.Scalar(g, c.lo), ops.Scalar(g, c.hi), quantize.FakeQuantOpts{NumBits: 2})
		for of, want := range map[tf.Output]string{lo: c.min, hi: c.max} {
			v, err := of.Value()
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if got := fmt.Sprint(tf.Data[float32](v)[0]); got != want {
				t.Errorf("%s: got %s, want %s", name, got, want)
			}
		}
	}
}

// TestUnusualRange: a bound that is NaN makes no range.
func TestUnusualRange(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2}, 2)
	out := quantize.QuantizeAndDequantizeV3(x, ops.Scalar(g, float32(math.NaN())), ops.Scalar(g, float32(2)), ops.Scalar(g, int32(8)))
	if _, err := out.Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, want INVALID_ARGUMENT", err)
	}
}

package quantize_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestNothingIsRepeated: of operands without elements only equal ones and single
// numbers go together, as in TensorFlow 2.21.
func TestNothingIsRepeated(t *testing.T) {
	g := eager.New()
	quantized := func(s tf.Shape) tf.Output { return ops.ConstValue(g, core.NewTensor(tf.QUint8, s)) }
	lo, hi := ops.Scalar[float32](g, 0), ops.Scalar[float32](g, 1)
	for op, text := range map[string]string{"QuantizedAdd": "Must have some elements to add", "QuantizedMul": "vector must have at least 1 element"} {
		for _, c := range []struct {
			x, y    tf.Shape
			refused bool
		}{
			{tf.Shape{0, 5}, tf.Shape{5}, true}, {tf.Shape{5}, tf.Shape{0, 5}, true}, {tf.Shape{0}, tf.Shape{0, 1}, true},
			{tf.Shape{0, 5}, tf.Shape{0, 5}, false}, {tf.Shape{0}, tf.Shape{}, false}, {tf.Shape{}, tf.Shape{0}, false},
		} {
			_, err := tf.Apply(g, op, []tf.Output{quantized(c.x), quantized(c.y), lo, hi, lo, hi}).Output(0).Value()
			if c.refused != (err != nil) || err != nil && !strings.Contains(err.Error(), text) {
				t.Errorf("%s of %v and %v: %v", op, c.x, c.y, err)
			}
		}
	}
}

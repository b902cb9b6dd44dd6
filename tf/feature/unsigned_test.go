package feature_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestUnsignedIDs: ids may be of any integer type.
func TestUnsignedIDs(t *testing.T) {
	for _, d := range []tf.DType{tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64} {
		for name, c := range map[string]feature.Categorical{"identity": feature.Identity("x", 3), "vocabulary": feature.Vocabulary[int64]("x", 0, 1, 2)} {
			g := eager.New()
			x := ops.Const(g, []int32{2, 0}, 2, 1).Cast(d)
			y, err := feature.InputLayer(feature.Features{"x": x}, feature.Indicator(c)).Value()
			if err != nil {
				t.Errorf("%s of %v: %v", name, d, err)
				continue
			}
			want := []float32{0, 0, 1, 1, 0, 0}
			for i, v := range tf.Data[float32](y) {
				if v != want[i] {
					t.Errorf("%s of %v: got %v", name, d, y)
					break
				}
			}
		}
	}
}

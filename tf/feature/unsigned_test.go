package feature_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
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

// TestWeightOfEachID: weights that are fewer than ids are refused, also a single one. Zeros
// of a dense feature are no weights, as in TensorFlow.
func TestWeightOfEachID(t *testing.T) {
	for _, c := range []struct{ weights, want []float32 }{{[]float32{2, 0.5}, []float32{0, 0, 2, 0.5, 0, 0}}, {[]float32{0, 0.5}, nil}} {
		g := tf.NewGraph()
		f := feature.Features{"x": ops.Const(g, []int64{2, 0}, 2, 1), "w": ops.Const(g, c.weights, 2, 1)}
		y := feature.InputLayer(f, feature.Indicator(feature.Weighted(feature.Identity("x", 3), "w")))
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		got, err := session.Fetch[float32](t.Context(), s, nil, y)
		if !slices.Equal(got, c.want) || (err != nil) != (c.want == nil) || err != nil && tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("weights %v give %v (%v), want %v", c.weights, got, err, c.want)
		}
		s.Close()
	}
}

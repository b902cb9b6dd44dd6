package ops_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestGradientsOfGivenMaxima: the gradient of a maximum's gradient is taken where the images have the
// maximum that is given, whatever their own is: TensorFlow's values.
func TestGradientsOfGivenMaxima(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct{ last, given, want float32 }{{3, 5, 20}, {3, 3, 30}, {3, 4, 0}, {3, 1, 10}, {3, nan, 0}, {nan, 5, 20}, {nan, nan, 0}} {
		for op, one := range map[string][]int{"MaxPoolGradGrad": nil, "MaxPool3DGradGrad": {1}} {
			g := tf.NewGraph()
			of := func(v []float32, s ...int) tf.Output { return ops.Const(g, v, slices.Concat(one, s)...) }
			window := slices.Concat(one, []int{1, 2, 2, 1})
			y := tf.Apply(nil, op, []tf.Output{of([]float32{1, 5, c.last, 5}, 1, 2, 2, 1), of([]float32{c.given}, 1, 1, 1, 1), of([]float32{10, 20, 30, 40}, 1, 2, 2, 1)},
				tf.Attr("ksize", window), tf.Attr("strides", window), tf.Attr("padding", "VALID")).Output(0)
			s, err := session.New(g)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			out, err := s.Run(t.Context(), nil, y)
			if err != nil {
				t.Fatal(err)
			}
			if got := tf.Data[float32](out[0])[0]; got != c.want {
				t.Errorf("%s of a maximum that is said to be %v: %v, want %v", op, c.given, got, c.want)
			}
		}
	}
}

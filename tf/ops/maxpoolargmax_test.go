package ops_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestMaximumIsWhereItIsSaidToBe: with NaNs among the elements of a window, too, each maximum
// is the element at the position that belongs to it. Both as in TensorFlow 2.21.
func TestMaximumIsWhereItIsSaidToBe(t *testing.T) {
	g, nan, two := eager.New(), float32(math.NaN()), []int{1, 2, 2, 1}
	for _, c := range []struct {
		x    []float32
		want string
	}{{[]float32{nan, 1, 2, 3}, "[NaN] [0]"}, {[]float32{1, nan, 3, 2}, "[3] [2]"}, {[]float32{1, 2, 3, nan}, "[3] [2]"}} {
		y := tf.Apply(g, "MaxPoolWithArgmax", []tf.Output{ops.Const(g, c.x, 1, 2, 2, 1)}, tf.Attr("ksize", two), tf.Attr("strides", two), tf.Attr("padding", "VALID"))
		most, err := y.Output(0).Value()
		if err != nil {
			t.Fatal(err)
		}
		at, err := y.Output(1).Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(tf.Data[float32](most), tf.Data[int64](at)); got != c.want {
			t.Errorf("%v: got %s, want %s", c.x, got, c.want)
		}
	}
}

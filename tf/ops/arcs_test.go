package ops_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestArcsOfDoubles: results have all digits of TensorFlow's where x is near 1, and y's sign.
func TestArcsOfDoubles(t *testing.T) {
	g := eager.New()
	x, y, far := ops.Scalar(g, 0.99999994), ops.Scalar(g, -1e-45), ops.Scalar(g, -1.7e308)
	for name, c := range map[string]struct {
		got  tf.Output
		want float64
	}{
		"Asin": {ops.Asin(x), 1.570449916631742}, "Acos": {ops.Acos(x), 0.0003464101631546588}, "Atan2": {ops.Atan2(y, far), -math.Pi},
	} {
		v, err := c.got.Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := tf.Data[float64](v)[0]; math.Abs(got-c.want) > 1e-15*math.Abs(c.want) {
			t.Errorf("%s is %v, want %v", name, got, c.want)
		}
	}
}

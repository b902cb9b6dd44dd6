package special_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/special"
)

// TestSubnormal: functions that go on as the logarithm or a power do so for the least
// numbers, too.
func TestSubnormal(t *testing.T) {
	g := eager.New()
	x, a := ops.Scalar(g, 1e-310), ops.Scalar(g, 0.01)
	for name, c := range map[string]struct {
		y    tf.Output
		want float64
	}{
		"BesselK0": {special.BesselK0(x), 713.9173103438125},
		"Expint":   {special.Expint(x), -713.2241631632527},
		"Igamma":   {special.Igamma(a, x), 0.0007988610914343964},
		"Betainc":  {special.Betainc(a, ops.Scalar(g, 1.0), x), 0.0007943282347242822},
	} {
		v, err := c.y.Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := tf.Data[float64](v)[0]; math.Abs(got/c.want-1) > 1e-9 {
			t.Errorf("%s: want %v, got %v", name, c.want, got)
		}
	}
}

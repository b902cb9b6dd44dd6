package special_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/special"
)

// TestBetaincOfScalars: the result of three scalars is a scalar.
func TestBetaincOfScalars(t *testing.T) {
	g := eager.New()
	v, err := special.Betainc(ops.Scalar(g, 1.0), ops.Scalar(g, 1.0), ops.Scalar(g, 0.25)).Value()
	if err != nil || v.Rank() != 0 || math.Abs(tf.Data[float64](v)[0]-0.25) > 1e-12 {
		t.Errorf("got %v, %v, want 0.25", v, err)
	}
}

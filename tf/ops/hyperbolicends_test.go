package ops_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestHyperbolicEnds: results may be finite where e^x is not.
func TestHyperbolicEnds(t *testing.T) {
	g := eager.New()
	in := []float64{709.5, 710, -710, 710.4, 711, -711}
	x := ops.Const(g, in)
	for i, f := range []func(x tf.Output, opts ...tf.Option) tf.Output{ops.Sinh, ops.Cosh} {
		v, err := f(x).Value()
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range []float64{6.774931596573164e+307, 1.1169973830808557e+308, -1.1169973830808557e+308, 1.6663642832806496e+308, math.Inf(1), math.Inf(-1)} {
			if i == 1 {
				want = math.Abs(want)
			}
			if got := tf.Data[float64](v)[k]; !nearly(got, want) {
				t.Errorf("function %d of %v: got %v, want %v", i, in[k], got, want)
			}
		}
	}
}

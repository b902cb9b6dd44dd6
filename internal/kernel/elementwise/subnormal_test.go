package elementwise

import (
	"math"
	"testing"
)

// TestSubnormal: logarithms and powers of the least numbers are those of C.
func TestSubnormal(t *testing.T) {
	x := []float64{5e-324, 1e-310, 2e-308}
	logs, roots, inverse := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	Log(logs, x)
	Pow(roots, x, []float64{1. / 3, 1. / 3, 1. / 3})
	Pow(inverse, x, []float64{-0.75, -0.75, -1.25})
	for _, c := range []struct {
		what      string
		got, want []float64
	}{
		{"logarithm", logs, []float64{-744.4400719213812, -713.8013788281542, -708.5030614616061}},
		{"root", roots, []float64{1.7031839360032837e-108, 4.6415888336128355e-104, 2.7144176165949423e-103}},
		{"inverse", inverse, []float64{3.0175988624250344e+242, 3.1622776601683864e+232, math.Inf(1)}},
	} {
		for i, y := range c.got {
			if y != c.want[i] && math.Abs(y/c.want[i]-1) > 1e-12 {
				t.Errorf("%s of %v: want %v, got %v", c.what, x[i], c.want[i], y)
			}
		}
	}
}

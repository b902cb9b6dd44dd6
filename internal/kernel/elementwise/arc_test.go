package elementwise

import (
	"math"
	"testing"
)

// TestArcs: values of the C library, which TensorFlow calls, and its signs.
func TestArcs(t *testing.T) {
	zero, negZero, inf, nan := 0.0, math.Copysign(0, -1), math.Inf(1), math.NaN()
	for _, c := range []struct{ x, sine, cosine float64 }{
		{0.99999994, 1.570449916631742, 0.0003464101631546588},
		{-0.99999994, -1.570449916631742, 3.1412462434266386},
		{1 - 1e-15, 1.570796282091413, 4.4703483581542975e-08},
		{0.7, 0.775397496610753, 0.7953988301841436},
		{5e-324, 5e-324, math.Pi / 2}, {zero, zero, math.Pi / 2}, {negZero, negZero, math.Pi / 2},
		{1, math.Pi / 2, 0}, {-1, -math.Pi / 2, math.Pi}, {1.5, nan, nan}, {-inf, nan, nan}, {nan, nan, nan},
	} {
		checkArc(t, "arc sine", c.x, AsinOf(c.x), c.sine)
		checkArc(t, "arc cosine", c.x, AcosOf(c.x), c.cosine)
	}
	for _, c := range []struct{ y, x, want float64 }{
		{-1e-45, -1.7e308, -math.Pi}, {1e-45, -1.7e308, math.Pi}, {negZero, -1, -math.Pi}, {zero, -1, math.Pi}, {-1, inf, negZero}, {-1, nan, nan}, {nan, 1, nan},
	} {
		checkArc(t, "angle", c.y, Atan2Of(c.y, c.x), c.want)
	}
}

func checkArc(t *testing.T, what string, x, got, want float64) {
	t.Helper()
	if near := math.Abs(got-want) <= 1e-15*math.Abs(want); !near && (got == got || want == want) || want == want && math.Signbit(got) != math.Signbit(want) {
		t.Errorf("%s of %v is %v, want %v", what, x, got, want)
	}
}

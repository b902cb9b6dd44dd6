package ops_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestLgammaOfInfinities: both give +Inf, as in C.
func TestLgammaOfInfinities(t *testing.T) {
	g := eager.New()
	v, err := ops.Lgamma(ops.Const(g, []float64{math.Inf(-1), math.Inf(1)})).Value()
	if err != nil {
		t.Fatal(err)
	}
	if got := tf.Data[float64](v); !math.IsInf(got[0], 1) || !math.IsInf(got[1], 1) {
		t.Errorf("got %v", got)
	}
}

// TestNextAfterItself: of two zeros it is the second one.
func TestNextAfterItself(t *testing.T) {
	g, negZero := eager.New(), math.Copysign(0, -1)
	v, err := ops.NextAfter(ops.Const(g, []float64{0, negZero}), ops.Const(g, []float64{negZero, 0})).Value()
	if err != nil {
		t.Fatal(err)
	}
	if got := tf.Data[float64](v); !math.Signbit(got[0]) || math.Signbit(got[1]) {
		t.Errorf("got %v", got)
	}
}

// nearly reports whether two numbers are equal but for the last digits.
func nearly(x, y float64) bool { return x == y || math.Abs(x-y) <= 1e-11*math.Abs(y) }

// TestZetaOfLargeOrders: sums that are small are as exact as others. The numbers are those of
// TensorFlow.
func TestZetaOfLargeOrders(t *testing.T) {
	g, inf := eager.New(), math.Inf(1)
	for _, c := range []struct {
		name string
		f    func(x, y tf.Output, opts ...tf.Option) tf.Output
		x, y float64
		want float64
	}{
		{"Zeta", ops.Zeta, 20, 10, 1.1816047758251682e-20}, {"Zeta", ops.Zeta, 100, 10, 1.0000725777946107e-100}, {"Zeta", ops.Zeta, 200, 20, 6.223375176830756e-261},
		{"Zeta", ops.Zeta, 30.25, 10, 5.962983798739572e-31}, {"Zeta", ops.Zeta, 3, 0.001, 1000000001.198874},
		{"Polygamma", ops.Polygamma, 100, 10, -9.333237300479427e+56}, {"Polygamma", ops.Polygamma, 20, 10, -0.002827133564927982},
		{"Zeta", ops.Zeta, inf, 2, 0}, {"Zeta", ops.Zeta, inf, 1, 1}, {"Zeta", ops.Zeta, inf, 0.5, inf}, {"Zeta", ops.Zeta, inf, -3, inf}, {"Zeta", ops.Zeta, inf, -2.5, inf}, {"Zeta", ops.Zeta, 2, inf, 0},
		{"Polygamma", ops.Polygamma, inf, 0, inf},
	} {
		v, err := c.f(ops.Constant(g, c.x), ops.Constant(g, c.y)).Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := tf.Data[float64](v)[0]; !nearly(got, c.want) {
			t.Errorf("%s(%v, %v) = %v, want %v", c.name, c.x, c.y, got, c.want)
		}
	}
}

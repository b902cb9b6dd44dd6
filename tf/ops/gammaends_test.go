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

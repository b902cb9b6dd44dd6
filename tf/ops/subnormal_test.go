package ops_test

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestLogarithmsOfSubnormal: operations that take logarithms of float64 take those of the
// least numbers, too.
func TestLogarithmsOfSubnormal(t *testing.T) {
	g := eager.New()
	x := ops.Scalar(g, 5e-324)
	const want = 744.4400719213812
	for name, y := range map[string]tf.Output{"Log": ops.Log(x), "Xlogy": ops.Xlogy(ops.Scalar(g, -1.0), x), "Lgamma": ops.Lgamma(x), "Lgamma of -x": ops.Lgamma(ops.Neg(x))} {
		v, err := y.Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := math.Abs(tf.Data[float64](v)[0]); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: want %v, got %v", name, want, got)
		}
	}
}

// TestNdtriOfSubnormal asks for the probability of what Ndtri returns.
func TestNdtriOfSubnormal(t *testing.T) {
	v, err := ops.Ndtri(ops.Scalar(eager.New(), 1e-310)).Value()
	if err != nil {
		t.Fatal(err)
	}
	z := tf.Data[float64](v)[0]
	if p := math.Erfc(-z/math.Sqrt2) / 2; math.Abs(p/1e-310-1) > 1e-6 {
		t.Errorf("%v has the probability %v, want 1e-310", z, p)
	}
}

// TestComplexLogarithmOfSubnormal has a number on the imaginary axis.
func TestComplexLogarithmOfSubnormal(t *testing.T) {
	g := eager.New()
	x := ops.Scalar(g, complex(0, 1e-310))
	for name, y := range map[string]tf.Output{"Log": ops.Log(x), "Xlogy": ops.Xlogy(ops.Scalar(g, complex(1, 0)), x)} {
		v, err := y.Value()
		if err != nil {
			t.Fatal(err)
		}
		const want = complex(-713.8013788281542, math.Pi/2)
		if got := tf.Data[complex128](v)[0]; cmplx.Abs(got-want) > 1e-9 {
			t.Errorf("%s: want %v, got %v", name, want, got)
		}
	}
}

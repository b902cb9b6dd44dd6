package ops_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestComplexFunctionsAtEnds: large arguments do not overflow on the way, and the sign of a
// zero says which side of a branch cut a number is on.
func TestComplexFunctionsAtEnds(t *testing.T) {
	below := func(re float64) complex128 { return complex(re, math.Copysign(0, -1)) }
	g := eager.New()
	x := func(v complex128) tf.Output { return ops.Constant(g, []complex128{v}) }
	for _, c := range []struct {
		y    tf.Output
		want string
	}{
		{ops.Tanh(x(-1e20)), "complex128[1]{(-1+0i)}"},
		{ops.Tan(x(complex(1, 800))), "complex128[1]{(0+1i)}"},
		{ops.Exp(x(710)), "complex128[1]{(+Inf+0i)}"},
		{ops.Sinh(x(800)), "complex128[1]{(+Inf+0i)}"},
		{ops.Cos(x(complex(0, 800))), "complex128[1]{(+Inf-0i)}"},
		{ops.Acosh(x(below(-1))), "complex128[1]{(0-3.141592653589793i)}"},
		{ops.Atan(x(complex(0.5, -1e20))), "complex128[1]{(1.5707963267948966-1e-20i)}"},
		{ops.Pow(x(0), x(1i)), "complex128[1]{(NaN+NaNi)}"},
	} {
		v, err := c.y.Value()
		if err != nil {
			t.Errorf("%v: %v", c.y, err)
		} else if v.String() != c.want {
			t.Errorf("%v: want %s, got %s", c.y, c.want, v)
		}
	}
}

package linalg_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// TestUnusualValues: what TensorFlow 2.21 makes of NaN, of infinite elements and of
// singular matrices. An empty want: INVALID_ARGUMENT.
func TestUnusualValues(t *testing.T) {
	g := eager.New()
	nan, inf := math.NaN(), math.Inf(1)
	m := func(v ...float64) tf.Output {
		n := int(math.Sqrt(float64(len(v))))
		return ops.Const(g, v, n, n)
	}
	first := func(a, _ tf.Output) tf.Output { return a }
	for name, c := range map[string]struct {
		got  tf.Output
		want string
	}{
		"LU, NaN behind the first pivot":   {first(linalg.Lu(m(2, 1, 0, 1, 3, 1, 0, 1, nan))), "[2 1 0 0.5 2.5 1 0 0.4 NaN]"},
		"LU, NaN as the first pivot":       {first(linalg.Lu(m(nan, 1, 1, 1))), ""},
		"LU, singular":                     {first(linalg.Lu(m(1, 1, 1, 1))), ""},
		"inverse, NaN behind the first":    {linalg.MatrixInverse(m(2, 1, 1, nan)), "[NaN NaN NaN NaN]"},
		"determinant below 0, then 0":      {ops.Reciprocal(linalg.MatrixDeterminant(m(-1, -1, -1, -1))), "[-Inf]"},
		"eigenvalue of one infinite":       {first(linalg.SelfAdjointEigV2(m(inf))), "[+Inf]"},
		"eigenvalues, the first infinite":  {first(linalg.SelfAdjointEigV2(m(inf, 1, 2, 1, 1, 1, 2, 1, 3))), "[NaN NaN NaN]"},
		"eigenvalues, the second of two":   {first(linalg.SelfAdjointEigV2(m(1, 2, 2, inf))), "[NaN NaN]"},
		"eigenvalues, the second of three": {first(linalg.SelfAdjointEigV2(m(1, 0, 0, 0, inf, 0, 0, 0, 1))), ""},
		"eigenvalues, beside the diagonal": {first(linalg.SelfAdjointEigV2(m(1, inf, inf, 1))), ""},
	} {
		v, err := c.got.Value()
		switch {
		case c.want == "" && tf.CodeOf(err) != tf.InvalidArgument:
			t.Errorf("%s: got %v, %v, want INVALID_ARGUMENT", name, v, err)
		case c.want != "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "":
			if got := fmt.Sprint(tf.Data[float64](v)); got != c.want {
				t.Errorf("%s: got %s, want %s", name, got, c.want)
			}
		}
	}
}

package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/numeric"
)

// Elu sets y to x where x is not negative and to e^x - 1 elsewhere.
func Elu[T numeric.Float](y, x []T) { mapBy(simd.elu, y, x, elu) }

func elu(v float64) float64 {
	if v < 0 {
		return math.Expm1(v)
	}
	return v
}

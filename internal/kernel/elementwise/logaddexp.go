package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/internal/numeric"
)

var (
	// belowMost sets z to the lesser of x and y less the greater, 0 where they are equal, as
	// infinities may be.
	belowMost = CompiledZip(Lanes2(func(c *machine.Code, x, y machine.Value) machine.Value {
		return c.Pick(c.Equal(x, y), c.Word(0), c.Sub(c.Min(x, y), c.Max(x, y)))
	}), func(z, x, y []float32) {
		kernel.Zip(z, x, y, func(x, y float32) float32 {
			if x == y {
				return 0
			}
			return LesserOf(x, y) - GreaterOf(x, y)
		})
	})
	mostAndMore = Compile(func(c *machine.Code, in []machine.Value) (machine.Value, bool) {
		return c.Add(c.Max(in[0], in[1]), in[2]), true
	})
)

// LogAddExp sets z = log(e^x + e^y), safe from overflow.
func LogAddExp[T numeric.Float](z, x, y []T) {
	if !zip32(logAddExp32, z, x, y) {
		logAddExp(z, x, y)
	}
}

func logAddExp[T numeric.Float](z, x, y []T) {
	ZipFloat64(z, x, y, func(a, b float64) float64 {
		low, high := min(a, b), max(a, b)
		if math.IsInf(high, 0) {
			return high
		}
		return high + math.Log1p(math.Exp(low-high))
	})
}

// logAddExp32 is LogAddExp of float32 by loops over vectors.
func logAddExp32(z, x, y []float32) {
	if simd.exp == nil || simd.log1p == nil {
		logAddExp(z, x, y)
		return
	}
	EachBlock(len(z), func(lo, hi int, buf []float32) {
		z, x, y := z[lo:hi], x[lo:hi], y[lo:hi]
		belowMost(buf, x, y)
		simd.exp(buf, buf)
		simd.log1p(buf, buf)
		if !mostAndMore.Run(len(z), Along(x), Along(y), Along(buf), Along(z)) {
			for i, more := range buf {
				z[i] = GreaterOf(x[i], y[i]) + more
			}
		}
	})
}

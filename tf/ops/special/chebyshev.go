package special

import (
	"math"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// A chebyshev is a function between two numbers, as a sum of Chebyshev's
// polynomials: many times faster than the series and fractions that define it.
type chebyshev struct {
	low, high float64
	c         []float64
}

// fitted returns f between low and high, fitted when it is first needed, at the
// zeros of the polynomial of degree n.
func fitted(f func(float64) float64, low, high float64, n int) func() *chebyshev {
	return sync.OnceValue(func() *chebyshev { return fit(f, low, high, n) })
}

func fit(f func(float64) float64, low, high float64, n int) *chebyshev {
	s := &chebyshev{low, high, core.Make[float64](n)}
	for k := range n {
		angle := math.Pi * (float64(k) + 0.5) / float64(n)
		y := f((low + high + (high-low)*math.Cos(angle)) / 2)
		for j := range s.c {
			s.c[j] += 2 / float64(n) * y * math.Cos(float64(j)*angle)
		}
	}
	s.c[0] /= 2
	return s
}

// at sums from the last polynomial to the first (Clenshaw).
func (s *chebyshev) at(x float64) float64 {
	t := (2*x - s.low - s.high) / (s.high - s.low)
	b, before := 0.0, 0.0
	for j := len(s.c) - 1; j > 0; j-- {
		b, before = s.c[j]+2*t*b-before, b
	}
	return s.c[0] + t*b - before
}

// far returns √x·f(x) for x beyond bound, by 1/x.
func far(f func(float64) float64, bound float64, n int) func() *chebyshev {
	return fitted(func(u float64) float64 { return f(1/u) / math.Sqrt(u) }, 0, 1/bound, n)
}

const (
	boundI = 8 // where I is fitted by 1/x instead of x
	boundK = 2 // from where on K is fitted
	degree = 34
)

var (
	nearI0, farI0 = fitted(seriesI0e, 0, boundI, degree), far(seriesI0e, boundI, degree)
	nearI1, farI1 = fitted(seriesI1e, 0, boundI, degree), far(seriesI1e, boundI, degree)
	farK0, farK1  = far(func(x float64) float64 { k, _ := steed(x); return k }, boundK, degree), far(func(x float64) float64 { _, k := steed(x); return k }, boundK, degree)
)

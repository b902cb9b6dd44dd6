package special

import "math"

// For large a the series and the continued fraction need about as many steps as the root
// of a where x is near a: more than they are given. There Temme's uniform expansion
// ("The asymptotic expansion of the incomplete gamma functions", 1979) is exact with few
// terms.

const (
	largeA  = 1e7
	nearest = 0.01 // of a: how far x is away at most
)

// isLarge reports whether Temme's expansion is meant for a and x.
func isLarge(a, x float64) bool { return a > largeA && math.Abs(x-a) < nearest*a }

// deviation returns u = (x-a)/a and (u - ln(1+u))/u², without its cancellation.
func deviation(a, x float64) (u, w float64) {
	u = (x - a) / a
	for k := 12; k >= 2; k-- {
		w = 1/float64(k) - u*w
	}
	return u, w
}

// largeGamma returns the lower and the upper function.
func largeGamma(a, x float64) (lower, upper float64) {
	u, w := deviation(a, x)
	eta := u * math.Sqrt(2*w)
	c0 := -1./3 + eta*(1./12-eta*(2./135-eta*(1./864+eta/2835)))
	c1 := -1./540 - eta/288
	rest := math.Exp(-a*u*u*w) / math.Sqrt(2*math.Pi*a) * (c0 + c1/a)
	y := eta * math.Sqrt(a/2)
	return math.Erfc(-y)/2 - rest, math.Erfc(y)/2 + rest
}

// largeShift returns how x moves with a at the same probability.
func largeShift(a, x float64) float64 {
	u, w := deviation(a, x)
	return 1 + u - u*w*(1+u) + (2+u)/(12*a)
}

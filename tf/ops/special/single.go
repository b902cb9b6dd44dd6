package special

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
)

// Functions for results in single precision, computed in double precision: sums and fractions end
// where what follows changes nothing that is kept, and need no derivatives.

const (
	// singleEnd is what a part of a sum is beside the whole where it ends.
	singleEnd = 0x1p-34
	// fewest is up to where a sum without divisions serves: its products stay in the range.
	fewest = 16
	// slow is from where on parts decrease so slowly that many of them matter which are less.
	slow = 1000
)

// igammaSingle is igamma for results in single precision.
func igammaSingle(a, x float64) float64 {
	switch {
	case !(x > 0 && a > 0) || a > slow || x >= math.Inf(1):
		return igamma(a, x)
	case !byFraction(a, x), x <= fewest && a <= fewest:
		return factorSingle(a, x) / a * seriesSingle(a, x, singleEnd)
	}
	return 1 - factorSingle(a, x)*fractionSingle(a, x)
}

// igammacSingle is igammac for results in single precision. The series of the lower function has
// digits to spare where the upper one is not much less than 1, and the fraction of a small x takes long.
func igammacSingle(a, x float64) float64 {
	const spare = 0x1p-10
	switch {
	case !(x > 0 && a > 0) || a > slow || x >= math.Inf(1):
		return igammac(a, x)
	case x <= fewest && a <= fewest && (a > 0.01 || x < 1):
		if upper := 1 - factorSingle(a, x)/a*seriesSingle(a, x, singleEnd*spare); upper > spare || x < 1 {
			return upper
		}
	case !byFraction(a, x) && !(x == 1 && a < 1):
		return 1 - igammaSingle(a, x)
	}
	return factorSingle(a, x) * fractionSingle(a, x)
}

// factorSingle is factor to single precision.
func factorSingle(a, x float64) float64 {
	if a < 9 {
		return math.Exp(a*elementwise.LogOf(x)-x) / elementwise.GammaOf(a)
	}
	return factor(a, x)
}

// seriesSingle is series up to where a term is less than end beside the sum.
func seriesSingle(a, x, end float64) float64 {
	if !(x <= fewest && a <= fewest) {
		term, sum := 1.0, 1.0
		for a++; term > end*sum; a++ {
			term *= x / a
			sum += term
		}
		return sum
	}
	// All over the product of the denominators, which is divided by at last.
	term, sum, under := 1.0, 1.0, 1.0
	for ; term > end*sum; a += 2 { // two at once: sums wait for one another
		first, second := a+1, a+2
		next := term * x
		term = next * x
		sum = sum*(first*second) + (next*second + term)
		under *= first * second
	}
	return sum / under
}

// fractionSingle is fraction, in Lentz' way, without the derivative.
func fractionSingle(a, x float64) float64 {
	b := x + 1 - a
	c, d := 1e300, 1/b
	h := d
	for k := 1.0; k < mostSteps; k++ {
		n := k * (a - k)
		b += 2
		d = 1 / (n*d + b)
		c = b + n/c
		change := c * d
		h *= change
		if math.Abs(change-1) < singleEnd {
			break
		}
	}
	return h
}

// betaFactorSingle is Γ(a+b)/(Γ(a)·Γ(b))·x^a·y^b to single precision.
func betaFactorSingle(a, b, x, y float64) float64 {
	if a+b < 9 {
		g := elementwise.GammaOf(a+b) / (elementwise.GammaOf(a) * elementwise.GammaOf(b))
		return g * math.Exp(a*elementwise.LogOf(x)+b*elementwise.LogOf(y))
	}
	return betaFactor(a, b, x, y)
}

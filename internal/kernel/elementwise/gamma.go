package elementwise

import (
	"math"
	"sync"
)

// The gamma function and its logarithm's derivative for results in single precision: computed in
// double precision, by polynomials between 1 and 2 and by their recurrences up to gammaNear on
// either side of 0, by asymptotic series beyond.

// gammaNear is how far from 0 the recurrences are used.
const gammaNear = 9

// gammaTerms are the coefficients of R in Γ(1+t) = 1 + t(t-1)·R(t), the highest power first. So
// logarithms are as exact near 1 and 2, where they are 0, as elsewhere.
var gammaTerms = struct{ high, low terms }{
	terms{-0.0012108149146021248, 0.010897250239976865, -0.046010042614538793, 0.1222872680655784,
		-0.23294979952030703, 0.34605069496697423, -0.42973719390014779, 0.47505115292738193},
	terms{-0.49283891699965504, 0.49750166880276101, -0.49707282752230787, 0.49589033182744922,
		-0.48608849185063092, 0.49563872082646917, -0.41184033013718504, 0.57721566490096901},
}

// digammaTerms are those of S in ψ(1+t) = (t-t₀)·S(t), where t₀ is the root.
var digammaTerms = struct{ high, low terms }{
	terms{0, 0.0024148100848586848, -0.020526398096669873, 0.081656150487557312,
		-0.20430598690885899, 0.36709448727608122, -0.51762388803296664, 0.6172070452562881},
	terms{-0.66515728776901956, 0.68291026963599501, -0.69027065527439992, 0.69829019962243558,
		-0.71453610574743139, 0.75246811914701043, -0.85469335857343378, 1.2503801374989079},
}

const digammaRoot = 0.4616321449683623412626595423257213284682

// GammaOf is Γ(x) for 0 < |x| < gammaNear, to some 2^-40 of it.
func GammaOf(x float64) float64 {
	n := math.Floor(x)
	t := x - n
	t2 := t * t
	t4 := t2 * t2
	g := 1 + t*(t-1)*(gammaTerms.high.at(t, t2, t4)*(t4*t4)+gammaTerms.low.at(t, t2, t4))
	return gammaFrom(x, n, g)
}

// terms are the coefficients of a polynomial, the highest power first.
type terms [8]float64

// at evaluates it by parts that do not wait for one another, given powers of t.
func (c *terms) at(t, t2, t4 float64) float64 {
	return ((c[0]*t+c[1])*t2+(c[2]*t+c[3]))*t4 + ((c[4]*t+c[5])*t2 + (c[6]*t + c[7]))
}

// gammaFrom is Γ(x) of a Γ(1+x-n), where n is the integer below x.
func gammaFrom(x, n, g float64) float64 {
	if n > 0 {
		for t := x - n; n > 1; {
			n--
			g *= t + n
		}
		return g
	}
	p := x
	for ; n < 0; n++ {
		x++
		p *= x
	}
	return g / p
}

// A gammaBlock has what logarithms are taken of, what these are multiplied by and what is added.
type gammaBlock struct{ of, factor, rest [512]float64 }

var gammaBlocks = sync.Pool{New: func() any { return new(gammaBlock) }}

// inGammaBlocks makes a loop of one over blocks.
func inGammaBlocks(run func(b *gammaBlock, y, x []float32)) func(y, x []float32) {
	return func(y, x []float32) {
		b := gammaBlocks.Get().(*gammaBlock)
		defer gammaBlocks.Put(b)
		for len(y) > 0 {
			n := min(len(y), len(b.of))
			run(b, y[:n], x[:n])
			y, x = y[n:], x[n:]
		}
	}
}

// LgammaLoop returns a loop that sets y to the logarithms of |Γ(x)|; f has those of numbers that are
// below -gammaNear, integers up to 0, or not finite.
func LgammaLoop(f func(float64) float64) func(y, x []float32) {
	return inGammaBlocks(func(b *gammaBlock, y, x []float32) { b.logarithms(y, x, f) })
}

func (b *gammaBlock) logarithms(y, x []float32, f func(float64) float64) {
	of, factor, rest := b.of[:len(x)], b.factor[:len(x)], b.rest[:len(x)]
	for i, v := range x { // without branches and calls, many at once
		n := math.Floor(float64(v))
		t := float64(v) - n
		t2 := t * t
		t4 := t2 * t2
		of[i] = 1 + t*(t-1)*(gammaTerms.high.at(t, t2, t4)*(t4*t4)+gammaTerms.low.at(t, t2, t4))
		rest[i] = n
	}
	for i, v := range x {
		if v > 0 && v < gammaNear {
			of[i], factor[i], rest[i] = gammaFrom(float64(v), rest[i], of[i]), 1, 0
		} else {
			of[i], factor[i], rest[i] = lgammaParts(float64(v), rest[i], of[i], f)
		}
	}
	Log(of, of)
	for i := range y {
		y[i] = float32(float64(factor[i]*of[i]) + rest[i])
	}
}

// lgammaParts returns the parts of a block for x, of which n is the integer below and g Γ(1+x-n).
func lgammaParts(x, n, g float64, f func(float64) float64) (of, factor, rest float64) {
	switch {
	case x > -gammaNear && x < 0 && x > n:
		return math.Abs(gammaFrom(x, n, g)), 1, 0
	case x >= gammaNear && x < math.Inf(1): // Stirling's series
		s := 1 / (x * x)
		return x, x - 0.5, (1./12-s*(1./360-s*(1./1260)))/x - x + 0.91893853320467274178
	}
	return 1, 0, f(x)
}

// DigammaLoop returns a loop that sets y to the derivatives of the logarithm of Γ(x); f has those
// that [LgammaLoop] says.
func DigammaLoop(f func(float64) float64) func(y, x []float32) {
	return inGammaBlocks(func(b *gammaBlock, y, x []float32) { b.derivatives(y, x, f) })
}

func (b *gammaBlock) derivatives(y, x []float32, f func(float64) float64) {
	of, floor := b.of[:len(x)], b.rest[:len(x)]
	for i, v := range x {
		n := math.Floor(float64(v))
		t := float64(v) - n
		t2 := t * t
		t4 := t2 * t2
		of[i] = (digammaTerms.high.at(t, t2, t4)*(t4*t4) + digammaTerms.low.at(t, t2, t4)) * (t - digammaRoot)
		floor[i] = n
	}
	for i, v := range x {
		if v > 0 && v < gammaNear {
			y[i] = float32(digammaFrom(float64(v), floor[i], of[i]))
		} else {
			y[i] = float32(digammaElse(float64(v), floor[i], of[i], f))
		}
	}
}

// digammaFrom is ψ(x) of y = ψ(1+x-n), where n is the integer below x.
func digammaFrom(x, n, y float64) float64 {
	for t := x - n; n > 1; {
		n--
		y += 1 / (t + n)
	}
	for ; n < 1; n++ {
		y -= 1 / x
		x++
	}
	return y
}

func digammaElse(x, n, y float64, f func(float64) float64) float64 {
	switch {
	case x > -gammaNear && x < 0 && x > n:
		return digammaFrom(x, n, y)
	case x >= gammaNear && x < math.Inf(1):
		s := 1 / (x * x)
		return math.Log(x) - 0.5/x - s*(1./12-s*(1./120-s*(1./252)))
	}
	return f(x)
}

package elementwise

import "math"

// Powers of float64 are e^(y·log x), as libraries of C have them: an error of the
// logarithm counts up to 745 times, so that it has some 70 bits, in two numbers. Tables
// have logarithms and powers of near numbers, a series the rest. Results are off by little
// more than the half unit that rounding takes.

const (
	logSteps = 1 << 8 // intervals of [√½, √2), by the leading bits of x
	expSteps = 1 << 7 // steps between powers of 2

	// logFrom is where the intervals begin. 1 is the end of one of them.
	logFrom = 0x3fe6a000 << 32

	// The logarithm of 2 in two parts. What an exponent multiplies the first one by is exact.
	ln2High = 0x1.62e42fefa38p-1
	ln2Low  = math.Ln2 - ln2High

	// The same of a step of expTable.
	stepHigh = 0x1.62e42fefa39efp-8
	stepLow  = math.Ln2/expSteps - stepHigh
)

// A logStep has the inverse of a number c near the middle of an interval, in 9 bits, so
// that what it makes of x less 1 is exact, and log c in two parts, the first a multiple of
// 2^-42.
type logStep struct{ inverse, high, low float64 }

var logTable = func() (t [logSteps]logStep) {
	const one = 1 << 8         // inverses are multiples of 1/one
	var logs [one*3/2 + 1]pair // of one/n; that of 1 is 0
	for n := one; n < one*3/2; n++ {
		logs[n+1] = logs[n].less(logOfRatio(n))
	}
	for n := one; n > one*2/3; n-- {
		logs[n-1] = logs[n].less(logOfRatio(n - 1).negated())
	}
	for i := range uint64(logSteps) {
		c := (math.Float64frombits(logFrom+i<<44) + math.Float64frombits(logFrom+(i+1)<<44)) / 2
		n := math.RoundToEven(one / c)
		log := logs[int(n)]
		high := math.RoundToEven(log.high*(1<<42)) / (1 << 42)
		t[i] = logStep{n / one, high, log.high - high + log.low}
	}
	return t
}()

// A pair is the sum of two numbers, of which the second is what the first has no room for.
type pair struct{ high, low float64 }

func (p pair) negated() pair { return pair{-p.high, -p.low} }

func (p pair) less(q pair) pair {
	sum := p.high - q.high
	part := sum - p.high
	low := (p.high - (sum - part)) - (q.high + part) + (p.low - q.low)
	return pair{sum + low, sum - (sum + low) + low}
}

// logOfRatio returns log((n+1)/n) of a large n.
func logOfRatio(n int) pair {
	d := float64(2*n + 1)
	first := 2 / d
	square := 1 / (d * d)
	rest := square * (1./3 + square*(1./5+square*(1./7+square*(1./9))))
	return pair{first, math.FMA(-first, d, 2)/d + first*rest}
}

// An expStep is 2^(i/expSteps): its bits, and what these are less than it, in parts of it.
type expStep struct {
	bits uint64
	rest float64
}

var expTable = func() (t [expSteps]expStep) {
	root := pair{high: 2}
	for range 7 {
		high := math.Sqrt(root.high)
		low := (math.FMA(-high, high, root.high) + root.low) / (2 * high)
		root = pair{high + low, high - (high + low) + low}
	}
	p := pair{high: 1}
	for i := range t {
		t[i] = expStep{math.Float64bits(p.high), p.low / p.high}
		high := float64(p.high * root.high) // rounded, not fused with the sum below
		low := math.FMA(p.high, root.high, -high) + (p.high*root.low + p.low*root.high)
		p = pair{high + low, high - (high + low) + low}
	}
	return t
}()

// powOf is x to the power of y.
func powOf(x, y float64) float64 {
	const infinite = 0x7ff << 52
	if bits := math.Float64bits(x); bits-1<<52 < infinite-1<<52 && math.Float64bits(y)&infinite != infinite {
		return powNormal(x, 0, y)
	}
	return powUnusual(x, y)
}

// powUnusual is powOf for x that are not positive normal numbers, and y that are not finite.
func powUnusual(x, y float64) float64 {
	size, power := math.Abs(x), 0
	switch {
	case x == 0 || x-x != 0 || y-y != 0:
		return math.Pow(x, y)
	case x < 0 && y != math.Trunc(y):
		return math.NaN()
	case size < leastNormal:
		size, power = size*(1<<52), -52
	}
	z := powNormal(size, power, y)
	if x < 0 && math.Abs(y) < 1<<53 && int64(y)&1 != 0 {
		return -z
	}
	return z
}

// powNormal is (x·2^power)^y for a positive normal x.
func powNormal(x float64, power int, y float64) float64 {
	bits := math.Float64bits(x)
	from := bits - logFrom
	e := &logTable[from>>44%logSteps]
	exponent := int64(from) >> 52
	r := math.FMA(math.Float64frombits(bits-uint64(exponent)<<52), e.inverse, -1)

	// The logarithm is (exponent·ln 2 + log c) + (r - r²/2) + r³·…, of which each sum leaves a rest.
	k := float64(exponent + int64(power))
	base := float64(k*ln2High) + e.high
	first := base + r
	half := -0.5 * r
	square := float64(r * half)
	high := first + square
	low := float64(k*ln2Low) + e.low + (base - first + r) + math.FMA(half, r, -square) + (first - high + square) + logRest(r)
	log := high + low

	product := float64(y * log)
	return expOf(product, y*(high-log+low)+math.FMA(y, log, -product))
}

// logRest is the logarithm of 1+r less r - r²/2, for |r| < 1/128.
func logRest(r float64) float64 {
	square := r * r
	high := (1./5 - r*(1./6)) + square*((1./7-r*(1./8))+square*(1./9))
	return r * square * ((1./3 - r*(1./4)) + square*high)
}

// expOf is e^(x + rest).
func expOf(x, rest float64) float64 {
	const half = 3 << 51 // adding it rounds to an integer, in the low bits
	switch {
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	shifted := float64(x*(expSteps*math.Log2E)) + half
	k := math.Float64bits(shifted)
	steps := shifted - half
	r := math.FMA(-steps, stepHigh, x) + (rest - steps*stepLow)
	e := &expTable[k%expSteps]
	square := r * r
	part := e.rest + r + square*(1./2+r*(1./6)) + square*square*(1./24+r*(1./120))
	bits := e.bits + k/expSteps<<52
	if x > 708 || x < -708 {
		return expAtEnd(bits, part, x > 0)
	}
	scale := math.Float64frombits(bits)
	return scale + scale*part
}

// expAtEnd is scale·(1+part) where that, or scale, whose bits may have run over, is near
// what float64 holds.
func expAtEnd(bits uint64, part float64, great bool) float64 {
	if great {
		scale := math.Float64frombits(bits - 1000<<52)
		return (scale + scale*part) * 0x1p1000
	}
	scale := math.Float64frombits(bits + 1022<<52)
	change := float64(scale * part)
	z := scale + change
	if z < 1 { // subnormal: rounded once, where its last bit will be
		rest := scale - z + change
		sum := 1 + z
		rest += 1 - sum + z
		z = sum + rest - 1
	}
	return z * 0x1p-1022
}

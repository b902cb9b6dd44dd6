package elementwise

import "math"

// Powers of float32 are computed in float64 as 2^(y·log2 x). That is exact to some
// 2^-31, so that nearly all results are those of float64, rounded. Both functions take a
// near value from a table and add a series of the rest, as libraries of C do.

const (
	log2Steps = 1 << 4 // intervals of [2^-1/2, 2^1/2), by the leading bits of x
	exp2Steps = 1 << 5 // steps between powers of 2

	// log2From is where the intervals begin: just below 1/√2.
	log2From = 0x3f330000
)

// log2Table has, by interval, the inverse of a number c in its middle, and
// log2 c. The interval around 1 has c = 1, so that logarithms near 0 are as
// exact as others.
var log2Table = func() (t [log2Steps]struct{ inverse, log float64 }) {
	for i := range t {
		first := uint32(log2From + i<<(23-4))
		low, high := math.Float32frombits(first), math.Float32frombits(first+1<<(23-4))
		c := (float64(low) + float64(high)) / 2
		if low <= 1 && 1 < high {
			c = 1
		}
		t[i].inverse = 1 / c
		t[i].log = -math.Log2(t[i].inverse)
	}
	return t
}()

var exp2Table = func() (t [exp2Steps]uint64) {
	for i := range t {
		t[i] = math.Float64bits(math.Exp2(float64(i) / exp2Steps))
	}
	return t
}()

// log2Normal is the logarithm of a positive normal number.
func log2Normal(x float32) float64 {
	bits := math.Float32bits(x)
	from := bits - log2From
	e := &log2Table[from>>(23-4)%log2Steps]
	power := int32(from) >> 23
	r := float64(math.Float32frombits(bits-uint32(power)<<23))*e.inverse - 1
	const c = 1 / math.Ln2
	square := r * r
	high := (c/5 - c/6*r) + square*(c/7-c/8*r)
	low := (c/3 - c/4*r) + square*high
	return float64(power) + e.log + (c*r + square*(-c/2+r*low))
}

// exp2Within is 2^x for |x| ≤ 512.
func exp2Within(x float64) float64 {
	const half = 3 << 51 // adding it rounds to an integer, in the low bits
	shifted := x*exp2Steps + half
	k := math.Float64bits(shifted)
	r := (x - (shifted-half)/exp2Steps) * math.Ln2
	scale := math.Float64frombits(exp2Table[k%exp2Steps] + k/exp2Steps<<52)
	square := r * r
	return scale + scale*(r+square*(1./2+r*(1./6)+square*(1./24+r*(1./120))))
}

// pow32 is x to the power of y.
func pow32(x, y float32) float32 {
	const smallest, infinite = 0x00800000, 0x7f800000
	if bits := math.Float32bits(x); bits-smallest >= infinite-smallest || math.Float32bits(y)&infinite == infinite {
		return float32(powOf(float64(x), float64(y)))
	}
	return float32(exp2Within(min(max(float64(y)*log2Normal(x), -512), 512)))
}

// powers32 is Pow of float32. Penalties by lengths and the like raise the same
// number again and again: what was computed last is not computed anew.
func powers32(z, x, y []float32) {
	if len(z) == 0 {
		return
	}
	x, y = x[:len(z)], y[:len(z)]
	a, b := x[0], y[0]
	last := pow32(a, b)
	for i := range z {
		if x[i] != a || y[i] != b || a == 0 { // 0 and -0 are equal, their powers are not
			a, b = x[i], y[i]
			last = pow32(a, b)
		}
		z[i] = last
	}
}

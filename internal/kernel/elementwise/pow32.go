package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// Powers of float32 are computed in float64 as 2^(y·log2 x). That is exact to some
// 2^-31, so that nearly all results are those of float64, rounded. Both functions take a
// near value from a table and add a series of the rest, as libraries of C do. No product is
// fused with a sum: vectors and all processors give the same bits.

const (
	log2Steps = 1 << 4 // intervals of [2^-1/2, 2^1/2), by the leading bits of x
	exp2Steps = 1 << 5 // steps between powers of 2

	// log2From is where the intervals begin: just below 1/√2.
	log2From = 0x3f330000
)

// log2Table has, by interval, the inverse of a number c in its middle, and
// log2 c. The interval around 1 has c = 1, so that logarithms near 0 are as
// exact as others.
var log2Table = func() (t struct{ inverse, log [log2Steps]float64 }) {
	for i := range log2Steps {
		first := uint32(log2From + i<<(23-4))
		low, high := math.Float32frombits(first), math.Float32frombits(first+1<<(23-4))
		c := (float64(low) + float64(high)) / 2
		if low <= 1 && 1 < high {
			c = 1
		}
		t.inverse[i] = 1 / c
		t.log[i] = -math.Log2(t.inverse[i])
	}
	return t
}()

var exp2Table = func() (t [exp2Steps]float64) {
	for i := range t {
		t[i] = math.Exp2(float64(i) / exp2Steps)
	}
	return t
}()

// log2Normal is the logarithm of a positive normal number.
func log2Normal(x float32) float64 {
	bits := math.Float32bits(x)
	from := bits - log2From
	i := from >> (23 - 4) % log2Steps
	power := int32(from) >> 23
	r := float64(float64(math.Float32frombits(bits-uint32(power)<<23))*log2Table.inverse[i]) - 1
	return float64(power) + log2Table.log[i] + log2Rest(r)
}

// PowerOf is x to the power of y for a positive normal x, for results in single precision. It is
// 2^-512 at least and 2^512 at most.
func PowerOf(x, y float64) float64 {
	const from = 0x3fe<<52 + log2From&(1<<23-1)<<(52-23) // the same number
	bits := math.Float64bits(x)
	i := (bits - from) >> (52 - 4) % log2Steps
	power := int64(bits-from) >> 52
	r := float64(math.Float64frombits(bits-uint64(power)<<52)*log2Table.inverse[i]) - 1
	return exp2Within(min(max(y*(float64(power)+log2Table.log[i]+log2Rest(r)), -512), 512))
}

// log2Rest is the logarithm of 1+r for a small r.
func log2Rest(r float64) float64 {
	const c = 1 / math.Ln2
	square := r * r
	high := c/5 - float64(c/6*r) + float64(square*(c/7-float64(c/8*r)))
	low := c/3 - float64(c/4*r) + float64(square*high)
	return float64(c*r) + float64(square*(-c/2+float64(r*low)))
}

// exp2Within is 2^x for |x| ≤ 512.
func exp2Within(x float64) float64 {
	const half = 3 << 51 // adding it rounds to an integer, in the low bits
	shifted := float64(x*exp2Steps) + half
	k := math.Float64bits(shifted)
	r := (x - float64((shifted-half)/exp2Steps)) * math.Ln2
	scale := math.Float64frombits(math.Float64bits(exp2Table[k%exp2Steps]) + k/exp2Steps<<52)
	square := r * r
	rest := 1./2 + float64(r*(1./6)) + float64(square*(1./24+float64(r*(1./120))))
	return scale + float64(scale*(r+float64(square*rest)))
}

// pow32 is x to the power of y.
func pow32(x, y float32) float32 {
	const smallest, infinite = 0x00800000, 0x7f800000
	size := math.Float32bits(x) &^ (1 << 31)
	if size-smallest >= infinite-smallest || math.Float32bits(y)&infinite == infinite {
		return float32(powOf(float64(x), float64(y)))
	}
	z := float32(exp2Within(min(max(float64(y)*log2Normal(math.Float32frombits(size)), -512), 512)))
	if x < 0 {
		return ofNegative(z, float64(y))
	}
	return z
}

// ofNegative returns the power of a negative number, given that of its absolute value.
func ofNegative(z float32, y float64) float32 {
	switch half := y / 2; {
	case y != math.Trunc(y):
		return float32(math.NaN())
	case half != math.Trunc(half):
		return -z
	}
	return z
}

// powers32 is Pow of float32.
func powers32(z, x, y []float32) {
	x, y = x[:len(z)], y[:len(z)]
	for len(z) > 0 {
		done := wholePowers(z, x, y)
		z, x, y = z[done:], x[done:], y[done:]
		n := min(len(z), max(1, simd.powLanes))
		if simd.powers == nil {
			n = len(z)
		}
		powersInTurn(z[:n], x, y)
		z, x, y = z[n:], x[n:], y[n:]
	}
}

// wholePowers sets the first elements of z by vectors and returns how many: it ends before a
// vector with numbers that only powersInTurn takes.
func wholePowers(z, x, y []float32) (done int) {
	if simd.powers == nil {
		return 0
	}
	for len(z)-done >= simd.powLanes {
		n := min(len(z)-done, kernel.VectorChunk/4) &^ (simd.powLanes - 1)
		k := simd.powers(&z[done], &x[done], &y[done], n, &log2Table.inverse[0], &log2Table.log[0], &exp2Table[0])
		if done += k; k < n {
			break
		}
	}
	return done
}

// powersInTurn defines powers32. Penalties by lengths and the like raise the same number again
// and again: what was computed last is not computed anew.
func powersInTurn(z, x, y []float32) {
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

package random

import "math"

// sampleStride is how many blocks lie between the samples of distributions that
// take as many words as it happens, so that samples do not depend on each other.
const sampleStride = 256

// A backwards hands out float64 numbers of a generator group by group, each
// group from its end.
type backwards struct {
	p    *Philox
	draw func(w0, w1, w2, w3 uint32) (float64, float64)
	rest [Group64]float64
	left int
}

func uniform2(w0, w1, w2, w3 uint32) (float64, float64) {
	return float64From(w0, w1), float64From(w2, w3)
}

func (b *backwards) next() float64 {
	if b.left == 0 {
		b.rest[0], b.rest[1] = b.draw(b.p.Next())
		b.left = len(b.rest)
	}
	b.left--
	return b.rest[b.left]
}

// at returns the generator of sample i.
func (p Philox) at(i, stride int) Philox {
	p.Skip(uint64(i) * uint64(stride))
	return p
}

// Gamma returns sample i of a gamma distribution of shape alpha and scale 1.
// What [NormalFloat64] says of the last bits holds here too.
func Gamma(base Philox, i int, alpha float64) float64 {
	p := base.at(i, sampleStride)
	uniform := backwards{p: &p, draw: uniform2}
	if alpha == 1 {
		return -math.Log1p(-uniform.next())
	}
	d := alpha - 1./3
	if alpha < 1 {
		d++
	}
	v := gammaCube(&uniform, d)
	if alpha < 1 {
		return d * v * math.Pow(uniform.next(), 1/alpha)
	}
	return d * v
}

// gammaCube is the rejection method of Marsaglia and Tsang. NaN for a d that is
// no number, which no sample would satisfy.
func gammaCube(uniform *backwards, d float64) float64 {
	if !(d > 0) {
		return math.NaN()
	}
	normal := backwards{p: uniform.p, draw: boxMuller64}
	c := 1. / 3 / math.Sqrt(d)
	for {
		x := normal.next()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := uniform.next()
		if u < 1-float64(0.0331*(x*x)*(x*x)) || math.Log(u) < float64(0.5*x*x)+float64(d*(1-v+math.Log(v))) {
			return v
		}
	}
}

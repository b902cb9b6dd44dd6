package random

import (
	"errors"
	"math"
)

// A Precision is a floating-point type that samples are computed in, with its
// rounding after every operation.
type Precision struct {
	group           int // numbers made of one block
	uniform, normal func(w0, w1, w2, w3 uint32) [Group]float64
	round           func(float64) float64
}

// The precisions that TensorFlow computes in.
var (
	Half = &Precision{Group, eachWord(halfUniform), normals32(roundHalf), roundHalf}
	// Single rounds the results of float64 operations, which equals computing in
	// float32.
	Single = &Precision{Group, eachWord(func(w uint32) float64 { return float64(float32From(w)) }), normals32(roundSingle), roundSingle}
	Double = &Precision{Group64, uniform64, normal64, func(v float64) float64 { return v }}
)

func roundSingle(v float64) float64 { return float64(float32(v)) }
func roundHalf(v float64) float64   { return fromHalf(halfFrom(float32(v))) }
func halfUniform(w uint32) float64  { return float64(w&0x3ff) / 1024 }

func eachWord(from func(uint32) float64) func(w0, w1, w2, w3 uint32) [Group]float64 {
	return func(w0, w1, w2, w3 uint32) [Group]float64 {
		return [Group]float64{from(w0), from(w1), from(w2), from(w3)}
	}
}

func normals32(round func(float64) float64) func(w0, w1, w2, w3 uint32) [Group]float64 {
	return func(w0, w1, w2, w3 uint32) [Group]float64 {
		a, b := boxMuller(w0, w1)
		c, d := boxMuller(w2, w3)
		return [Group]float64{round(float64(a)), round(float64(b)), round(float64(c)), round(float64(d))}
	}
}

func uniform64(w0, w1, w2, w3 uint32) [Group]float64 {
	return [Group]float64{float64From(w0, w1), float64From(w2, w3)}
}

func normal64(w0, w1, w2, w3 uint32) [Group]float64 {
	a, b := boxMuller64(w0, w1, w2, w3)
	return [Group]float64{a, b}
}

// A Bounded is a normal distribution without what lies beyond two bounds, one
// of which may be infinite.
type Bounded struct{ Mean, Deviation, Low, High float64 }

// Errors of [Bounded.Fill]: parameters without sense, and a proposal that was
// refused so often that something must be wrong.
var (
	ErrParameters = errors.New("Invalid parameters")
	errNormal     = errors.New("TruncatedNormal randn rejection sampler failed to accept a sample.")
	errUniform    = errors.New("TruncatedNormal uniform rejection sampler failed to  accept a sample.")
	errExponent   = errors.New("TruncatedNormal exponential distribution rejection sampler failed to accept a sample.")
)

const (
	refusals = 1000 // in a row are too many
	inside   = 1.3  // deviations within the bounds from which on normal numbers are tried
)

// A proposal draws numbers from a group, and tells which of them to take.
type proposal struct {
	draw func(p *Philox) (v [Group]float64, take [Group]bool)
	n    int // numbers a group
	most int // refusals in a row
	err  error
}

// Fill sets out to samples of b in the precision of, going on with p.
func (b Bounded) Fill(p *Philox, of *Precision, out []float64) error {
	if !(b.Deviation > 0 && b.Low < b.High) || infinite(b.Low) && infinite(b.High) {
		return ErrParameters
	}
	if math.IsInf(b.Low, -1) || b.High < b.Mean { // one bound is the lower one, or both are positive
		b.Low, b.High, b.Deviation = b.High, b.Low, -b.Deviation
	}
	r := of.round
	try := of.propose(r(r(b.Low-b.Mean)/b.Deviation), r(r(b.High-b.Mean)/b.Deviation))
	for refused := 0; len(out) > 0; {
		v, take := try.draw(p)
		for i := 0; i < try.n && len(out) > 0; i++ {
			if !take[i] {
				if refused++; refused >= try.most {
					return try.err
				}
				continue
			}
			out[0], out, refused = r(r(v[i]*b.Deviation)+b.Mean), out[1:], 0
		}
	}
	return nil
}

func infinite(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) }

// propose chooses how numbers between low and high are found: among normal ones,
// uniform ones, or, where the tail is long, exponential ones.
func (of *Precision) propose(low, high float64) proposal {
	r, edge := of.round, of.round(inside)
	root := r(math.Sqrt(r(r(low*low) + 4)))
	cutoff := r(r(2*r(math.Exp(r(0.5+r(r(low*r(low-root))/4))))) / r(low+root))
	switch width := r(high - low); {
	case low < -edge && high >= 0 || high > edge && low <= 0:
		return of.normals(low, high)
	case width < cutoff:
		return of.uniforms(low, width)
	}
	return of.exponentials(low, high)
}

func (of *Precision) normals(low, high float64) proposal {
	return proposal{n: of.group, most: refusals + 1, err: errNormal, draw: func(p *Philox) (v [Group]float64, take [Group]bool) {
		v = of.normal(p.Next())
		for i := range of.group {
			take[i] = v[i] >= low && v[i] <= high
		}
		return v, take
	}}
}

func (of *Precision) uniforms(low, width float64) proposal {
	r, plus := of.round, 0.0
	if !(low < 0) {
		plus = r(low * low)
	}
	return proposal{n: of.group, most: refusals, err: errUniform, draw: func(p *Philox) (v [Group]float64, take [Group]bool) {
		v = of.uniform(p.Next())
		u := of.uniform(p.Next())
		for i := range of.group {
			v[i] = r(r(v[i]*width) + low)
			take[i] = u[i] <= r(math.Exp(r(r(plus-r(v[i]*v[i]))/2)))
		}
		return v, take
	}}
}

// exponentials takes two uniform numbers for each one that it proposes.
func (of *Precision) exponentials(low, high float64) proposal {
	r := of.round
	alpha := r(r(low+r(math.Sqrt(r(r(low*low)+4)))) / 2)
	return proposal{n: of.group / 2, most: refusals, err: errExponent, draw: func(p *Philox) (v [Group]float64, take [Group]bool) {
		u := of.uniform(p.Next())
		for i := range of.group / 2 {
			v[i] = r(r(-r(math.Log(u[2*i]))/alpha) + low)
			x := r(low - alpha)
			if low < alpha {
				x = r(alpha - v[i])
			}
			take[i] = u[2*i+1] <= r(math.Exp(r(r(-x*x)/2))) && v[i] < high
		}
		return v, take
	}}
}

package signal

import (
	"math"
	"math/bits"
	"math/cmplx"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// A transform computes discrete Fourier transforms of one length: by factors
// of the length if all are small, else as a convolution (Bluestein's way).
type transform struct {
	n       int
	roots   []complex128 // e^(-2πi·k/n)
	radices []int
	chirp   *chirp
}

// mostRadix is the greatest factor that is worth a butterfly of its own.
const mostRadix = 31

func newTransform(n int) *transform {
	t := &transform{n: n}
	if t.radices = factors(n); t.radices == nil && n > 1 {
		t.chirp = newChirp(n)
		return t
	}
	t.roots = core.Make[complex128](n)
	for k := range t.roots {
		t.roots[k] = root(k, n)
	}
	return t
}

// root returns e^(-2πi·k/n). Symmetry keeps it exact where it is simple.
func root(k, n int) complex128 {
	switch {
	case 8*k > 4*n:
		return cmplx.Conj(root(n-k, n))
	case 4*k > n:
		z := root(n-2*k, 2*n)
		return complex(-real(z), imag(z))
	case 8*k > n:
		z := root(n-4*k, 4*n)
		return complex(-imag(z), -real(z))
	}
	s, c := math.Sincos(2 * math.Pi * float64(k) / float64(n))
	return complex(c, -s)
}

// factors returns small numbers whose product is n, nil if there are none.
func factors(n int) (out []int) {
	for n%4 == 0 && n > 0 {
		out, n = append(out, 4), n/4
	}
	for f := 2; f <= mostRadix && n > 1; f++ {
		for n%f == 0 {
			out, n = append(out, f), n/f
		}
	}
	if n > 1 {
		return nil
	}
	return out
}

// room returns how many elements of scratch apply needs.
func (t *transform) room() int {
	if t.chirp != nil {
		return 2 * t.chirp.long.n
	}
	return t.n
}

// apply transforms x in place.
func (t *transform) apply(x, scratch []complex128) {
	if t.chirp != nil {
		t.chirp.apply(x, scratch)
		return
	}
	from, to := x, scratch[:t.n]
	stride, n := 1, t.n
	for _, r := range t.radices {
		n /= r
		switch r {
		case 2:
			t.pass2(to, from, n, stride)
		case 3:
			t.pass3(to, from, n, stride)
		case 4:
			t.pass4(to, from, n, stride)
		case 5:
			t.pass5(to, from, n, stride)
		default:
			t.pass(to, from, n, stride, r)
		}
		stride *= r
		from, to = to, from
	}
	if &from[0] != &x[0] {
		copy(x, from)
	}
}

// pass does a step of radix r of Stockham's algorithm: it turns x, n·r groups of
// stride elements, into groups whose transforms are by r shorter.
func (t *transform) pass(y, x []complex128, n, stride, r int) {
	var in, small, large [mostRadix]complex128
	for k := range r {
		small[k] = t.roots[k*(t.n/r)]
	}
	for p := range n {
		for u := range r {
			large[u] = t.roots[p*u*stride]
		}
		for q := range stride {
			for k := range r {
				in[k] = x[q+stride*(p+k*n)]
			}
			for u := range r {
				y[q+stride*(r*p+u)] = combine(in[:r], small[:r], u) * large[u]
			}
		}
	}
}

// combine returns element u of the transform of x, given the roots.
func combine(x, roots []complex128, u int) complex128 {
	sum, at := x[0], 0
	for _, v := range x[1:] {
		if at += u; at >= len(roots) {
			at -= len(roots)
		}
		sum += v * roots[at]
	}
	return sum
}

// pass3 and pass5 are pass for the most frequent odd radices: sums and
// differences of conjugate roots' elements are real multiples.
func (t *transform) pass3(y, x []complex128, n, stride int) {
	c, s := real(t.roots[t.n/3]), imag(t.roots[t.n/3])
	for p := range n {
		w1, w2 := t.roots[p*stride], t.roots[2*p*stride]
		for q := range stride {
			v, a, b := x[q+stride*p], x[q+stride*(p+n)], x[q+stride*(p+2*n)]
			sum, difference := a+b, a-b
			middle, side := v+scaled(sum, c), turned(difference, s)
			out := q + stride*3*p
			y[out], y[out+stride], y[out+2*stride] = v+sum, (middle+side)*w1, (middle-side)*w2
		}
	}
}

func (t *transform) pass5(y, x []complex128, n, stride int) {
	r1, r2 := t.roots[t.n/5], t.roots[2*(t.n/5)]
	for p := range n {
		w1, w2, w3, w4 := t.roots[p*stride], t.roots[2*p*stride], t.roots[3*p*stride], t.roots[4*p*stride]
		for q := range stride {
			at := q + stride*p
			v, a, b, c, d := x[at], x[at+stride*n], x[at+2*stride*n], x[at+3*stride*n], x[at+4*stride*n]
			outer, inner, o, i := a+d, b+c, a-d, b-c
			m1, s1 := v+scaled(outer, real(r1))+scaled(inner, real(r2)), turned(o, imag(r1))+turned(i, imag(r2))
			m2, s2 := v+scaled(outer, real(r2))+scaled(inner, real(r1)), turned(o, imag(r2))-turned(i, imag(r1))
			out := y[q+stride*5*p:]
			out[0], out[stride], out[2*stride] = v+outer+inner, (m1+s1)*w1, (m2+s2)*w2
			out[3*stride], out[4*stride] = (m2-s2)*w3, (m1-s1)*w4
		}
	}
}

func scaled(z complex128, by float64) complex128 { return complex(real(z)*by, imag(z)*by) }

// turned returns i·by·z.
func turned(z complex128, by float64) complex128 { return complex(-imag(z)*by, real(z)*by) }

func (t *transform) pass2(y, x []complex128, n, stride int) {
	for p := range n {
		w := t.roots[p*stride]
		a, b := x[stride*p:][:stride], x[stride*(p+n):][:stride]
		even, odd := y[stride*2*p:][:stride], y[stride*(2*p+1):][:stride]
		for q, v := range a {
			even[q], odd[q] = v+b[q], (v-b[q])*w
		}
	}
}

func (t *transform) pass4(y, x []complex128, n, stride int) {
	for p := range n {
		w1, w2, w3 := t.roots[p*stride], t.roots[2*p*stride], t.roots[3*p*stride]
		a, b := x[stride*p:][:stride], x[stride*(p+n):][:stride]
		c, d := x[stride*(p+2*n):][:stride], x[stride*(p+3*n):][:stride]
		out := y[stride*4*p:][:4*stride]
		for q, v := range a {
			sum, difference := v+c[q], v-c[q]
			other, side := b[q]+d[q], turned(b[q]-d[q], -1)
			out[q] = sum + other
			out[q+stride] = (difference + side) * w1
			out[q+2*stride] = (sum - other) * w2
			out[q+3*stride] = (difference - side) * w3
		}
	}
}

// A chirp computes a transform as a convolution with e^(πi·k²/n), by transforms
// whose length is a power of 2.
type chirp struct {
	long   *transform
	wave   []complex128 // e^(-πi·k²/n)
	kernel []complex128 // the transform of the conjugates of wave, scaled
}

func newChirp(n int) *chirp {
	c := &chirp{long: newTransform(1 << bits.Len(uint(2*n-2))), wave: core.Make[complex128](n)}
	m := c.long.n
	c.kernel = core.Make[complex128](m)
	for k := range n {
		c.wave[k] = root(int(uint64(k)*uint64(k)%uint64(2*n)), 2*n)
		v := cmplx.Conj(c.wave[k]) / complex(float64(m), 0)
		c.kernel[k] = v
		c.kernel[(m-k)%m] = v
	}
	c.long.apply(c.kernel, core.Make[complex128](m))
	return c
}

func (c *chirp) apply(x, scratch []complex128) {
	m := c.long.n
	work, rest := scratch[:m], scratch[m:]
	clear(work)
	for k, w := range c.wave {
		work[k] = x[k] * w
	}
	c.long.apply(work, rest)
	for k, v := range work {
		work[k] = cmplx.Conj(v * c.kernel[k]) // the inverse is the conjugate of the conjugate's
	}
	c.long.apply(work, rest)
	for k, w := range c.wave {
		x[k] = cmplx.Conj(work[k]) * w
	}
}

// transforms keeps what a kernel has used lately.
type transforms struct {
	any    recent[*transform]
	single lanePlans[float32]
	double lanePlans[float64]
}

// recent keeps plans by length.
type recent[P any] struct {
	mu   sync.Mutex
	kept map[int]P
}

// mostKept bounds the lengths that a kernel remembers.
const mostKept = 8

func (r *recent[P]) get(n int, plan func(n int) P) P {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, ok := r.kept[n]; ok {
		return p
	}
	if r.kept == nil || len(r.kept) >= mostKept {
		r.kept = map[int]P{}
	}
	r.kept[n] = plan(n)
	return r.kept[n]
}

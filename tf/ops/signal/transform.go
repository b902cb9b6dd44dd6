package signal

import (
	"math"
	"math/bits"
	"math/cmplx"
	"sync"
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
	t.roots = make([]complex128, n)
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
		case 4:
			t.pass4(to, from, n, stride)
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
	var in [mostRadix]complex128
	for p := range n {
		for q := range stride {
			for k := range r {
				in[k] = x[q+stride*(p+k*n)]
			}
			for u := range r {
				sum := in[0]
				for k := 1; k < r; k++ {
					sum += in[k] * t.roots[k*u%r*(t.n/r)]
				}
				y[q+stride*(r*p+u)] = sum * t.roots[p*u*stride]
			}
		}
	}
}

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
			other, turned := b[q]+d[q], b[q]-d[q]
			turned = complex(imag(turned), -real(turned))
			out[q] = sum + other
			out[q+stride] = (difference + turned) * w1
			out[q+2*stride] = (sum - other) * w2
			out[q+3*stride] = (difference - turned) * w3
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
	c := &chirp{long: newTransform(1 << bits.Len(uint(2*n-2))), wave: make([]complex128, n)}
	m := c.long.n
	c.kernel = make([]complex128, m)
	for k := range n {
		c.wave[k] = root(int(uint64(k)*uint64(k)%uint64(2*n)), 2*n)
		v := cmplx.Conj(c.wave[k]) / complex(float64(m), 0)
		c.kernel[k] = v
		c.kernel[(m-k)%m] = v
	}
	c.long.apply(c.kernel, make([]complex128, m))
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

// transforms keeps those that a kernel has used lately.
type transforms struct {
	mu   sync.Mutex
	kept map[int]*transform
}

// mostKept bounds the lengths that a kernel remembers.
const mostKept = 8

func (ts *transforms) get(n int) *transform {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t := ts.kept[n]; t != nil {
		return t
	}
	if ts.kept == nil || len(ts.kept) >= mostKept {
		ts.kept = map[int]*transform{}
	}
	ts.kept[n] = newTransform(n)
	return ts.kept[n]
}

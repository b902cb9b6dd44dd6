package fft

import "math"

// block returns the lanes of element i, and others after them in double precision.
func block[T Real](x []T, i int) *[2 * mostLanes]T {
	return (*[2 * mostLanes]T)(x[i*2*lanes[T]():])
}

// four is a pass of radix 4 as it is defined; vector loops do the same.
func (p *fftPass[T]) four(y, x []T) {
	for g := range p.n {
		w := p.roots[6*g:][:6]
		for q := range p.stride {
			at, to := q+p.stride*g, q+p.stride*4*g
			a, b, c, d := block(x, at), block(x, at+p.stride*p.n), block(x, at+2*p.stride*p.n), block(x, at+3*p.stride*p.n)
			o0, o1, o2, o3 := block(y, to), block(y, to+p.stride), block(y, to+2*p.stride), block(y, to+3*p.stride)
			for i := range lanes[T]() {
				j := i + lanes[T]()
				sr, si, dr, di := a[i]+c[i], a[j]+c[j], a[i]-c[i], a[j]-c[j]
				tr, ti, er, ei := b[i]+d[i], b[j]+d[j], b[j]-d[j], d[i]-b[i]
				o0[i], o0[j] = sr+tr, si+ti
				o1[i], o1[j] = times(dr+er, di+ei, w[0], w[1])
				o2[i], o2[j] = times(sr-tr, si-ti, w[2], w[3])
				o3[i], o3[j] = times(dr-er, di-ei, w[4], w[5])
			}
		}
	}
}

// times multiplies complex numbers.
func times[T Real](xr, xi, wr, wi T) (re, im T) { return xr*wr - xi*wi, xr*wi + xi*wr }

func (p *fftPass[T]) two(y, x []T) {
	for g := range p.n {
		wr, wi := p.roots[2*g], p.roots[2*g+1]
		for q := range p.stride {
			at, to := q+p.stride*g, q+p.stride*2*g
			a, b, o0, o1 := block(x, at), block(x, at+p.stride*p.n), block(y, to), block(y, to+p.stride)
			for i := range lanes[T]() {
				j := i + lanes[T]()
				o0[i], o0[j] = a[i]+b[i], a[j]+b[j]
				o1[i], o1[j] = times(a[i]-b[i], a[j]-b[j], wr, wi)
			}
		}
	}
}

// odd is a pass of radix 3 or 5: sums and differences of the elements that have
// conjugate roots are multiplied by real numbers.
func (p *fftPass[T]) odd(y, x []T) {
	r, half := p.radix, p.radix/2
	w := lanes[T]()
	var cos, sin [3][3]T
	for u := 1; u <= half; u++ {
		for k := 1; k <= half; k++ {
			s, c := math.Sincos(2 * math.Pi * float64(u*k%r) / float64(r))
			cos[u][k], sin[u][k] = T(c), T(s)
		}
	}
	for g := range p.n {
		roots := p.roots[2*(r-1)*g:]
		for q := range p.stride {
			at, to := q+p.stride*g, q+p.stride*r*g
			for i := range w {
				p.oddLane(y[to*2*w+i:], x[at*2*w+i:], roots, &cos, &sin)
			}
		}
	}
}

// oddLane is odd for one element of one line.
func (p *fftPass[T]) oddLane(y, x, w []T, cos, sin *[3][3]T) {
	r, half := p.radix, p.radix/2
	l := lanes[T]()
	from, to := p.stride*p.n*2*l, p.stride*2*l
	vr, vi := x[0], x[l]
	var sr, si, dr, di [3]T
	allR, allI := vr, vi
	for k := 1; k <= half; k++ {
		a, b := x[k*from:], x[(r-k)*from:]
		sr[k], si[k] = a[0]+b[0], a[l]+b[l]
		dr[k], di[k] = a[0]-b[0], a[l]-b[l]
		allR, allI = allR+sr[k], allI+si[k]
	}
	y[0], y[l] = allR, allI
	for u := 1; u <= half; u++ {
		mr, mi, tr, ti := vr, vi, T(0), T(0)
		for k := 1; k <= half; k++ {
			mr, mi = mr+cos[u][k]*sr[k], mi+cos[u][k]*si[k]
			tr, ti = tr+sin[u][k]*di[k], ti-sin[u][k]*dr[k]
		}
		y[u*to], y[u*to+l] = times(mr+tr, mi+ti, w[2*u-2], w[2*u-1])
		v := r - u
		y[v*to], y[v*to+l] = times(mr-tr, mi-ti, w[2*v-2], w[2*v-1])
	}
}

// splitReal turns the transform of numbers x[2j] + i·x[2j+1] into that of x: the
// transforms of even and odd elements are its even and odd parts.
func (f *FFT[T]) splitReal(z []T) {
	l := lanes[T]()
	first, last := block(z, 0), block(z, f.n)
	for i := range l {
		re, im := first[i], first[i+l]
		first[i], first[i+l] = re+im, 0
		last[i], last[i+l] = re-im, 0
	}
	if f.loops.split != nil {
		f.loops.split(&z[0], f.n, &f.split[0])
		return
	}
	f.splitPairs(z)
}

// splitPairs is splitReal for elements 1 to n-1 as it is defined; vector loops do the
// same.
func (f *FFT[T]) splitPairs(z []T) {
	for k := 1; k <= f.n/2; k++ {
		a, b, wr, wi := block(z, k), block(z, f.n-k), f.split[2*k], f.split[2*k+1]
		for i := range lanes[T]() {
			j := i + lanes[T]()
			er, ei, or, oi := (a[i]+b[i])/2, (a[j]-b[j])/2, (a[j]+b[j])/2, (b[i]-a[i])/2
			tr, ti := times(or, oi, wr, wi)
			a[i], a[j] = er+tr, ei+ti
			b[i], b[j] = er-tr, ti-ei
		}
	}
}

// joinReal is the inverse of splitReal, divided by n: it makes the spectrum of
// x[2j+1] + i·x[2j], with real and imaginary parts exchanged, so that the transform
// is the inverse one and leaves x[2j] before x[2j+1].
func (f *FFT[T]) joinReal(z []T) {
	l := lanes[T]()
	scale := 0.5 / T(f.n)
	first, last := block(z, 0), block(z, f.n)
	for i := range l {
		a, b := first[i], last[i]
		first[i], first[i+l] = (a+b)*scale, (a-b)*scale
	}
	if f.loops.join != nil {
		f.loops.join(&z[0], f.n, &f.split[0], scale)
		return
	}
	f.joinPairs(z, scale)
}

// joinPairs is joinReal for elements 1 to n-1 as it is defined.
func (f *FFT[T]) joinPairs(z []T, scale T) {
	for k := 1; k <= f.n/2; k++ {
		a, b, wr, wi := block(z, k), block(z, f.n-k), f.split[2*k], f.split[2*k+1]
		for i := range lanes[T]() {
			j := i + lanes[T]()
			er, ei := (a[i]+b[i])*scale, (a[j]-b[j])*scale
			or, oi := times((a[i]-b[i])*scale, (a[j]+b[j])*scale, wr, -wi)
			a[i], a[j] = er+oi, or-ei
			b[i], b[j] = er-oi, or+ei
		}
	}
}

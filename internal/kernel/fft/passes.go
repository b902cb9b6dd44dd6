package fft

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/tiles"
)

// block returns the lanes of element i.
func block(x []float32, i int) *[fftBlock]float32 { return (*[fftBlock]float32)(x[i*fftBlock:]) }

// four is a pass of radix 4 as it is defined; vector loops do the same.
func (p *fftPass) four(y, x []float32) {
	for g := range p.n {
		w := p.roots[6*g:][:6]
		for q := range p.stride {
			at, to := q+p.stride*g, q+p.stride*4*g
			a, b, c, d := block(x, at), block(x, at+p.stride*p.n), block(x, at+2*p.stride*p.n), block(x, at+3*p.stride*p.n)
			o0, o1, o2, o3 := block(y, to), block(y, to+p.stride), block(y, to+2*p.stride), block(y, to+3*p.stride)
			for i := range fftLanes {
				j := i + fftLanes
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
func times(xr, xi, wr, wi float32) (re, im float32) { return xr*wr - xi*wi, xr*wi + xi*wr }

func (p *fftPass) two(y, x []float32) {
	for g := range p.n {
		wr, wi := p.roots[2*g], p.roots[2*g+1]
		for q := range p.stride {
			at, to := q+p.stride*g, q+p.stride*2*g
			a, b, o0, o1 := block(x, at), block(x, at+p.stride*p.n), block(y, to), block(y, to+p.stride)
			for i := range fftLanes {
				j := i + fftLanes
				o0[i], o0[j] = a[i]+b[i], a[j]+b[j]
				o1[i], o1[j] = times(a[i]-b[i], a[j]-b[j], wr, wi)
			}
		}
	}
}

// odd is a pass of radix 3 or 5: sums and differences of the elements that have
// conjugate roots are multiplied by real numbers.
func (p *fftPass) odd(y, x []float32) {
	r, half := p.radix, p.radix/2
	var cos, sin [3][3]float32
	for u := 1; u <= half; u++ {
		for k := 1; k <= half; k++ {
			s, c := math.Sincos(2 * math.Pi * float64(u*k%r) / float64(r))
			cos[u][k], sin[u][k] = float32(c), float32(s)
		}
	}
	for g := range p.n {
		w := p.roots[2*(r-1)*g:]
		for q := range p.stride {
			at, to := q+p.stride*g, q+p.stride*r*g
			for i := range fftLanes {
				p.oddLane(y[to*fftBlock+i:], x[at*fftBlock+i:], w, &cos, &sin)
			}
		}
	}
}

// oddLane is odd for one element of one line.
func (p *fftPass) oddLane(y, x, w []float32, cos, sin *[3][3]float32) {
	r, half := p.radix, p.radix/2
	from, to := p.stride*p.n*fftBlock, p.stride*fftBlock
	vr, vi := x[0], x[fftLanes]
	var sr, si, dr, di [3]float32
	allR, allI := vr, vi
	for k := 1; k <= half; k++ {
		a, b := x[k*from:], x[(r-k)*from:]
		sr[k], si[k] = a[0]+b[0], a[fftLanes]+b[fftLanes]
		dr[k], di[k] = a[0]-b[0], a[fftLanes]-b[fftLanes]
		allR, allI = allR+sr[k], allI+si[k]
	}
	y[0], y[fftLanes] = allR, allI
	for u := 1; u <= half; u++ {
		mr, mi, tr, ti := vr, vi, float32(0), float32(0)
		for k := 1; k <= half; k++ {
			mr, mi = mr+cos[u][k]*sr[k], mi+cos[u][k]*si[k]
			tr, ti = tr+sin[u][k]*di[k], ti-sin[u][k]*dr[k]
		}
		y[u*to], y[u*to+fftLanes] = times(mr+tr, mi+ti, w[2*u-2], w[2*u-1])
		v := r - u
		y[v*to], y[v*to+fftLanes] = times(mr-tr, mi-ti, w[2*v-2], w[2*v-1])
	}
}

// splitReal turns the transform of numbers x[2j] + i·x[2j+1] into that of x: the
// transforms of even and odd elements are its even and odd parts.
func (f *FFT) splitReal(z []float32) {
	first, last := block(z, 0), block(z, f.n)
	for i := range fftLanes {
		re, im := first[i], first[i+fftLanes]
		first[i], first[i+fftLanes] = re+im, 0
		last[i], last[i+fftLanes] = re-im, 0
	}
	if simd.fftSplit != nil {
		simd.fftSplit(&z[0], f.n, &f.split[0])
		return
	}
	f.splitPairs(z)
}

// splitPairs is splitReal for elements 1 to n-1 as it is defined; vector loops do the
// same.
func (f *FFT) splitPairs(z []float32) {
	for k := 1; k <= f.n/2; k++ {
		a, b, wr, wi := block(z, k), block(z, f.n-k), f.split[2*k], f.split[2*k+1]
		for i := range fftLanes {
			j := i + fftLanes
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
func (f *FFT) joinReal(z []float32) {
	scale := 0.5 / float32(f.n)
	first, last := block(z, 0), block(z, f.n)
	for i := range fftLanes {
		a, b := first[i], last[i]
		first[i], first[i+fftLanes] = (a+b)*scale, (a-b)*scale
	}
	if simd.fftJoin != nil {
		simd.fftJoin(&z[0], f.n, &f.split[0], scale)
		return
	}
	f.joinPairs(z, scale)
}

// joinPairs is joinReal for elements 1 to n-1 as it is defined.
func (f *FFT) joinPairs(z []float32, scale float32) {
	for k := 1; k <= f.n/2; k++ {
		a, b, wr, wi := block(z, k), block(z, f.n-k), f.split[2*k], f.split[2*k+1]
		for i := range fftLanes {
			j := i + fftLanes
			er, ei := (a[i]+b[i])*scale, (a[j]-b[j])*scale
			or, oi := times((a[i]-b[i])*scale, (a[j]+b[j])*scale, wr, -wi)
			a[i], a[j] = er+oi, or-ei
			b[i], b[j] = er-oi, or+ei
		}
	}
}

// swapParts exchanges the real and imaginary parts of n elements and scales them.
func swapParts(z []float32, n int, scale float32) {
	for k := range n {
		b := block(z, k)
		for i := range fftLanes {
			b[i], b[i+fftLanes] = b[i+fftLanes]*scale, b[i]*scale
		}
	}
}

// readLanes brings n numbers of lines, which are so far apart, into lanes; those
// beyond the lines become 0.
func readLanes(z, x []float32, lines, apart, n int) {
	if lines < fftLanes {
		clear(z[:n*fftLanes])
	}
	for k := 0; k < n; k += fftLanes {
		exchange(z[k*fftLanes:], x[k:], fftLanes, apart, lines, min(fftLanes, n-k))
	}
}

// writeLanes is the inverse of readLanes, to lines of n numbers.
func writeLanes(y, z []float32, lines, n int) {
	for k := 0; k < n; k += fftLanes {
		exchange(y[k:], z[k*fftLanes:], n, fftLanes, min(fftLanes, n-k), lines)
	}
}

// exchange makes rows of src columns of dst.
func exchange(dst, src []float32, ldd, lds, rows, cols int) {
	if rows == fftLanes && cols == fftLanes && tiles.Transpose16 != nil {
		tiles.Transpose16(&dst[0], &src[0], ldd, lds)
		return
	}
	for r := range rows {
		for c, v := range src[r*lds:][:cols] {
			dst[c*ldd+r] = v
		}
	}
}

// readColumns sets z to n rows of a matrix of inner columns, of which it takes some.
func readColumns(z []float32, x []complex64, inner, columns, n int) {
	if columns < fftLanes {
		clear(z[:n*fftBlock])
	}
	for k := range n {
		b := block(z, k)
		for i, v := range x[k*inner:][:min(columns, fftLanes)] {
			b[i], b[i+fftLanes] = real(v), imag(v)
		}
	}
}

// writeColumns undoes readColumns.
func writeColumns(y []complex64, z []float32, inner, columns, n int) {
	for k := range n {
		b := block(z, k)
		row := y[k*inner:][:min(columns, fftLanes)]
		for i := range row {
			row[i] = complex(b[i], b[i+fftLanes])
		}
	}
}

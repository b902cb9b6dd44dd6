package fft

// swapParts exchanges the real and imaginary parts of n elements and scales them: the
// inverse transform is the transform of elements whose parts are exchanged.
func (f *FFT[T]) swapParts(z []T, n int, scale T) {
	if f.loops.swap != nil && n > 0 {
		f.loops.swap(&z[0], n, scale)
		return
	}
	w := lanes[T]()
	for k := range n {
		re, im := z[2*k*w:][:w], z[(2*k+1)*w:][:w]
		for i, v := range re {
			re[i], im[i] = im[i]*scale, v*scale
		}
	}
}

// readLanes brings n numbers of lines, which are so far apart, into lanes; those
// beyond the lines become 0. Parts are exchanged while they are in the cache.
func (f *FFT[T]) readLanes(z, x []T, lines, apart, n int, inverse bool) {
	w := lanes[T]()
	if lines < w {
		clear(z[:n*w])
	}
	for k := 0; k < n; k += w {
		to, some := z[k*w:], min(w, n-k)
		f.exchange(to, x[k:], w, apart, lines, some)
		if inverse {
			f.swapParts(to, some/2, 1)
		}
	}
}

// writeLanes is the inverse of readLanes, to lines of n numbers.
func (f *FFT[T]) writeLanes(y, z []T, lines, n int, inverse bool) {
	w := lanes[T]()
	for k := 0; k < n; k += w {
		from, some := z[k*w:], min(w, n-k)
		if inverse {
			f.swapParts(from, some/2, 1/T(f.n))
		}
		f.exchange(y[k:], from, n, w, some, lines)
	}
}

// exchange makes rows of src columns of dst.
func (f *FFT[T]) exchange(dst, src []T, ldd, lds, rows, cols int) {
	if w := lanes[T](); rows == w && cols == w && f.loops.turn != nil {
		_, _ = dst[(w-1)*ldd+w-1], src[(w-1)*lds+w-1]
		f.loops.turn(&dst[0], &src[0], ldd, lds)
		return
	}
	for r := range rows {
		for c, v := range src[r*lds:][:cols] {
			dst[c*ldd+r] = v
		}
	}
}

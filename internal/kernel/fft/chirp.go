package fft

// A chirp computes a transform as a convolution with e^(πi·k²/n) (Bluestein's way), by
// two transforms of a length without large factors.
type chirp[T Real] struct {
	long   *FFT[T]
	wave   []T // e^(-πi·k²/n)
	kernel []T // the conjugate of the transform of wave's conjugates, scaled
}

// leastLarge is the least factor of lengths that are worth a convolution; with less,
// TensorFlow's results are more exact.
const leastLarge = 64

// newChirp returns nil for lengths that are too long or have no large factor. What it
// prepares is computed in double precision.
func newChirp[T Real](n int) *chirp[T] {
	m := chirpLength(n)
	if largestFactor(n) < leastLarge || m > mostFFT {
		return nil
	}
	var wave []float64
	for k := range n {
		wave = appendRoot(wave, k*k%(2*n), 2*n)
	}
	x, y := make([]float64, 2*m), make([]float64, 2*m)
	for k := range n {
		re, im := wave[2*k]/float64(m), -wave[2*k+1]/float64(m)
		at := 2 * ((m - k) % m)
		x[2*k], x[2*k+1], x[at], x[at+1] = re, im, re, im
	}
	once := func(n, _ int, do func(lo, hi int)) { do(0, n) }
	planFFT[float64](m).Complex(once, y, x, m, false)
	for i := 1; i < len(y); i += 2 {
		y[i] = -y[i]
	}
	return &chirp[T]{long: planFFT[T](m), wave: rounded[T](wave), kernel: rounded[T](y)}
}

func rounded[T Real](x []float64) []T {
	y := make([]T, len(x))
	for i, v := range x {
		y[i] = T(v)
	}
	return y
}

// chirpLength is the least length of a convolution of n numbers that is a power of 2, or
// 3 or 5 times as much.
func chirpLength(n int) int {
	least := 0
	for _, m := range []int{1, 3, 5} {
		for m < 2*n-1 {
			m *= 2
		}
		if least == 0 || m < least {
			least = m
		}
	}
	return least
}

func largestFactor(n int) int {
	f := 2
	for ; f*f <= n; f++ {
		for n%f == 0 && n > f {
			n /= f
		}
	}
	return n
}

// transform transforms n elements of s.x, whose parts are exchanged, and returns where
// the result is. The inverse transform is that of elements whose parts are exchanged,
// so each product is with elements exchanged.
func (c *chirp[T]) transform(n int, s *fftScratch[T]) []T {
	f, w := c.long, lanes[T]()
	f.times(s.x, n, c.wave)
	clear(s.x[2*n*w : 2*f.n*w])
	z, rest := f.run(s.x, s.y)
	f.times(z, f.n, c.kernel)
	z, _ = f.run(z, rest)
	f.times(z, n, c.wave)
	return z
}

// times exchanges the parts of n elements and multiplies each by a root.
func (f *FFT[T]) times(z []T, n int, roots []T) {
	if f.loops.times != nil {
		f.loops.times(&z[0], n, &roots[0])
		return
	}
	for k := range n {
		b, wr, wi := block(z, k), roots[2*k], roots[2*k+1]
		for i := range lanes[T]() {
			j := i + lanes[T]()
			b[i], b[j] = times(b[j], b[i], wr, wi)
		}
	}
}

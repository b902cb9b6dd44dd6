package fft

import "github.com/gorge-tf/gorge/internal/kernel"

// Columns transforms columns of x, matrices of n rows of inner elements, to those of
// y, which may be x. The inverse is scaled by 1/n. Columns of several matrices are
// transformed together.
func (f *FFT[T]) Columns(par kernel.Par, y, x []T, inner int, inverse bool) {
	all, w, scale := len(x)/(2*f.n), lanes[T](), T(1)
	if inverse {
		scale = 1 / T(f.n)
	}
	par((all+w-1)/w, max(1, kernel.ElementGrain/(f.n*w)), func(lo, hi int) {
		s := f.scratch.Get().(*fftScratch[T])
		defer f.scratch.Put(s)
		for g := lo; g < hi; g++ {
			first := g * w
			count := min(w, all-first)
			if count < w {
				clear(s.x[:2*f.n*w])
			}
			f.eachPart(first, count, inner, func(c columns) { f.take(s.x, x[c.at:], c, inverse != f.exchanged()) })
			z := f.transform(s)
			f.eachPart(first, count, inner, func(c columns) { f.put(y[c.at:], z, c, scale, inverse) })
		}
	})
}

// columns are neighbours in one matrix.
type columns struct {
	at          int // where the first number is
	lane, count int
	inner       int // elements of a row
}

// eachPart calls do for the columns of each matrix among count of them.
func (f *FFT[T]) eachPart(first, count, inner int, do func(c columns)) {
	for lane := 0; lane < count; {
		matrix, column := (first+lane)/inner, (first+lane)%inner
		c := columns{at: 2 * (matrix*f.n*inner + column), lane: lane, count: min(count-lane, inner-column), inner: inner}
		do(c)
		lane += c.count
	}
}

// parts returns where the real parts are and how far away the imaginary ones are.
func parts[T Real](inverse bool) (re, apart int) {
	if inverse {
		return lanes[T](), -lanes[T]()
	}
	return 0, lanes[T]()
}

// masks returns which lanes a vector loop is to look at, and which numbers of a row, and
// whether it can.
func (f *FFT[T]) masks(c columns) (lanesMask, pairs int, can bool) {
	if c.count < lanes[T]() && !f.loops.masked {
		return 0, 0, false
	}
	return (1<<c.count - 1) << c.lane, (1<<(2*c.count) - 1) << (2 * c.lane), f.loops.take != nil
}

// take sets lanes of z to columns of x; for the inverse, with parts exchanged.
func (f *FFT[T]) take(z, x []T, c columns, inverse bool) {
	re, apart := parts[T](inverse)
	if some, pairs, ok := f.masks(c); ok {
		_ = x[2*((f.n-1)*c.inner+c.count)-1]
		f.loops.take(&z[re], &x[0], f.n, 2*c.inner, apart*(partBytes/lanes[T]()), some, pairs)
		return
	}
	for k := range f.n {
		to := 2*k*lanes[T]() + c.lane + re
		row := x[2*k*c.inner:][:2*c.count]
		for i := 0; i+1 < len(row); i += 2 {
			z[to], z[to+apart] = row[i], row[i+1]
			to++
		}
	}
}

// put undoes take, scaled.
func (f *FFT[T]) put(y, z []T, c columns, scale T, inverse bool) {
	re, apart := parts[T](inverse)
	if some, pairs, ok := f.masks(c); ok {
		_ = y[2*((f.n-1)*c.inner+c.count)-1]
		f.loops.put(&y[0], &z[re], f.n, 2*c.inner, apart*(partBytes/lanes[T]()), some, pairs, scale)
		return
	}
	for k := range f.n {
		from := 2*k*lanes[T]() + c.lane + re
		row := y[2*k*c.inner:][:2*c.count]
		for i := 0; i+1 < len(row); i += 2 {
			row[i], row[i+1] = z[from]*scale, z[from+apart]*scale
			from++
		}
	}
}

package conv

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/sliding"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Depthwise describes how images [batch depth height width channels] are
// convolved with a filter [depth height width channels], each channel by
// itself.
type Depthwise struct {
	sliding.Window
	Batch, C int
}

// depthwiseRun is about how many elements are multiplied at a time: few enough
// to stay near the processor, with a filter that is repeated as often.
const depthwiseRun = 1024

// run is the number of pixels that are taken at once.
func (v *Depthwise) run() int { return min(max(1, depthwiseRun/max(1, v.C)), max(1, v.Out[2])) }

func (v *Depthwise) lineGrain() int {
	return max(1, convFlops/max(1, 16*v.Out[2]*v.Taps()*v.C))
}

// repeated returns the filter with the channels of each tap n times, so that
// runs of so many pixels are multiplied as one.
func repeated[T numeric.Number](v *Depthwise, w []T, n int) []T {
	out := memory.Make[T](len(w) * n)[:0]
	for tap := range v.Taps() {
		for range n {
			out = append(out, w[tap*v.C:(tap+1)*v.C]...)
		}
	}
	return out
}

// eachRun calls f for the stretches of pixels that tap kw of the windows of a
// line covers: n pixels from in on belong to the n windows from out on. It
// goes through the line by runs.
func (v *Depthwise) eachRun(kw int, f func(in, out, n int)) {
	step := v.run()
	for o := 0; o < v.Out[2]; o += step {
		v.eachStretch(kw, o, min(v.Out[2], o+step), f)
	}
}

// eachStretch is eachRun for the windows [lo, hi).
func (v *Depthwise) eachStretch(kw, lo, hi int, f func(in, out, n int)) {
	if v.Stride[2] != 1 {
		for o := lo; o < hi; o++ {
			if p, inside := v.At(2, o, kw); inside {
				f(p, o, 1)
			}
		}
		return
	}
	shift := kw*v.Dilation[2] - v.Pad[2]
	lo, hi = max(lo, -shift), min(hi, v.In[2]-shift)
	if lo < hi {
		f(lo+shift, lo, hi-lo)
	}
}

// eachRow calls f for the rows of the filter that meet line i of windows: tap
// is the row's first, in the line of the images.
func (v *Depthwise) eachRow(i int, f func(tap, in int)) {
	n, od, oh := v.Line(i)
	for kd := range v.Kernel[0] {
		d, inside := v.At(0, od, kd)
		if !inside {
			continue
		}
		for kh := range v.Kernel[1] {
			if h, inside := v.At(1, oh, kh); inside {
				f((kd*v.Kernel[1]+kh)*v.Kernel[2], (n*v.In[0]+d)*v.In[1]+h)
			}
		}
	}
}

// flushing is par that takes subnormal numbers for 0, where v takes long enough.
func (v *Depthwise) flushing(par kernel.Par) kernel.Par {
	if 2*v.Batch*v.LinesOut()*v.Out[2]*v.Taps()*v.C < kernel.FlushLeast {
		return par
	}
	return kernel.Flushing(par)
}

// doneElements of results, about, are followed by what is done to them at a time: they stay
// in the second-level cache.
const doneElements = 32 << 10

// DepthwiseConvolve computes y from images x and the filter w.
func DepthwiseConvolve[T numeric.Number](par kernel.Par, v *Depthwise, y, x, w []T, e gemm.Epilogue[T]) {
	most := max(1, doneElements/max(1, v.Out[2]*v.C))
	depthwiseConvolve(func(n, grain int, lines func(lo, hi int)) {
		par(n, grain, func(lo, hi int) {
			for lo < hi {
				end := min(hi, lo+most)
				lines(lo, end)
				e.Apply(gemm.Gemm{LDC: v.C}, y, lo*v.Out[2], end*v.Out[2], 0, v.C)
				lo = end
			}
		})
	}, v, y, x, w)
}

// depthwiseConvolve is DepthwiseConvolve without what follows. par runs lines of windows.
func depthwiseConvolve[T numeric.Number](par kernel.Par, v *Depthwise, y, x, w []T) {
	par = v.flushing(par)
	if y, x, w, ok := vectors(v, y, x, w); ok {
		v.convolve32(par, y, x, w)
		return
	}
	wide, run := repeated(v, w, v.run()), v.run()*v.C
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) {
		product := make([]T, run)
		for i := lo; i < hi; i++ {
			dst := y[i*v.Out[2]*v.C : (i+1)*v.Out[2]*v.C]
			clear(dst)
			v.eachRow(i, func(tap, in int) {
				src := x[in*v.In[2]*v.C:]
				for kw := range v.Kernel[2] {
					v.eachRun(kw, func(p, o, n int) {
						n *= v.C
						elementwise.Mul(product[:n], src[p*v.C:][:n], wide[(tap+kw)*run:][:n])
						elementwise.Add(dst[o*v.C:][:n], dst[o*v.C:][:n], product[:n])
					})
				}
			})
		}
	})
}

// DepthwiseBackInput computes the gradient dx of DepthwiseConvolve for its
// images from that of its results, dy. Images are independent.
func DepthwiseBackInput[T numeric.Number](par kernel.Par, v *Depthwise, dx, dy, w []T) {
	par = v.flushing(par)
	if dx, dy, w, ok := vectors(v, dx, dy, w); ok {
		v.backInput32(par, dx, dy, w)
		return
	}
	wide, run, lines := repeated(v, w, v.run()), v.run()*v.C, v.LinesOut()
	clear(dx)
	par(v.Batch, max(1, v.lineGrain()/max(1, lines)), func(lo, hi int) {
		product := make([]T, run)
		for i := lo * lines; i < hi*lines; i++ {
			src := dy[i*v.Out[2]*v.C : (i+1)*v.Out[2]*v.C]
			v.eachRow(i, func(tap, in int) {
				dst := dx[in*v.In[2]*v.C:]
				for kw := range v.Kernel[2] {
					v.eachRun(kw, func(p, o, n int) {
						n *= v.C
						elementwise.Mul(product[:n], src[o*v.C:][:n], wide[(tap+kw)*run:][:n])
						elementwise.Add(dst[p*v.C:][:n], dst[p*v.C:][:n], product[:n])
					})
				}
			})
		}
	})
}

// DepthwiseBackFilter computes the gradient dw of DepthwiseConvolve for its
// filter from its images and the gradient of its results, dy. Taps are
// independent.
func DepthwiseBackFilter[T numeric.Number](par kernel.Par, v *Depthwise, dw, x, dy []T) {
	par = v.flushing(par)
	if dw, x, dy, ok := vectors(v, dw, x, dy); ok && !v.beside() {
		v.backFilter32(par, dw, x, dy)
		return
	}
	run := v.run() * v.C
	par(v.Taps(), 1, func(lo, hi int) {
		product, sums := make([]T, run), make([]T, run)
		for tap := lo; tap < hi; tap++ {
			clear(sums)
			v.sumTap(tap, func(in, out, n int) {
				n *= v.C
				elementwise.Mul(product[:n], x[in*v.C:][:n], dy[out*v.C:][:n])
				elementwise.Add(sums[:n], sums[:n], product[:n])
			})
			dst := dw[tap*v.C : (tap+1)*v.C]
			copy(dst, sums)
			for k := v.C; k < run; k += v.C {
				elementwise.Add(dst, dst, sums[k:k+v.C])
			}
		}
	})
}

// sumTap calls f for the stretches of pixels of the batch that a tap covers.
func (v *Depthwise) sumTap(tap int, f func(in, out, n int)) {
	row, kw := tap-tap%v.Kernel[2], tap%v.Kernel[2]
	for i := range v.Batch * v.LinesOut() {
		v.eachRow(i, func(first, in int) {
			if first == row {
				v.eachRun(kw, func(p, o, n int) { f(in*v.In[2]+p, i*v.Out[2]+o, n) })
			}
		})
	}
}

// RepeatChannels sets y to x with each element n times.
func RepeatChannels[T any](par kernel.Par, y, x []T, n int) {
	par(len(x), max(1, kernel.ElementGrain/max(1, n)), func(lo, hi int) {
		y, x := y[lo*n:hi*n], x[lo:hi]
		if n == 2 { // as in most networks
			repeatTwice(y, x)
			return
		}
		for i, v := range x {
			for at := range y[i*n:][:n] {
				y[i*n+at] = v
			}
		}
	})
}

func repeatTwice[T any](y, x []T) {
	for len(x) >= 4 && len(y) >= 8 {
		a, b, c, d := x[0], x[1], x[2], x[3]
		y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7] = a, a, b, b, c, c, d, d
		x, y = x[4:], y[8:]
	}
	for i, v := range x {
		y[2*i], y[2*i+1] = v, v
	}
}

// FoldChannels sets y to the sums of n elements of x each.
func FoldChannels[T numeric.Number](par kernel.Par, y, x []T, n int) {
	par(len(y), max(1, kernel.ElementGrain/max(1, n)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			var sum T
			for _, v := range x[i*n : (i+1)*n] {
				sum += v
			}
			y[i] = sum
		}
	})
}

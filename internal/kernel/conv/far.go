package conv

import (
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Where windows or their steps are much wider than images, lines between zeros would take
// far more memory than the images, and most of it would be zeros. Then only what windows
// see of images is looked at, product by product.

// far reports whether windows or steps are so wide.
func (v *Conv) far() bool {
	const times, little = 8, 1 << 10
	return max(v.Width(), v.Stride[2]) > times*(v.In[2]+v.Out[2])+little
}

// eachProduct calls f with the elements of results, images and filters that belong together.
func (v *Conv) eachProduct(f func(y, x, w int)) {
	c, outs := v.groupC(), v.groupOut()
	v.eachTap(func(window, pixel, tap int) {
		for g := range v.Groups {
			for i := range c {
				y, w := window*v.OutC+g*outs, (tap*c+i)*v.OutC+g*outs
				for o := range outs {
					f(y+o, pixel*v.InC+g*c+i, w+o)
				}
			}
		}
	})
}

// eachTap calls f for the taps that are inside an image, window by window of a line.
func (v *Conv) eachTap(f func(window, pixel, tap int)) {
	for i := range v.Batch * v.LinesOut() {
		n, od, oh := v.Line(i)
		d0, d1 := v.Clip(0, od)
		h0, h1 := v.Clip(1, oh)
		for kd := d0; kd < d1; kd++ {
			d, _ := v.At(0, od, kd)
			for kh := h0; kh < h1; kh++ {
				h, _ := v.At(1, oh, kh)
				v.eachTapOfLine(func(o, p, kw int) {
					f(i*v.Out[2]+o, ((n*v.In[0]+d)*v.In[1]+h)*v.In[2]+p, (kd*v.Kernel[1]+kh)*v.Kernel[2]+kw)
				})
			}
		}
	}
}

// eachTapOfLine is eachTap within a line of images.
func (v *Conv) eachTapOfLine(f func(window, pixel, tap int)) {
	for o := range v.Out[2] {
		lo, hi := v.Clip(2, o)
		for kw := lo; kw < hi; kw++ {
			p, _ := v.At(2, o, kw)
			f(o, p, kw)
		}
	}
}

// convolveFar is Convolve.
func convolveFar[T numeric.Number](v *Conv, y, x, w []T, e gemm.Epilogue[T]) {
	clear(y)
	v.eachProduct(func(i, j, k int) { y[i] += x[j] * w[k] })
	e.Apply(gemm.Gemm{LDC: v.OutC}, y, 0, len(y)/v.OutC, 0, v.OutC)
}

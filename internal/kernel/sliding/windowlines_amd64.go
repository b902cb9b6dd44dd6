//go:build !noasm

package sliding

// Seen returns the positions [lo, hi) along dimension i that windows first to
// last cover.
func (v *Window) Seen(i, first, last int) (lo, hi int) {
	lo = max(0, first*v.Stride[i]-v.Pad[i])
	hi = min(v.In[i], last*v.Stride[i]-v.Pad[i]+(v.Kernel[i]-1)*v.Dilation[i]+1)
	return lo, max(lo, hi)
}

// Seeing returns the windows [lo, hi) along dimension i that may cover
// positions first to last.
func (v *Window) Seeing(i, first, last int) (lo, hi int) {
	lo = ceilQuo(first+v.Pad[i]-(v.Kernel[i]-1)*v.Dilation[i], v.Stride[i])
	hi = min(v.Out[i], (last+v.Pad[i])/v.Stride[i]+1)
	return lo, max(lo, hi)
}

// TapAt splits the number of a tap into depth, height and width.
func (v *Window) TapAt(tap int) (kd, kh, kw int) {
	kw, tap = tap%v.Kernel[2], tap/v.Kernel[2]
	return tap / v.Kernel[1], tap % v.Kernel[1], kw
}

// LineIn splits the number of a line of images into image, depth and height.
func (v *Window) LineIn(i int) (n, d, h int) {
	n, i = i/v.LinesIn(), i%v.LinesIn()
	return n, i / v.In[1], i % v.In[1]
}

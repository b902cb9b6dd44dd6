package sliding

// Window describes how a window moves over the positions of an image: by
// depth, height and width. Plain images have a depth of 1.
type Window struct {
	In, Out  [3]int // positions before and after
	Kernel   [3]int // positions the window covers
	Stride   [3]int
	Dilation [3]int // distance of neighbours within the window
	Pad      [3]int // positions before the first one that the window covers
}

// lines is the number of rows of an image before and after.
func (v *Window) LinesIn() int  { return v.In[0] * v.In[1] }
func (v *Window) LinesOut() int { return v.Out[0] * v.Out[1] }

// Taps is the number of positions the window covers.
func (v *Window) Taps() int { return v.Kernel[0] * v.Kernel[1] * v.Kernel[2] }

// Width is how wide a row has to be for all windows to lie within it.
func (v *Window) Width() int {
	return (v.Out[2]-1)*v.Stride[2] + (v.Kernel[2]-1)*v.Dilation[2] + 1
}

// At returns the position along dimension i that tap k of window o covers, and
// whether it is inside the image.
func (v *Window) At(i, o, k int) (int, bool) {
	p := o*v.Stride[i] - v.Pad[i] + k*v.Dilation[i]
	return p, p >= 0 && p < v.In[i]
}

// From returns the window whose tap k covers position p along dimension i, and
// whether there is one.
func (v *Window) From(i, p, k int) (int, bool) {
	o := p + v.Pad[i] - k*v.Dilation[i]
	return o / v.Stride[i], o >= 0 && o%v.Stride[i] == 0 && o/v.Stride[i] < v.Out[i]
}

// Clip returns the taps [lo, hi) along dimension i that are inside the image
// in window o.
func (v *Window) Clip(i, o int) (lo, hi int) {
	start, d := o*v.Stride[i]-v.Pad[i], v.Dilation[i]
	if start < 0 {
		lo = ceilQuo(-start, d)
	}
	hi = min(v.Kernel[i], ceilQuo(v.In[i]-start, d))
	return lo, max(lo, hi)
}

// ceilQuo is a/b rounded up, 0 if a is negative.
func ceilQuo(a, b int) int { return (max(a, 0) + b - 1) / b }

// Line splits the number of a line of windows in a batch into image, depth and
// height.
func (v *Window) Line(i int) (n, d, h int) {
	n, i = i/v.LinesOut(), i%v.LinesOut()
	return n, i / v.Out[1], i % v.Out[1]
}

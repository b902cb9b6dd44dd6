package conv

import "github.com/gorge-tf/gorge/internal/kernel"

// Where images have a single channel and windows move by 1, what one tap sees
// in a line of windows is a piece of a line of the image: patches are laid out
// tap by tap then, which copies lines instead of a few numbers for each window.

// thin reports whether patches are laid out so.
func (v *Conv) thin() bool { return v.InC == 1 && v.Groups == 1 && v.Stride[2] == 1 }

// patchMatrix copies what the windows of lines [lo, hi) cover, 0 outside of the
// image: [windows patch], or [patch windows] if v is thin.
func patchMatrix[T any](par kernel.Par, v *Conv, dst, x []T, lo, hi int) {
	par(hi-lo, v.lineGrain(), func(a, b int) {
		if !v.thin() {
			fillPatches(v, dst[a*v.Out[2]*v.patchSize():], x, lo+a, lo+b)
			return
		}
		for i := a; i < b; i++ {
			fillTaps(v, dst[i*v.Out[2]:], x, lo+i, (hi-lo)*v.Out[2])
		}
	})
}

// fillTaps copies what each tap sees in a line of windows, each stride elements
// from the one before.
func fillTaps[T any](v *Conv, dst, x []T, line, stride int) {
	n, od, oh := v.Line(line)
	for kd := range v.Kernel[0] {
		d, inD := v.At(0, od, kd)
		for kh := range v.Kernel[1] {
			h, inH := v.At(1, oh, kh)
			var src []T
			if inD && inH {
				src = x[((n*v.In[0]+d)*v.In[1]+h)*v.In[2]:][:v.In[2]]
			}
			for kw := range v.Kernel[2] {
				tap := (kd*v.Kernel[1]+kh)*v.Kernel[2] + kw
				copyShifted(dst[tap*stride:tap*stride+v.Out[2]], src, kw*v.Dilation[2]-v.Pad[2])
			}
		}
	}
}

// copyShifted sets dst[i] to src[i+shift], 0 outside of src.
func copyShifted[T any](dst, src []T, shift int) {
	lo := min(len(dst), max(0, -shift))
	hi := max(lo, min(len(dst), len(src)-shift))
	clear(dst[:lo])
	if lo < hi {
		copy(dst[lo:hi], src[lo+shift:])
	}
	clear(dst[hi:])
}

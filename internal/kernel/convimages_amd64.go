//go:build amd64 && !noasm

package kernel

// paddedImages are what some lines of windows see, in lines that have zeros at
// both ends where windows reach over them.
type paddedImages[T Float] struct {
	data    []T
	line    int    // elements of a line
	first   [3]int // image, depth and height it begins at
	depths  int
	heights int
}

// at is where a line begins.
func (m *paddedImages[T]) at(n, d, h int) int {
	return (((n-m.first[0])*m.depths+d-m.first[1])*m.heights + h - m.first[2]) * m.line
}

// padImages returns what lines [lo, hi) of windows see: images x themselves if
// no window reaches over the ends of lines, else a copy in scratch memory. The
// lines are of one depth or of whole images.
func padImages[T Float](v *Conv, scratch *packed[T], x []T, lo, hi int) *paddedImages[T] {
	size := v.In[2] * v.InC
	if v.Pad[2] == 0 && v.width() <= v.In[2] {
		return &paddedImages[T]{data: x, line: size, depths: v.In[0], heights: v.In[1]}
	}
	n0, n1, d, h := v.seenBy(lo, hi)
	m := &paddedImages[T]{line: v.width() * v.InC, first: [3]int{n0, d[0], h[0]}, depths: d[1] - d[0], heights: h[1] - h[0]}
	// Windows that see nothing have an address, too.
	scratch.a = growAligned(scratch.a, max(1, (n1-n0)*m.depths*m.heights)*m.line)
	m.data = scratch.a
	for n := n0; n < n1; n++ {
		for i := d[0]; i < d[1]; i++ {
			for j := h[0]; j < h[1]; j++ {
				padLine(v, m.data[m.at(n, i, j):][:m.line], x[((n*v.In[0]+i)*v.In[1]+j)*size:][:size])
			}
		}
	}
	return m
}

// seenBy returns the images, depths and heights that lines [lo, hi) of windows
// see.
func (v *Conv) seenBy(lo, hi int) (n0, n1 int, d, h [2]int) {
	n0, od, oh := v.line(lo)
	if hi-lo > v.Out[1]-oh {
		return n0, n0 + ceilDiv(hi-lo, v.linesOut()), [2]int{0, v.In[0]}, [2]int{0, v.In[1]}
	}
	return n0, n0 + 1, v.seen(0, od, od), v.seen(1, oh, oh+hi-lo-1)
}

// seen returns the positions [lo, hi) along dimension i that windows first to
// last cover.
func (v *Window) seen(i, first, last int) [2]int {
	lo := max(0, first*v.Stride[i]-v.Pad[i])
	hi := min(v.In[i], last*v.Stride[i]-v.Pad[i]+(v.Kernel[i]-1)*v.Dilation[i]+1)
	return [2]int{lo, max(lo, hi)}
}

// padLine copies a line of an image between zeros.
func padLine[T Float](v *Conv, dst, src []T) {
	left := min(v.Pad[2]*v.InC, len(dst))
	clear(dst[:left])
	n := copy(dst[left:], src)
	clear(dst[left+n:])
}

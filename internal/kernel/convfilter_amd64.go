//go:build amd64 && !noasm

package kernel

// The gradient of a convolution for its filters is the product of the patches,
// transposed, with the gradient of the results. The blocked product packs
// pieces of its left side anyway: here they are packed from the images, so that
// the patches, as many times larger as a window has positions, never exist.

// backFilter computes it. Windows must have neighbouring positions side by side
// and all channels.
func (b *blocked[T]) backFilter(par Par, v *Conv, dw, x, dy []T) {
	pieces := v.filterPieces(len(dw))
	if pieces == 1 {
		b.backFilterOf(par, v, dw, x, dy, 0, v.Batch)
		return
	}
	others := make([]T, (pieces-1)*len(dw))
	par(pieces, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := dw
			if i > 0 {
				to = others[(i-1)*len(dw) : i*len(dw)]
			}
			b.backFilterOf(Serial, v, to, x, dy, i*v.Batch/pieces, (i+1)*v.Batch/pieces)
		}
	})
	for ; len(others) > 0; others = others[len(dw):] {
		Add(dw, dw, others[:len(dw)])
	}
}

// filterPieces is how many parts of the batch are summed up by themselves, for
// threads to share, if the filters are so small that their product has few
// tiles. It does not depend on the threads, nor do the sums.
func (v *Conv) filterPieces(filters int) int {
	const most, largest = 8, 256 << 10
	work := 2 * v.Batch * v.linesOut() * v.Out[2] * filters
	if filters > largest {
		return 1
	}
	return max(1, min(most, v.Batch, work/convFlops))
}

// backFilterOf does so for images [from, to).
func (b *blocked[T]) backFilterOf(par Par, v *Conv, dw, x, dy []T, from, to int) {
	scratch := b.scratch.Get().(*packed[T])
	defer b.scratch.Put(scratch)
	n, row := v.linesOut()*v.Out[2], v.Kernel[2]*v.InC
	p := padImages(v, scratch, x, from, to)
	g := Gemm{M: row, N: v.OutC, K: (to - from) * n, TransA: true, LDB: v.OutC, LDC: v.OutC}
	for kd := range v.Kernel[0] {
		for kh := range v.Kernel[1] {
			at := (kd*v.Kernel[1] + kh) * row * v.OutC
			b.multiply(par, g, dw[at:at+row*v.OutC], nil, dy[from*n*v.OutC:to*n*v.OutC], Epilogue[T]{}, p.packer(b.micro.pack, kd, kh))
		}
	}
}

// paddedImages are some images whose lines have zeros at both ends.
type paddedImages[T Float] struct {
	v    *Conv
	x    []T
	line int // elements
}

// padImages returns images [from, to) of x, in scratch memory if they need
// zeros.
func padImages[T Float](v *Conv, scratch *packed[T], x []T, from, to int) *paddedImages[T] {
	size := v.In[2] * v.InC
	x = x[from*v.linesIn()*size : to*v.linesIn()*size]
	if v.Pad[2] == 0 && v.width() <= v.In[2] {
		return &paddedImages[T]{v, x, size}
	}
	line, left := v.width()*v.InC, min(v.Pad[2], v.width())*v.InC
	scratch.a = growAligned(scratch.a, line*(to-from)*v.linesIn())
	out := &paddedImages[T]{v, scratch.a[:line*(to-from)*v.linesIn()], line}
	for dst := out.x; len(dst) > 0; dst, x = dst[line:], x[size:] {
		clear(dst[:left])
		n := copy(dst[left:line], x[:size])
		clear(dst[left+n : line])
	}
	return out
}

// packer returns the packing of the patches' transposed rows of one line of
// windows' positions: element (i, p) is what window p sees i elements from its
// left.
func (m *paddedImages[T]) packer(pack packer[T], kd, kh int) packA[T] {
	v := m.v
	return func(dst []T, i, h, p, n int) {
		for n > 0 {
			line, o := p/v.Out[2], p%v.Out[2]
			w := min(n, v.Out[2]-o)
			if src := m.lineOf(line, kd, kh); src != nil {
				pack.cols(h, w, src[o*v.Stride[2]*v.InC+i:], v.Stride[2]*v.InC, dst, h)
			} else {
				clear(dst[:w*h])
			}
			dst, p, n = dst[w*h:], p+w, n-w
		}
	}
}

// lineOf returns the line that a line of windows sees at one height, nil if it
// is outside of the image.
func (m *paddedImages[T]) lineOf(line, kd, kh int) []T {
	n, od, oh := m.v.line(line)
	d, inD := m.v.at(0, od, kd)
	h, inH := m.v.at(1, oh, kh)
	if !inD || !inH {
		return nil
	}
	return m.x[((n*m.v.In[0]+d)*m.v.In[1]+h)*m.line:]
}

//go:build amd64 && !noasm

package conv

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// The gradient of a convolution for its filters is the product of what the
// windows see, transposed, with the gradient of the results. Neighbouring
// windows of a line see columns of a matrix that lie a step of the window
// apart, lines of windows are runs of steps of k: nothing is copied but lines
// that need zeros at their ends.

// backFilter computes it.
func (b *engine[T]) backFilter(par kernel.Par, v *Conv, dw, x, dy []T) {
	// The assembly checks no bounds.
	_, _ = x[v.Batch*v.LinesIn()*v.In[2]*v.InC-1], dy[v.Batch*v.LinesOut()*v.Out[2]*v.OutC-1]
	scratch := b.scratch.Get().(*workspace[T])
	defer b.scratch.Put(scratch)
	f := filterTilesOf(v, b.micro.tileM)
	pieces := v.filterPieces(len(dw))
	scratch.b = tiles.GrowAligned(scratch.b, (pieces-1)*len(dw))
	others := scratch.b[:(pieces-1)*len(dw)]
	n := f.shares(v, pieces)
	par(pieces*n, 1, func(lo, hi int) {
		for lo < hi {
			piece, at := lo/n, lo%n
			end := min(hi, (piece+1)*n)
			to := dw
			if piece > 0 {
				to = others[(piece-1)*len(dw) : piece*len(dw)]
			}
			images := [2]int{piece * v.Batch / pieces, (piece + 1) * v.Batch / pieces}
			b.backFilterOf(v, f, to, x, dy, images, [2]int{at * f.count() / n, (at + end - lo) * f.count() / n})
			lo = end
		}
	})
	for ; len(others) > 0; others = others[len(dw):] {
		elementwise.Add(dw, dw, others[:len(dw)])
	}
}

// filterPieces is how many parts of the batch are summed up by themselves, for
// threads to share: as many as have so many windows that storing and adding
// their sums does not count. It does not depend on the threads, nor do the
// sums.
func (v *Conv) filterPieces(filters int) int {
	const most, windows = 8, 1 << 10
	n := v.Batch * v.LinesOut() * v.Out[2]
	return max(1, min(most, v.Batch, n/windows, 2*n*filters/convFlops))
}

// filterTiles cut the filters into rows of positions whose channels are side by
// side in lines of images, and these into tiles.
type filterTiles struct {
	tiles.Tiling     // of a row
	taps         int // of a row
	total        int // rows
}

func filterTilesOf(v *Conv, height int) filterTiles {
	taps := v.Kernel[2]
	if v.Groups > 1 || v.Dilation[2] > 1 {
		taps = 1
	}
	n := taps * v.groupC()
	return filterTiles{tiles.Cut(n, height), taps, v.Taps() / taps}
}

// count is the number of tiles.
func (f filterTiles) count() int { return f.total * f.Tiles }

// shares returns how many parts threads may share each piece in. Each part pads
// the images again: where there are pieces enough, they stay whole.
func (f filterTiles) shares(v *Conv, pieces int) int {
	const enough, parts = 4, 8
	if pieces >= enough {
		return 1
	}
	work := 2 * v.Batch * v.LinesOut() * v.Out[2] * v.Taps() * v.groupC() * v.OutC
	return max(1, min(f.count(), parts/pieces, work/pieces/convFlops))
}

// filterSums sums up some tiles of the filters' gradient over lines of windows.
type filterSums[T numeric.Float] struct {
	*engine[T]
	*Conv
	*workspace[T]
	filterTiles
	dw, dy []T
}

// backFilterOf sums up tiles [which[0], which[1]) over some images.
func (b *engine[T]) backFilterOf(v *Conv, f filterTiles, dw, x, dy []T, images, which [2]int) {
	p := b.scratch.Get().(*workspace[T])
	defer b.scratch.Put(p)
	s := &filterSums[T]{b, v, p, f, dw, dy}
	n := v.LinesOut()
	begin, end := images[0]*n, images[1]*n
	for lo := begin; lo < end; {
		hi := min(end, lo+v.sumLines(lo))
		s.block(x, lo, hi, which, min(1, lo-begin))
		lo = hi
	}
}

// sumSteps is about how many windows are summed up at a time.
const sumSteps = 512

// sumLines is how many lines of windows from lo on are summed up at a time: so
// many that the sums are rarely stored, and of one depth or of whole images.
func (v *Conv) sumLines(lo int) int {
	n := max(1, kernel.CeilDiv(sumSteps, v.Out[2]))
	if n >= v.LinesOut() {
		return n / v.LinesOut() * v.LinesOut()
	}
	left := v.Out[1] - lo%v.Out[1]
	return min(n, left)
}

// block adds lines [lo, hi) of windows, or sets to them with beta 0.
func (s *filterSums[T]) block(x []T, lo, hi int, which [2]int, beta int) {
	images := padImages(s.Conv, s.workspace, x, lo, hi)
	first := which[0] / s.Tiles
	s.listRuns(images, first, (which[1]-1)/s.Tiles+1, lo, hi)
	panel, outs := s.micro.panel(), s.groupOut()
	for g := range s.Groups {
		for j := 0; j < outs; j += panel {
			width, at := min(panel, outs-j), g*outs+j
			for i := which[0]; i < which[1]; i++ {
				r, t := i/s.Tiles, i%s.Tiles
				c, h := s.Tile(t)
				dst := &s.dw[(r*s.Rows+c)*s.OutC+at]
				s.micro.sumsTile(h, width)(s.lists.at(r-first, 0), &images.data[g*s.groupC()+c], s.Stride[2]*s.InC, &s.dy[at], s.OutC, dst, s.OutC, beta, nil, width, 0)
			}
		}
	}
}

// listRuns lists lines [lo, hi) of windows for some rows of the filters.
func (s *filterSums[T]) listRuns(m *paddedImages[T], first, last, lo, hi int) {
	size := elementSize[T]()
	s.lists.reset((hi-lo)*s.Out[2], (hi-lo)*s.Out[2])
	for r := first; r < last; r++ {
		s.lists.begin()
		kd, kh, kw := s.TapAt(r * s.taps)
		for i := lo; i < hi; i++ {
			n, od, oh := s.Line(i)
			d, inD := s.Conv.At(0, od, kd)
			if h, inH := s.Conv.At(1, oh, kh); inD && inH {
				a := m.at(n, d, h) + kw*s.Dilation[2]*s.InC
				s.lists.add(kRun{a * size, i * s.Out[2] * s.OutC * size, s.Out[2]}, 0, 0)
			}
		}
		s.lists.end()
	}
}

//go:build amd64 && !noasm

package conv

import (
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
)

// The gradient for filters of 3×3 sums up over tiles of 2×2 results what the points of images
// and of the results' gradient give, 16 products for each channel and output instead of 36:
//
//	V = Bᵀ·d·B,  Y = A·dy·Aᵀ,  U[p] = Σ V[p]ᵀ·Y[p] for 16 points p,  dw = Gᵀ·U·G
//
// Each tap is a sum over all 4×4 pixels of the tiles, those that it does not see cancel: to some roundings of the
// largest product, summed over the results.

// backFilter is ConvolveBackFilter.
func (b *winograd) backFilter(par kernel.Par, v *Conv, dw, x, dy []float32) {
	if !b.backFilterPays(v) || !b.sumTiles(par, v, dw, x, dy) {
		b.engine.backFilter(par, v, dw, x, dy)
	}
}

// sumTiles computes the gradient by tiles. It reports whether that is finite.
func (b *winograd) sumTiles(par kernel.Par, v *Conv, dw, x, dy []float32) bool {
	// The assembly checks no bounds.
	_, _ = x[v.Batch*v.LinesIn()*v.In[2]*v.InC-1], dy[v.Batch*v.LinesOut()*v.Out[2]*v.OutC-1]
	m := b.shared.get()
	defer b.shared.put(m)
	f := b.newFilterSums(v, m)
	f.x, f.dy = x, dy
	if f.pieces == 1 {
		f.addAll(par, m, 0)
	} else {
		par(f.pieces, 1, f.addPieces)
	}
	return f.store(par, dw)
}

// backFilterPays is pays for backFilter.
func (b *winograd) backFilterPays(v *Conv) bool {
	const perTile, overhead = 50, 115
	return b.cheaper(v, perTile, overhead)
}

// winogradFilterSums sums up the points of the filters' gradient, over groups of lines of tiles.
type winogradFilterSums struct {
	winogradTiling
	dy     []float32
	ldy    int       // elements from a tile to the next, of a point of the gradient of results
	pieces int       // parts of the lines that are summed up by themselves
	u      []float32 // the sums by piece, block and point [channels outputs]
	other  []float32 // takes the gradient of taps that there are not
}

// newFilterSums makes room for sums. The points of a group take three eighths of the second-level cache: more
// would be lost to what is read meanwhile. How many tiles that are, and
// how many pieces there are, depends on the shapes alone, and so does the order of the sums.
func (b *winograd) newFilterSums(v *Conv, m *winogradShared) *winogradFilterSums {
	const least, most = 64, 2 << 10
	f := &winogradFilterSums{winogradTiling: b.newTiling(v), ldy: pointRow(v.OutC)}
	n := min(most, max(least, 3*b.room/2/(winogradPoints*(f.ldv+f.ldy))))
	f.pieces = f.worthwhilePieces()
	lines := kernel.CeilDiv(f.count(), f.pieces)
	f.group = kernel.CeilDiv(lines, kernel.CeilDiv(lines, max(1, n/f.wide)))
	m.u = tiles.GrowAligned(m.u, f.pieces*f.uPiece())
	m.other = tiles.GrowAligned(m.other, v.InC*v.OutC)
	f.u, f.other = m.u, m.other
	return f
}

// worthwhilePieces is how many pieces there are for threads to share: as many as have so many tiles that adding their sums
// does not count, if the sums of enough of them find room. Otherwise threads share the points of one.
func (f *winogradFilterSums) worthwhilePieces() int {
	const most, each, enough, room = 8, 512, 4, 4 << 20
	n := min(most, f.count()*f.wide/each, f.count(), room/f.uPiece())
	if n < enough {
		return 1
	}
	return n
}

// uPoint is the number of elements from a point of the sums to the next, uPiece those of a piece.
func (f *winogradFilterSums) uPoint() int { return pointSize(f.InC * f.OutC) }

func (f *winogradFilterSums) uPiece() int { return len(f.blocks) * winogradPoints * f.uPoint() }

// uOf is the sums of a block in a piece.
func (f *winogradFilterSums) uOf(piece, block int) []float32 {
	return f.u[piece*f.uPiece()+block*winogradPoints*f.uPoint():]
}

// addPieces sums up pieces [lo, hi).
func (f *winogradFilterSums) addPieces(lo, hi int) {
	m := f.winograd.shared.get()
	defer f.winograd.shared.put(m)
	for piece := lo; piece < hi; piece++ {
		f.addAll(kernel.Serial, m, piece)
	}
}

// addAll sums up a piece.
func (f *winogradFilterSums) addAll(par kernel.Par, m *winogradShared, piece int) {
	n := f.group * f.wide
	m.v = tiles.GrowAligned(m.v, winogradPoints*pointSize(n*f.ldv))
	m.g = tiles.GrowAligned(m.g, winogradPoints*pointSize(n*f.ldy))
	begin, end := piece*f.count()/f.pieces, (piece+1)*f.count()/f.pieces
	for lo := begin; lo < end; lo += f.group {
		for block := range f.blocks {
			f.add(par, m, piece, block, lo, min(lo+f.group, end), min(lo-begin, 1))
		}
	}
}

// add adds what lines [lo, hi) of tiles give for a block, or sets its sums to that with beta 0.
func (f *winogradFilterSums) add(par kernel.Par, m *winogradShared, piece, block, lo, hi, beta int) {
	n := (hi - lo) * f.wide
	vPoint, gPoint := pointSize(n*f.ldv), pointSize(n*f.ldy)
	par(hi-lo, max(1, kernel.ElementGrain/winogradPoints/(f.wide*(f.InC+f.OutC))), func(i, end int) {
		s := f.winograd.scratch.Get().(*winogradScratch)
		defer f.winograd.scratch.Put(s)
		f.prepareLines(s)
		f.transformImages(s, block, m.v[i*f.wide*f.ldv:], vPoint, lo+i, lo+end)
		if block == 0 {
			f.transformGrads(s, m.g[i*f.wide*f.ldy:], gPoint, lo+i, lo+end)
		}
	})
	u := f.uOf(piece, block)
	par(winogradPoints, max(1, convFlops/(2*n*f.InC*f.OutC)), func(p, end int) {
		for ; p < end; p++ {
			f.addPoint(f.blocks[block].has(p), u[p*f.uPoint():], m.v[p*vPoint:], m.g[p*gPoint:], n, beta)
		}
	})
}

// transformGrads sets the points of the gradient of lines [lo, hi) of tiles, so many elements apart.
func (f *winogradFilterSums) transformGrads(s *winogradScratch, g []float32, point, lo, hi int) {
	for i := lo; i < hi; i++ {
		first, end := f.lines(i, i+1)
		l1 := &s.lines[4*f.padded()] // zeros
		l0 := f.grads(s, first, 0)
		if end-first == 2 {
			l1 = f.grads(s, first+1, 1)
		}
		f.winograd.grads(&g[(i-lo)*f.wide*f.ldy], point*floatBytes, (f.ldy-f.OutC)*floatBytes, l0, l1, f.OutC*floatBytes, f.OutC, f.wide)
	}
}

// grads returns a line of the results' gradient: of whole tiles, with zeros behind it if it is not.
func (f *winogradFilterSums) grads(s *winogradScratch, line, slot int) *float32 {
	n := f.Out[2] * f.OutC
	src := f.dy[line*n : (line+1)*n]
	if f.Out[2]%2 == 0 {
		return &src[0]
	}
	dst := s.other[slot*(n+f.OutC) : (slot+1)*(n+f.OutC)]
	clear(dst[copy(dst, src):])
	return &dst[0]
}

// addPoint adds the product of a point of n tiles to u, or sets u to it with beta 0. Points that are
// not needed are zero.
func (f *winogradFilterSums) addPoint(needed bool, u, v, g []float32, n, beta int) {
	if !needed {
		clear(u[:f.InC*f.OutC])
		return
	}
	const most = 512
	panel, cut, steps := f.micro.panel(), tiles.Cut(f.InC, f.micro.tileM), tiles.EqualBlocks(n, most)
	for k := 0; k < n; k += steps {
		runs := [2]kRun{{0, 0, min(steps, n-k)}}
		for j := 0; j < f.OutC; j += panel {
			width := min(panel, f.OutC-j)
			for i := range cut.Tiles {
				c, h := cut.Tile(i)
				f.micro.sumsTile(h, width)(&runs[0].a, &v[k*f.ldv+c], f.ldv, &g[k*f.ldy+j], f.ldy, &u[c*f.OutC+j], f.OutC, beta, nil, width, 0)
			}
		}
		beta = 1
	}
}

// store sets dw. It reports whether it is finite.
func (f *winogradFilterSums) store(par kernel.Par, dw []float32) bool {
	var bad atomic.Bool
	for block, b := range f.blocks {
		par(f.InC*f.OutC, kernel.ElementGrain/winogradPoints/f.pieces, func(lo, hi int) {
			var check [16]float32
			f.addUp(block, lo, hi)
			taps := f.taps(b, dw, lo, &f.other[lo])
			f.winograd.sums(&taps[0], &f.uOf(0, block)[lo], f.uPoint()*floatBytes, hi-lo, &check[0])
			if !zeros(check[:f.micro.lanes]) {
				bad.Store(true)
			}
		})
	}
	return !bad.Load()
}

// addUp adds the sums of all pieces to those of the first one, for elements [lo, hi) of the points of a block.
func (f *winogradFilterSums) addUp(block, lo, hi int) {
	first := f.uOf(0, block)
	for p := range winogradPoints {
		at := p * f.uPoint()
		sum := first[at+lo : at+hi]
		for piece := 1; piece < f.pieces; piece++ {
			elementwise.Add(sum, sum, f.uOf(piece, block)[at+lo:at+hi])
		}
	}
}

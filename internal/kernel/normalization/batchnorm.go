package normalization

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/columns"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
)

// BatchNorm describes the normalization of rows of C channels, each channel
// over all rows.
type BatchNorm struct {
	Rows, C int
	Epsilon float32
}

const (
	// normWidth columns fill the registers of a loop down columns. Rows of
	// fewer channels lie side by side.
	normWidth = 64
	// normColumns channels at most are summed up together, so that there are
	// many rows for every sum.
	normColumns = 256
	// normElements are worth a task, and a sum in float64 for every channel.
	normElements = 32 << 10
	// normRows are gone down at a time, and summed up in float32 one after the
	// other.
	normRows = 64
	// normPages is how many elements, about, rows may span that are gone down
	// at a time: more pages are not fetched ahead.
	normPages = 4 << 10
	// normFew is the least number of rows that pays for loading what belongs to
	// their columns.
	normFew = 8
	// normSample is the part of the rows of a chunk whose mean is subtracted
	// from all of them before they are summed up.
	normSample = 16
)

// side is how many rows lie side by side, a power of two.
func (b *BatchNorm) side() int {
	r := 1
	for 2*r*b.C <= normWidth && 2*r <= b.Rows {
		r *= 2
	}
	return r
}

// tile repeats what belongs to channels for rows side by side.
func (b *BatchNorm) tile(v []float32) []float32 {
	t := make([]float32, b.side()*b.C)
	fillTile(t, v)
	return t
}

// fillTile repeats v all over t.
func fillTile(t, v []float32) {
	for n := copy(t, v); n > 0 && n < len(t); n *= 2 {
		copy(t[n:], t[:n])
	}
}

// eachDown calls f for channels [c0, c1) of rows [lo, hi): some rows side by
// side at a time, then those that are left.
func (b *BatchNorm) eachDown(lo, hi, c0, c1 int, f func(at int, d columns.Down)) {
	side := b.side()
	n := min(normRows, max(normFew, normPages/max(1, side*b.C)))
	for ; hi-lo >= side; lo += n * side {
		n = min(n, (hi-lo)/side)
		f(lo*b.C+c0, columns.Down{Rows: n, Stride: side * b.C, Width: (side-1)*b.C + c1 - c0})
	}
	if lo < hi {
		f(lo*b.C+c0, columns.Down{Rows: hi - lo, Stride: b.C, Width: c1 - c0})
	}
}

// normGrid cuts rows and channels into chunks that are summed up by
// themselves. It depends on the shape only.
type normGrid struct {
	*BatchNorm
	rows, cols       int // of chunks
	chunkRows, width int // rows of a chunk, and the most channels
}

func (b *BatchNorm) grid() normGrid {
	g := normGrid{BatchNorm: b, cols: max(1, kernel.CeilDiv(b.C, normColumns))}
	g.width = kernel.CeilDiv(b.C, g.cols)
	side := b.side()
	g.chunkRows = side * max(1, normElements/max(1, side*g.width))
	g.rows = kernel.CeilDiv(b.Rows, g.chunkRows)
	return g
}

// normChunk is one of the grid, with memory for sums.
type normChunk struct {
	normGrid
	row, lo, hi, c0, c1 int
	buf                 []float32
	sum, square, about  []float32 // by column, rows side by side
}

// each calls f for each chunk.
func (g normGrid) each(par kernel.Par, f func(w *normChunk)) {
	par(g.rows*g.cols, 1, func(lo, hi int) {
		w := &normChunk{normGrid: g, buf: make([]float32, 3*g.side()*g.width)}
		for i := lo; i < hi; i++ {
			w.at(i)
			f(w)
		}
	})
}

// at moves to chunk i.
func (w *normChunk) at(i int) {
	w.row = i / w.cols
	w.lo, w.hi = w.row*w.chunkRows, min(w.Rows, (w.row+1)*w.chunkRows)
	w.c0, w.c1 = i%w.cols*w.C/w.cols, (i%w.cols+1)*w.C/w.cols
	n := w.side() * (w.c1 - w.c0)
	w.sum, w.square, w.about = w.buf[:n], w.buf[n:2*n], w.buf[2*n:3*n]
	clear(w.buf)
}

// fold returns the sum of channel c over the rows side by side.
func (w *normChunk) fold(x []float32, c int) (sum float64) {
	for i := c; i < len(x); i += w.c1 - w.c0 {
		sum += float64(x[i])
	}
	return sum
}

// center sets about to the means of the first rows.
func (w *normChunk) center(x []float32) {
	n := max(1, (w.hi-w.lo)/w.side()/normSample) * w.side()
	n = min(n, w.hi-w.lo)
	w.eachDown(w.lo, w.lo+n, w.c0, w.c1, func(at int, d columns.Down) { columns.Sums(d, w.sum, x[at:]) })
	mean := make([]float32, w.c1-w.c0)
	for c := range mean {
		mean[c] = float32(w.fold(w.sum, c) / float64(n))
	}
	fillTile(w.about, mean)
	clear(w.sum)
}

// moments sets, for the channels of the chunk, the sums of rows and of the
// squares of their distances from their mean.
func (w *normChunk) moments(sum, squares []float64, x []float32) {
	w.center(x)
	w.eachDown(w.lo, w.hi, w.c0, w.c1, func(at int, d columns.Down) { columns.Moments(d, w.sum, w.square, x[at:], w.about) })
	n := float64(w.hi - w.lo)
	for c := range w.c1 - w.c0 {
		s := w.fold(w.sum, c)
		sum[c] = s + n*float64(w.about[c])
		squares[c] = max(0, w.fold(w.square, c)-s*s/n)
	}
}

// Moments sets mean and variance (of the rows themselves, not an estimate from
// them) by channel.
func (b *BatchNorm) Moments(par kernel.Par, mean, variance, x []float32) {
	g := b.grid()
	sums, squares := make([]float64, g.rows*b.C), make([]float64, g.rows*b.C)
	g.each(par, func(w *normChunk) {
		at := w.row*b.C + w.c0
		w.moments(sums[at:], squares[at:], x)
	})
	n := float64(max(1, b.Rows))
	total := make([]float64, b.C)
	for i := range g.rows {
		elementwise.Add(total, total, sums[i*b.C:][:b.C])
	}
	for c := range mean {
		var square float64
		for i := range g.rows {
			rows := float64(min(g.chunkRows, b.Rows-i*g.chunkRows))
			off := sums[i*b.C+c]/rows - total[c]/n
			square += squares[i*b.C+c] + rows*off*off
		}
		mean[c], variance[c] = float32(total[c]/n), float32(square/n)
	}
}

// setFactors sets f to 1/sqrt(variance+epsilon) by channel.
func (b *BatchNorm) setFactors(f, variance []float32) {
	for c := range f {
		f[c] = float32(1 / math.Sqrt(float64(variance[c]+b.Epsilon)))
	}
}

// eachRows shares rows between threads.
func (b *BatchNorm) eachRows(par kernel.Par, f func(at int, d columns.Down)) {
	par(b.Rows, max(1, kernel.ElementGrain/max(1, b.C)), func(lo, hi int) { b.eachDown(lo, hi, 0, b.C, f) })
}

// Normalize sets y = (x-mean)/sqrt(variance+epsilon)·scale + offset.
func (b *BatchNorm) Normalize(par kernel.Par, y, x, scale, offset, mean, variance []float32) {
	f := make([]float32, b.C)
	b.Factors(f, scale, variance)
	b.Apply(par, y, x, mean, f, offset)
}

// Factors sets what rows are scaled by, scale/sqrt(variance+epsilon) by channel.
func (b *BatchNorm) Factors(f, scale, variance []float32) {
	b.setFactors(f[:b.C], variance)
	elementwise.Mul(f, f[:b.C], scale)
}

// Apply sets y = (x-mean)·factor + offset.
func (b *BatchNorm) Apply(par kernel.Par, y, x, mean, factor, offset []float32) {
	about, factor, shift := b.tile(mean), b.tile(factor), b.tile(offset)
	b.eachRows(par, func(at int, d columns.Down) { columns.Normalize(d, y[at:], x[at:], about, factor, shift) })
}

// Apply sets y = (x-mean)·factor + offset, each of which has an element for each of y's.
func Apply(y, x, mean, factor, offset []float32) {
	columns.Normalize(columns.Down{Rows: 1, Stride: len(y), Width: len(y)}, y, x, mean, factor, offset)
}

package kernel

import "math"

// BatchNorm describes the normalization of rows of C channels, each channel
// over all rows.
type BatchNorm struct {
	Rows, C int
	Epsilon float32
}

// normElements is how many elements are worked on at once: what belongs to
// channels is repeated to that length, so that loops are long even where there
// are few channels, and everything stays in the first cache.
const normElements = 2048

// blockRows is the number of rows of a block, a power of two.
func (b *BatchNorm) blockRows() int {
	r := 1
	for 2*r*b.C <= normElements && r < b.Rows {
		r *= 2
	}
	return r
}

// tile repeats what belongs to channels for the rows of a block.
func (b *BatchNorm) tile(v []float32) []float32 {
	t := make([]float32, b.blockRows()*b.C)
	fillTile(t, v)
	return t
}

// fillTile repeats v all over t.
func fillTile(t, v []float32) {
	for n := copy(t, v); n > 0 && n < len(t); n *= 2 {
		copy(t[n:], t[:n])
	}
}

// eachBlock calls f for the elements [at, at+n) of the blocks of rows [lo, hi):
// powers of two in number.
func (b *BatchNorm) eachBlock(lo, hi int, f func(at, n int)) {
	rows := b.blockRows()
	for lo < hi {
		for rows > hi-lo {
			rows /= 2
		}
		f(lo*b.C, rows*b.C)
		lo += rows
	}
}

// chunkRows is the number of rows whose sums are kept by themselves. They stay
// in the second cache, and depend on the number of rows only.
func (b *BatchNorm) chunkRows() int { return 8 * b.blockRows() }

// eachChunk calls f for each chunk of rows.
func (b *BatchNorm) eachChunk(par Par, f func(w *normWork, i, lo, hi int)) {
	rows := b.chunkRows()
	par(ceilQuo(b.Rows, rows), 1, func(lo, hi int) {
		w := &normWork{b.block(), b.block(), b.block()}
		for i := lo; i < hi; i++ {
			f(w, i, i*rows, min(b.Rows, (i+1)*rows))
		}
	})
}

// normWork is the memory for blocks: sums over those of a chunk, and what is
// subtracted from each.
type normWork struct{ sum, product, about []float32 }

func (b *BatchNorm) block() []float32 { return make([]float32, b.blockRows()*b.C) }

// foldRows adds the rows of x, a power of two in number, to acc: in halves, and
// what comes of them in float64, for batches may be large and their means far
// from 0. It overwrites x.
func (b *BatchNorm) foldRows(acc []float64, x []float32) {
	for len(x) > b.C {
		half := len(x) / 2
		Add(x[:half], x[:half], x[half:])
		x = x[:half]
	}
	for c, v := range x {
		acc[c] += float64(v)
	}
}

// chunkMoments are the sums of a chunk and of the squares of the distances from
// its mean.
type chunkMoments struct {
	rows         float64
	sum, squares []float64
}

// moments computes them for rows [lo, hi), which are in the cache the second
// time.
func (b *BatchNorm) moments(w *normWork, x []float32, lo, hi int) chunkMoments {
	m := chunkMoments{float64(hi - lo), make([]float64, b.C), make([]float64, b.C)}
	clear(w.sum)
	b.eachBlock(lo, hi, func(at, n int) { Add(w.sum[:n], w.sum[:n], x[at:at+n]) })
	b.foldRows(m.sum, w.sum)
	mean := make([]float32, b.C)
	for c := range mean {
		mean[c] = float32(m.sum[c] / m.rows)
	}
	fillTile(w.about, mean)
	clear(w.sum)
	b.eachBlock(lo, hi, func(at, n int) { addSquares(w.sum[:n], x[at:at+n], w.about) })
	b.foldRows(m.squares, w.sum)
	for c := range mean {
		off := m.sum[c]/m.rows - float64(mean[c]) // what rounding has taken from the mean
		m.squares[c] -= m.rows * off * off
	}
	return m
}

// Moments sets mean and variance (of the rows themselves, not an estimate from
// them) by channel.
func (b *BatchNorm) Moments(par Par, mean, variance, x []float32) {
	chunks := make([]chunkMoments, ceilQuo(b.Rows, b.chunkRows()))
	b.eachChunk(par, func(w *normWork, i, lo, hi int) { chunks[i] = b.moments(w, x, lo, hi) })
	n := float64(max(1, b.Rows))
	for c := range mean {
		var sum, squares float64
		for _, m := range chunks {
			sum += m.sum[c]
		}
		for _, m := range chunks {
			off := m.sum[c]/m.rows - sum/n
			squares += m.squares[c] + m.rows*off*off
		}
		mean[c], variance[c] = float32(sum/n), float32(squares/n)
	}
}

// factors returns 1/sqrt(variance+epsilon) by channel.
func (b *BatchNorm) factors(variance []float32) []float32 {
	f := make([]float32, b.C)
	for c := range f {
		f[c] = float32(1 / math.Sqrt(float64(variance[c]+b.Epsilon)))
	}
	return f
}

// Normalize sets y = (x-mean)/sqrt(variance+epsilon)·scale + offset.
func (b *BatchNorm) Normalize(par Par, y, x, scale, offset, mean, variance []float32) {
	f := b.factors(variance)
	Mul(f, f, scale)
	about, factor, shift := b.tile(mean), b.tile(f), b.tile(offset)
	par(b.Rows, b.rowGrain(), func(lo, hi int) {
		b.eachBlock(lo, hi, func(at, n int) { normalize(y[at:at+n], x[at:at+n], about, factor, shift) })
	})
}

func (b *BatchNorm) rowGrain() int { return max(1, ElementGrain/max(1, b.C)) }

// scaleSums returns by channel the sums of dy and of dy·(x-mean).
func (b *BatchNorm) scaleSums(par Par, dy, x, about []float32) (sum, product []float64) {
	chunks := make([][2][]float64, ceilQuo(b.Rows, b.chunkRows()))
	b.eachChunk(par, func(w *normWork, i, lo, hi int) {
		acc := [2][]float64{make([]float64, b.C), make([]float64, b.C)}
		clear(w.sum)
		clear(w.product)
		b.eachBlock(lo, hi, func(at, n int) { addProducts(w.sum[:n], w.product[:n], dy[at:at+n], x[at:at+n], about) })
		b.foldRows(acc[0], w.sum)
		b.foldRows(acc[1], w.product)
		chunks[i] = acc
	})
	sum, product = make([]float64, b.C), make([]float64, b.C)
	for _, c := range chunks {
		Add(sum, sum, c[0])
		Add(product, product, c[1])
	}
	return sum, product
}

// Grad computes the gradients of Normalize for x, scale and offset from that
// of y. Where mean and variance are those of x (training), x acts through
// them too.
func (b *BatchNorm) Grad(par Par, training bool, dx, dScale, dOffset, dy, x, scale, mean, variance []float32) {
	about := b.tile(mean)
	sum, product := b.scaleSums(par, dy, x, about)
	f := b.factors(variance)
	slope, shift, factor := make([]float32, b.C), make([]float32, b.C), make([]float32, b.C)
	for c := range f {
		dOffset[c], dScale[c] = float32(sum[c]), float32(product[c]*float64(f[c]))
		factor[c] = f[c] * scale[c]
		if n := float64(b.Rows); training {
			slope[c] = float32(product[c] / n * float64(f[c]) * float64(f[c]))
			shift[c] = float32(sum[c] / n)
		}
	}
	b.gradRows(par, dx, dy, x, about, b.tile(slope), b.tile(shift), b.tile(factor))
}

// gradRows sets dx = (dy - shift - (x-about)·slope)·factor.
func (b *BatchNorm) gradRows(par Par, dx, dy, x, about, slope, shift, factor []float32) {
	par(b.Rows, b.rowGrain(), func(lo, hi int) {
		b.eachBlock(lo, hi, func(at, n int) {
			normGrad(dx[at:at+n], dy[at:at+n], x[at:at+n], about, slope, shift, factor)
		})
	})
}

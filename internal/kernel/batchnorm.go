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
	t := make([]float32, 0, b.blockRows()*b.C)
	for range b.blockRows() {
		t = append(t, v...)
	}
	return t
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

// columnSums adds up by channel what fill computes for each element. Blocks
// depend on the number of rows only, and are added in halves; what comes of
// them is kept in float64: batches may be large, and their means far from 0.
func (b *BatchNorm) columnSums(par Par, fill func(dst []float32, at int)) []float64 {
	rows := 8 * b.blockRows()
	parts := make([][]float64, ceilQuo(b.Rows, rows))
	par(len(parts), 1, func(lo, hi int) {
		tmp := make([]float32, b.blockRows()*b.C)
		for i := lo; i < hi; i++ {
			acc := make([]float64, b.C)
			b.eachBlock(i*rows, min(b.Rows, (i+1)*rows), func(at, n int) {
				fill(tmp[:n], at)
				b.addRows(acc, tmp[:n])
			})
			parts[i] = acc
		}
	})
	total := make([]float64, b.C)
	for _, p := range parts {
		Add(total, total, p)
	}
	return total
}

// addRows adds the rows of x, a power of two in number, to acc. It overwrites x.
func (b *BatchNorm) addRows(acc []float64, x []float32) {
	for len(x) > b.C {
		half := len(x) / 2
		Add(x[:half], x[:half], x[half:])
		x = x[:half]
	}
	for c, v := range x {
		acc[c] += float64(v)
	}
}

// Moments sets mean and variance (of the rows themselves, not an estimate from
// them) by channel.
func (b *BatchNorm) Moments(par Par, mean, variance, x []float32) {
	n := float64(max(1, b.Rows))
	sum := b.columnSums(par, func(dst []float32, at int) { copy(dst, x[at:]) })
	for c := range mean {
		mean[c] = float32(sum[c] / n)
	}
	about := b.tile(mean)
	squares := b.columnSums(par, func(dst []float32, at int) {
		Sub(dst, x[at:at+len(dst)], about[:len(dst)])
		Square(dst, dst)
	})
	for c := range variance {
		off := sum[c]/n - float64(mean[c]) // what rounding has taken from the mean
		variance[c] = float32(squares[c]/n - off*off)
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
		b.eachBlock(lo, hi, func(at, n int) {
			dst := y[at : at+n]
			Sub(dst, x[at:at+n], about[:n])
			Mul(dst, dst, factor[:n])
			Add(dst, dst, shift[:n])
		})
	})
}

func (b *BatchNorm) rowGrain() int { return max(1, ElementGrain/max(1, b.C)) }

// scaleSums returns by channel the sums of dy and of dy·(x-mean).
func (b *BatchNorm) scaleSums(par Par, dy, x, about []float32) (sum, product []float64) {
	sum = b.columnSums(par, func(dst []float32, at int) { copy(dst, dy[at:]) })
	product = b.columnSums(par, func(dst []float32, at int) {
		Sub(dst, x[at:at+len(dst)], about[:len(dst)])
		Mul(dst, dst, dy[at:at+len(dst)])
	})
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
		through := make([]float32, len(about))
		b.eachBlock(lo, hi, func(at, n int) {
			t, dst := through[:n], dx[at:at+n]
			Sub(t, x[at:at+n], about[:n])
			Mul(t, t, slope[:n])
			Sub(dst, dy[at:at+n], shift[:n])
			Sub(dst, dst, t)
			Mul(dst, dst, factor[:n])
		})
	})
}

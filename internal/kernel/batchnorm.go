package kernel

import "math"

// BatchNorm describes the normalization of rows of C channels, each channel
// over all rows.
type BatchNorm struct {
	Rows, C int
	Epsilon float32
}

// columnSums adds up what f gives for each row, in blocks of rows that depend
// on their number only. Sums are kept in float64: batches may be large and
// their means far from 0.
func (b *BatchNorm) columnSums(par Par, sums int, f func(row int, acc [][]float64)) [][]float64 {
	const block = 256
	blocks := ceilQuo(b.Rows, block)
	parts := make([][][]float64, blocks)
	par(blocks, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			parts[i] = b.accumulators(sums)
			for r := i * block; r < min(b.Rows, (i+1)*block); r++ {
				f(r, parts[i])
			}
		}
	})
	total := b.accumulators(sums)
	for _, p := range parts {
		for s := range p {
			Add(total[s], total[s], p[s])
		}
	}
	return total
}

func (b *BatchNorm) accumulators(n int) [][]float64 {
	acc := make([][]float64, n)
	for i := range acc {
		acc[i] = make([]float64, b.C)
	}
	return acc
}

// Moments sets mean and variance (of the rows themselves, not an estimate from
// them) by channel.
func (b *BatchNorm) Moments(par Par, mean, variance, x []float32) {
	n := float64(max(1, b.Rows))
	sum := b.columnSums(par, 1, func(r int, acc [][]float64) {
		for c, v := range x[r*b.C : (r+1)*b.C] {
			acc[0][c] += float64(v)
		}
	})[0]
	MulScalar(sum, sum, 1/n)
	squares := b.columnSums(par, 1, func(r int, acc [][]float64) {
		for c, v := range x[r*b.C : (r+1)*b.C] {
			d := float64(v) - sum[c]
			acc[0][c] += d * d
		}
	})[0]
	for c := range mean {
		mean[c], variance[c] = float32(sum[c]), float32(squares[c]/n)
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
	par(b.Rows, b.rowGrain(), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row := y[r*b.C : (r+1)*b.C]
			Sub(row, x[r*b.C:(r+1)*b.C], mean)
			Mul(row, row, f)
			Add(row, row, offset)
		}
	})
}

func (b *BatchNorm) rowGrain() int { return max(1, ElementGrain/max(1, b.C)) }

// scaleSums returns by channel the sums of dy and of dy·(x-mean).
func (b *BatchNorm) scaleSums(par Par, dy, x, mean []float32) (sum, product []float64) {
	s := b.columnSums(par, 2, func(r int, acc [][]float64) {
		row := x[r*b.C : (r+1)*b.C]
		for c, d := range dy[r*b.C : (r+1)*b.C] {
			acc[0][c] += float64(d)
			acc[1][c] += float64(d) * float64(row[c]-mean[c])
		}
	})
	return s[0], s[1]
}

// Grad computes the gradients of Normalize for x, scale and offset from that
// of y. Where mean and variance are those of x (training), x acts through
// them too.
func (b *BatchNorm) Grad(par Par, training bool, dx, dScale, dOffset, dy, x, scale, mean, variance []float32) {
	sum, product := b.scaleSums(par, dy, x, mean)
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
	par(b.Rows, b.rowGrain(), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row, d := x[r*b.C:(r+1)*b.C], dy[r*b.C:(r+1)*b.C]
			for c := range row {
				dx[r*b.C+c] = (d[c] - shift[c] - (row[c]-mean[c])*slope[c]) * factor[c]
			}
		}
	})
}

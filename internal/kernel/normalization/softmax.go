package normalization

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Softmax sets every row of n elements of y to e^x / Σe^x.
func Softmax[T numeric.Float](par kernel.Par, y, x []T, n int) {
	rows(par, len(x), n, func(lo, hi int) {
		if !reduction.SoftmaxRows(y[lo:hi], x[lo:hi], n, nil, nil) {
			softmaxRows(y[lo:hi], x[lo:hi], n, nil, nil)
		}
	})
}

// softmaxRows is SoftmaxRows of package reduction, in terms of loops over one row.
func softmaxRows[T numeric.Float](y, x []T, n int, most, sums []T) {
	for r := 0; r*n < len(y); r++ {
		row := y[r*n : (r+1)*n]
		m := reduction.MaxOf(x[r*n : (r+1)*n])
		s := reduction.ExpShifted(row, x[r*n:(r+1)*n], m)
		elementwise.MulScalar(row, row, 1/s)
		if most != nil {
			most[r], sums[r] = m, s
		}
	}
}

// rowsAtOnce is how many rows are computed at a time where something is done to each after.
const rowsAtOnce = 32

// summed calls f for blocks of rows, at most rowsAtOnce, with room for the numbers of each.
func summed[T numeric.Float](par kernel.Par, total, n int, f func(lo, hi int, most, sums []T)) {
	rows(par, total, n, func(lo, hi int) {
		var most, sums [rowsAtOnce]T
		for ; lo < hi; lo += rowsAtOnce * n {
			end := min(hi, lo+rowsAtOnce*n)
			f(lo, end, most[:(end-lo)/n], sums[:(end-lo)/n])
		}
	})
}

// withSums is Softmax that gives the greatest element of each row and what it was divided by.
func withSums[T numeric.Float](y, x []T, n int, most, sums []T) {
	if !reduction.SoftmaxRows(y, x, n, most, sums) {
		softmaxRows(y, x, n, most, sums)
	}
}

// LogSoftmax sets every row of n elements of y to x - log Σe^x.
func LogSoftmax[T numeric.Float](par kernel.Par, y, x []T, n int) {
	summed(par, len(x), n, func(lo, hi int, most, sums []T) {
		withSums(y[lo:hi], x[lo:hi], n, most, sums)
		for r, s := range sums {
			at := lo + r*n
			subTwo(y[at:at+n], x[at:at+n], most[r], T(math.Log(float64(s))))
		}
	})
}

// subTwo sets y = x - a - b.
func subTwo[T numeric.Float](y, x []T, a, b T) {
	const short = 32 // elements take less time than calls
	if len(y) > short {
		elementwise.SubScalar(y, x, a)
		elementwise.SubScalar(y, y, b)
		return
	}
	x = x[:len(y)]
	for i, v := range x {
		y[i] = v - a - b
	}
}

// rows calls f for stretches of rows of n of total elements, as many as are worth a task.
func rows(par kernel.Par, total, n int, f func(lo, hi int)) {
	if n > 0 {
		par(total/n, max(1, kernel.MathGrain/n), func(lo, hi int) { f(lo*n, hi*n) })
	}
}

// SparseSoftmaxCrossEntropy sets, for every row of n logits, the loss
// log Σe^x - x[label] and its gradient softmax(x) - onehot(label). Rows whose
// label is out of range get NaN. BadIndex finds such labels. grad may be logits.
func SparseSoftmaxCrossEntropy[T numeric.Float, I numeric.Index](par kernel.Par, loss, grad, logits []T, labels []I, n int) {
	summed(par, len(logits), n, func(lo, hi int, most, sums []T) {
		loss, labels := loss[lo/n:hi/n], labels[lo/n:hi/n]
		for r, l := range labels {
			if uint64(l) < uint64(n) {
				loss[r] = logits[lo+r*n+int(l)]
			}
		}
		withSums(grad[lo:hi], logits[lo:hi], n, most, sums)
		for r, l := range labels {
			row := grad[lo+r*n : lo+(r+1)*n]
			if uint64(l) >= uint64(n) {
				kernel.Fill(row, T(math.NaN()))
				loss[r] = T(math.NaN())
				continue
			}
			loss[r] = T(math.Log(float64(sums[r]))) - (loss[r] - most[r])
			row[l]--
		}
	})
}

// SoftmaxCrossEntropy sets, for every row of n logits, the loss Σ p·(log Σe^x
// - x) and its gradient softmax(x) - p, for label distributions p.
func SoftmaxCrossEntropy[T numeric.Float](par kernel.Par, loss, grad, logits, labels []T, n int) {
	summed(par, len(logits), n, func(lo, hi int, most, sums []T) {
		withSums(grad[lo:hi], logits[lo:hi], n, most, sums)
		for r, s := range sums {
			at := lo + r*n
			loss[at/n] = denseLoss(logits[at:at+n], labels[at:at+n], most[r], T(math.Log(float64(s))))
		}
		elementwise.Sub(grad[lo:hi], grad[lo:hi], labels[lo:hi])
	})
}

// denseLoss is the loss of one row, whose greatest element is m.
func denseLoss[T numeric.Float](x, p []T, m, logSum T) (loss T) {
	p = p[:len(x)]
	for i, v := range x {
		if p[i] != 0 || v != v {
			loss += p[i] * (logSum - (v - m))
		}
	}
	return loss
}

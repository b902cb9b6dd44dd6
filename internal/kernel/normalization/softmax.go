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
		if !reduction.SoftmaxRows(y[lo:hi], x[lo:hi], n) {
			softmaxRows(y[lo:hi], x[lo:hi], n)
		}
	})
}

// softmaxRows is Softmax of rows, in terms of loops over one.
func softmaxRows[T numeric.Float](y, x []T, n int) {
	for ; len(y) > 0; y, x = y[n:], x[n:] {
		s := reduction.ExpShifted(y[:n], x[:n], reduction.MaxOf(x[:n]))
		elementwise.MulScalar(y[:n], y[:n], 1/s)
	}
}

// LogSoftmax sets every row of n elements of y to x - log Σe^x.
func LogSoftmax[T numeric.Float](par kernel.Par, y, x []T, n int) {
	eachRow(par, len(x), n, func(lo, hi int) {
		y, x := y[lo:hi], x[lo:hi]
		m := reduction.MaxOf(x)
		s := reduction.ExpShifted(y, x, m)
		elementwise.SubScalar(y, x, m)
		elementwise.SubScalar(y, y, T(math.Log(float64(s))))
	})
}

// eachRow calls f for every row of n of total elements.
func eachRow(par kernel.Par, total, n int, f func(lo, hi int)) {
	rows(par, total, n, func(lo, hi int) {
		for ; lo < hi; lo += n {
			f(lo, lo+n)
		}
	})
}

// rows calls f for stretches of rows of n of total elements, as many as are worth a task.
func rows(par kernel.Par, total, n int, f func(lo, hi int)) {
	if n > 0 {
		par(total/n, max(1, kernel.MathGrain/n), func(lo, hi int) { f(lo*n, hi*n) })
	}
}

// SparseSoftmaxCrossEntropy sets, for every row of n logits, the loss
// log Σe^x - x[label] and its gradient softmax(x) - onehot(label). Rows whose
// label is out of range get NaN. BadIndex finds such labels.
func SparseSoftmaxCrossEntropy[T numeric.Float, I numeric.Index](par kernel.Par, loss, grad, logits []T, labels []I, n int) {
	eachRow(par, len(logits), n, func(lo, hi int) {
		r := lo / n
		loss[r] = sparseRow(grad[lo:hi], logits[lo:hi], int(labels[r]))
	})
}

// sparseRow computes the gradient of one row and returns its loss.
func sparseRow[T numeric.Float](grad, x []T, label int) T {
	if label < 0 || label >= len(x) {
		kernel.Fill(grad, T(math.NaN()))
		return T(math.NaN())
	}
	m := reduction.MaxOf(x)
	at := x[label] - m
	s := reduction.ExpShifted(grad, x, m)
	elementwise.MulScalar(grad, grad, 1/s)
	loss := T(math.Log(float64(s))) - at
	grad[label]--
	return loss
}

// SoftmaxCrossEntropy sets, for every row of n logits, the loss Σ p·(log Σe^x
// - x) and its gradient softmax(x) - p, for label distributions p.
func SoftmaxCrossEntropy[T numeric.Float](par kernel.Par, loss, grad, logits, labels []T, n int) {
	eachRow(par, len(logits), n, func(lo, hi int) {
		loss[lo/n] = denseRow(grad[lo:hi], logits[lo:hi], labels[lo:hi])
	})
}

// denseRow computes the gradient of one row and returns its loss.
func denseRow[T numeric.Float](grad, x, p []T) T {
	m := reduction.MaxOf(x)
	s := reduction.ExpShifted(grad, x, m)
	logSum := T(math.Log(float64(s)))
	var loss T
	for i, v := range x {
		if p[i] != 0 || v != v {
			loss += p[i] * (logSum - (v - m))
		}
	}
	elementwise.MulScalar(grad, grad, 1/s)
	elementwise.Sub(grad, grad, p)
	return loss
}

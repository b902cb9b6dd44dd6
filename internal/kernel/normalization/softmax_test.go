package normalization

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// softmaxTwin returns e^x / Σe^x and log Σe^x.
func softmaxTwin[T numeric.Float](x []T) (p []float64, logSum float64) {
	top := math.Inf(-1)
	for _, v := range x {
		top = math.Max(top, float64(v))
	}
	sum := 0.0
	for _, v := range x {
		e := math.Exp(float64(v) - top)
		p = append(p, e)
		sum += e
	}
	for i := range p {
		p[i] /= sum
	}
	return p, top + math.Log(sum)
}

func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*(1+math.Abs(want))
}

var softmaxSizes = []struct{ rows, n int }{{1, 1}, {5, 10}, {3, 17}, {2, 1000}, {2, 5003}, {40, 3}}

func checkSoftmax[T numeric.Float](t *testing.T, tolerance float64) {
	t.Helper()
	for _, s := range softmaxSizes {
		x := kerneltest.Random[T](s.rows*s.n, 4)
		elementwise.MulScalar(x, x, 30)
		y, logY := make([]T, len(x)), make([]T, len(x))
		Softmax(kerneltest.Pieces, y, x, s.n)
		LogSoftmax(kerneltest.Pieces, logY, x, s.n)
		loss, grad := make([]T, s.rows), make([]T, len(x))
		labels := make([]int64, s.rows)
		for r := range labels {
			labels[r] = int64(r * 7 % s.n)
		}
		SparseSoftmaxCrossEntropy(kerneltest.Pieces, loss, grad, x, labels, s.n)
		for r := range s.rows {
			row := x[r*s.n : (r+1)*s.n]
			p, logSum := softmaxTwin(row)
			if want := logSum - float64(row[labels[r]]); !near(float64(loss[r]), want, tolerance) {
				t.Errorf("%T loss of %d classes: %v, want %v", loss[0], s.n, loss[r], want)
			}
			for i, v := range row {
				at := r*s.n + i
				g := p[i]
				if int64(i) == labels[r] {
					g--
				}
				if !near(float64(y[at]), p[i], tolerance) || !near(float64(logY[at]), float64(v)-logSum, tolerance) || !near(float64(grad[at]), g, tolerance) {
					t.Fatalf("%d classes: softmax %v want %v, log %v want %v, gradient %v want %v",
						s.n, y[at], p[i], logY[at], float64(v)-logSum, grad[at], g)
				}
			}
		}
	}
}

func TestSoftmax(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		checkSoftmax[float32](t, 1e-6)
		checkSoftmax[float64](t, 1e-14)
	})
}

func TestSoftmaxCrossEntropy(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		const rows, n = 4, 21
		x, labels := kerneltest.Random[float32](rows*n, 1), make([]float32, rows*n)
		for r := range rows {
			labels[r*n+r], labels[r*n+r+5] = 0.25, 0.75
		}
		loss, grad := make([]float32, rows), make([]float32, rows*n)
		SoftmaxCrossEntropy(kerneltest.Pieces, loss, grad, x, labels, n)
		for r := range rows {
			p, logSum := softmaxTwin(x[r*n : (r+1)*n])
			want := 0.25*(logSum-float64(x[r*n+r])) + 0.75*(logSum-float64(x[r*n+r+5]))
			if !near(float64(loss[r]), want, 1e-6) {
				t.Errorf("loss %v, want %v", loss[r], want)
			}
			for i := range n {
				if want := p[i] - float64(labels[r*n+i]); !near(float64(grad[r*n+i]), want, 1e-6) {
					t.Errorf("gradient %v, want %v", grad[r*n+i], want)
				}
			}
		}
	})
}

func TestSoftmaxBigLogits(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		x := []float32{1e30, 1e30, -1e30, 3e38, -3e38, 0}
		y := make([]float32, 6)
		Softmax(kernel.Serial, y, x, 3)
		for i, want := range []float32{0.5, 0.5, 0, 1, 0, 0} {
			if y[i] != want {
				t.Errorf("probability %d is %v, want %v", i, y[i], want)
			}
		}
	})
}

func TestCrossEntropyOfBadLabel(t *testing.T) {
	x, loss, grad := make([]float32, 6), make([]float32, 2), make([]float32, 6)
	SparseSoftmaxCrossEntropy(kernel.Serial, loss, grad, x, []int32{3, -1}, 3)
	for i, v := range append(loss, grad...) {
		if v == v {
			t.Errorf("element %d is %v, want NaN", i, v)
		}
	}
}

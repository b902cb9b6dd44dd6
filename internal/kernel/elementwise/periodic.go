package elementwise

import "github.com/gorge-tf/gorge/internal/kernel"

// periodicOf makes a loop of an assembly function that leaves the numbers which are too large
// for it as they are, and reports that: f does these. Its own results lie in [-1, 1], so what
// does not is such a number.
func periodicOf(loop func(y, x *float32, n int) int, f func(float64) float64) kernel.UnaryLoop {
	return func(y, x []float32) {
		for len(y) > 0 {
			n := min(len(y), kernel.VectorChunk)
			if loop(&y[0], &x[0], n) != 0 {
				mapOutside(y[:n], f)
			}
			y, x = y[n:], x[n:]
		}
	}
}

// mapOutside sets what is NaN or lies outside of [-1, 1] to f of it.
func mapOutside(y []float32, f func(float64) float64) {
	for i, v := range y {
		if !(v >= -1 && v <= 1) {
			y[i] = float32(f(float64(v)))
		}
	}
}

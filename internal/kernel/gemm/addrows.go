package gemm

import "github.com/gorge-tf/gorge/internal/numeric"

// AddRows adds n rows of b, which are ldb apart, to y, each times one of n elements of x, which
// are step apart: a row of a product, for so few rows that MatMul would take longer to begin.
func AddRows[T numeric.Number](y []T, n int, x []T, step int, b []T, ldb int) {
	if n == 0 || len(y) == 0 {
		return
	}
	_, _ = x[(n-1)*step], b[(n-1)*ldb+len(y)-1] // the assembly checks no bounds
	done := 0
	switch y := any(y).(type) {
	case []float32:
		if simd.addRows32 != nil {
			done = simd.addRows32(y, n, any(x).([]float32), step, any(b).([]float32), ldb)
		}
	case []float64:
		if simd.addRows64 != nil {
			done = simd.addRows64(y, n, any(x).([]float64), step, any(b).([]float64), ldb)
		}
	}
	if y = y[done:]; len(y) == 0 {
		return
	}
	for p := range n {
		by := x[p*step]
		for j, v := range b[p*ldb+done:][:len(y)] {
			y[j] += by * v
		}
	}
}

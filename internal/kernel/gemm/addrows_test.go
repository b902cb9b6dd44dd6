package gemm

import (
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// TestAddRows compares with sums in float64.
func TestAddRows(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, width := range kerneltest.Lengths {
			for rows := range 10 {
				checkAddRows[float32](t, width, rows, 1e-5)
				checkAddRows[float64](t, width, rows, 1e-13)
			}
		}
	})
}

func checkAddRows[T numeric.Float](t *testing.T, width, rows int, most float64) {
	t.Helper()
	const step = 3
	ldb := width + 5
	y := kerneltest.Random[T](width+1, 1)
	x, b, was := kerneltest.Random[T](rows*step+1, 2), kerneltest.Random[T](rows*ldb+1, 3), slices.Clone(y)
	AddRows(y[:width], rows, x, step, b, ldb)
	for j, v := range y {
		want := float64(was[j])
		for p := range rows {
			if j < width {
				want += float64(x[p*step]) * float64(b[p*ldb+j])
			}
		}
		if !(math.Abs(float64(v)-want) <= most) {
			t.Fatalf("element %d of %d with %d rows is %v, want %v", j, width, rows, v, want)
		}
	}
}

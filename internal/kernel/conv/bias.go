package conv

import (
	"math"
	"slices"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// biasApart returns e with a bias that may make results subnormal added by a loop of its own, with
// what follows: while a convolution takes subnormal numbers for 0, its loops would lose them.
func biasApart[T numeric.Float](e gemm.Epilogue[T]) gemm.Epilogue[T] {
	if !slices.ContainsFunc(e.Bias, small[T]) {
		return e
	}
	bias, then := e.Bias, e.Activate
	e.Bias = nil
	e.Activate = func(rows []T) {
		for row := range slices.Chunk(rows, len(bias)) {
			elementwise.Add(row, row, bias)
		}
		if then != nil {
			then(rows)
		}
	}
	return e
}

// small reports whether a sum of x and a normal number may be subnormal. Of greater x it is 0 or at
// least as large as what x has in its last place.
func small[T numeric.Float](x T) bool {
	least := 0x1p-960
	if unsafe.Sizeof(x) == 4 {
		least = 0x1p-100
	}
	return x != 0 && math.Abs(float64(x)) < least
}

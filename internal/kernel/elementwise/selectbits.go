package elementwise

import "github.com/gorge-tf/gorge/internal/kernel"

// selectBits sets z[i] to x[i] where c[i] holds and to y[i] elsewhere, without
// branches, which conditions without a pattern would make slow. It reports
// false, and does nothing, for elements that are no 4 or 8 plain bytes.
func selectBits[T any](z []T, c []bool, x, y []T) bool {
	switch any(z).(type) {
	case []float32, []int32, []uint32:
		n := selectVectors(kernel.Words[float32](z), kernel.Words[uint8](c), kernel.Words[float32](x), kernel.Words[float32](y))
		selectWords(kernel.Words[uint32](z[n:]), kernel.Words[uint8](c[n:]), kernel.Words[uint32](x[n:]), kernel.Words[uint32](y[n:]))
	case []float64, []int64, []uint64:
		selectWords(kernel.Words[uint64](z), kernel.Words[uint8](c), kernel.Words[uint64](x), kernel.Words[uint64](y))
	default:
		return false
	}
	return true
}

// selectVectors does so for as many elements as it returns.
func selectVectors(z []float32, c []uint8, x, y []float32) (done int) {
	if simd.selectWords == nil {
		return 0
	}
	for len(z)-done >= 16 {
		n := min(len(z)-done, kernel.VectorChunk) &^ 15
		simd.selectWords(&z[done], &c[done], &x[done:][:n][0], &y[done:][:n][0], n)
		done += n
	}
	return done
}

func selectWords[W uint32 | uint64](z []W, c []uint8, x, y []W) {
	c, x, y = c[:len(z)], x[:len(z)], y[:len(z)]
	for i := range z {
		mask := -W(c[i])
		z[i] = y[i] ^ (x[i]^y[i])&mask
	}
}

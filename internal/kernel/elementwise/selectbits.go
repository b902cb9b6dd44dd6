package elementwise

import "github.com/gorge-tf/gorge/internal/kernel"

// selectBits sets z[i] to x[i] where c[i] holds and to y[i] elsewhere, without
// branches, which conditions without a pattern would make slow. Where x or y has one
// element, that is repeated. It reports false, and does nothing, for elements that are
// no 4 or 8 plain bytes.
func selectBits[T any](z []T, c []bool, x, y []T) bool {
	switch any(z).(type) {
	case []float32, []int32, []uint32:
		selectWords(kernel.Words[uint32](z), kernel.Words[uint8](c), kernel.Words[uint32](x), kernel.Words[uint32](y))
	case []float64, []int64, []uint64:
		selectWords(kernel.Words[uint64](z), kernel.Words[uint8](c), kernel.Words[uint64](x), kernel.Words[uint64](y))
	default:
		return false
	}
	return true
}

func selectWords[W uint32 | uint64](z []W, c []uint8, x, y []W) {
	switch n := len(z); {
	case n == 0:
	case len(x) == n && len(y) == n:
		done := selectVectors(z, c, x, y)
		selectAny(z[done:], c[done:], x[done:], 1, y[done:], 1)
	case len(x) == n && &z[0] != &x[0]: // a loop may write to what it reads
		kernel.Fill(z, y[0])
		selectWords(z, c, x, z)
	case len(y) == n && &z[0] != &y[0]:
		kernel.Fill(z, x[0])
		selectWords(z, c, z, y)
	default:
		selectAny(z, c, x, min(1, len(x)-1), y, min(1, len(y)-1))
	}
}

// selectVectors does so for as many elements as it returns.
func selectVectors[W any](z []W, c []uint8, x, y []W) (done int) {
	zf, ok := any(z).([]uint32)
	if !ok || simd.selectWords == nil {
		return 0
	}
	words := func(v []W) []float32 { return kernel.Words[float32](v)[:len(zf)] }
	zs, xs, ys := words(z), words(x), words(y)
	for len(zs)-done >= 16 {
		n := min(len(zs)-done, kernel.VectorChunk) &^ 15
		simd.selectWords(&zs[done], &c[done], &xs[done], &ys[done], n)
		done += n
	}
	return done
}

// selectAny is the loop in Go; a step is 0 where an element is repeated.
func selectAny[W uint32 | uint64](z []W, c []uint8, x []W, xStep int, y []W, yStep int) {
	c = c[:len(z)]
	for i := range z {
		a, b := x[i*xStep], y[i*yStep]
		z[i] = b ^ (a^b)&-W(c[i])
	}
}

package elementwise

import "github.com/gorge-tf/gorge/internal/kernel"

// Blend sets z = v·x + w·y, with each product and the sum rounded: no multiplication is fused
// with the addition.
func Blend(z, x, y []float32, v, w float32) {
	x, y = x[:len(z)], y[:len(z)]
	if simd.blend == nil {
		for i, a := range x {
			z[i] = float32(v*a) + float32(w*y[i])
		}
		return
	}
	for len(z) > 0 {
		n := min(len(z), kernel.VectorChunk)
		simd.blend(&z[0], &x[0], &y[0], n, v, w)
		z, x, y = z[n:], x[n:], y[n:]
	}
}

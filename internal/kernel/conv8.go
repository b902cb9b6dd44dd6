package kernel

import "github.com/gorge-tf/gorge/internal/memory"

// Convolve8 computes y from images x and filters w as MatMul8 does a product.
// Positions outside of an image count as zero.
func Convolve8[A, B Byte](par Par, v *Conv, y []int32, x Bytes[A], w Bytes[B]) {
	switch n := v.taps() * v.groupC(); {
	case exact(x, w, n, 1<<24):
		convolve8In[float32](par, v, y, x, w)
	case exact(x, w, n, 1<<53):
		convolve8In[float64](par, v, y, x, w)
	default:
		Convolve(par, v, y, distances[int32](par, x), distances[int32](par, w), Epilogue[int32]{})
	}
}

func convolve8In[F Float, A, B Byte](par Par, v *Conv, y []int32, x Bytes[A], w Bytes[B]) {
	sums := memory.Make[F](len(y))
	Convolve(par, v, sums, distances[F](par, x), distances[F](par, w), Epilogue[F]{})
	wrapped(par, y, sums)
}

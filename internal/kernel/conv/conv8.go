package conv

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Convolve8 computes y from images x and filters w as MatMul8 does a product.
// Positions outside of an image count as zero.
func Convolve8[A, B gemm.Byte](par kernel.Par, v *Conv, y []int32, x gemm.Bytes[A], w gemm.Bytes[B]) {
	switch n := v.Taps() * v.groupC(); {
	case gemm.Exact(x, w, n, 1<<24):
		convolve8In[float32](par, v, y, x, w)
	case gemm.Exact(x, w, n, 1<<53):
		convolve8In[float64](par, v, y, x, w)
	default:
		Convolve(par, v, y, gemm.Distances[int32](par, x), gemm.Distances[int32](par, w), gemm.Epilogue[int32]{})
	}
}

func convolve8In[F numeric.Float, A, B gemm.Byte](par kernel.Par, v *Conv, y []int32, x gemm.Bytes[A], w gemm.Bytes[B]) {
	sums, plain := memory.Make[F](len(y)), *v
	plain.Plain = true
	Convolve(par, &plain, sums, gemm.Distances[F](par, x), gemm.Distances[F](par, w), gemm.Epilogue[F]{})
	gemm.Wrapped(par, y, sums)
}

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
	room, loan := memory.Lend[F](len(x.Data) + len(w.Data) + len(y))
	images, filters, sums := room[:len(x.Data)], room[len(x.Data):][:len(w.Data)], room[len(x.Data)+len(w.Data):]
	gemm.SetDistances(par, images, x)
	gemm.SetDistances(par, filters, w)
	plain := *v
	plain.Plain = true
	Convolve(par, &plain, sums, images, filters, gemm.Epilogue[F]{})
	gemm.Wrapped(par, y, sums)
	loan.Return()
}

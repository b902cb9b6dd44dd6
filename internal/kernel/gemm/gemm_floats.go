package gemm

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// floatsLeast additions and multiplications are worth copies of the operands.
const floatsLeast = 1 << 14

// byFloats computes a product of integers or complex numbers, if it can, by products of floats,
// which vector instructions compute.
func byFloats[T numeric.Number](par kernel.Par, g Gemm, c, a, b []T) bool {
	if simd.product32 == nil || g.operations() < floatsLeast || g != NewGemm(g.M, g.N, g.K, g.TransA, g.TransB) {
		return false
	}
	a, b, c = a[:g.M*g.K], b[:g.K*g.N], c[:g.M*g.N]
	switch c := any(c).(type) {
	case []int32:
		return wholeProduct(par, g, c, any(a).([]int32), any(b).([]int32))
	case []complex64:
		complexProduct(par, g, parted[float32](c), parted[float32](a), parted[float32](b))
		return true
	case []complex128:
		complexProduct(par, g, parted[float64](c), parted[float64](a), parted[float64](b))
		return true
	}
	return false
}

// wholeProduct multiplies integers whose sums a float holds exactly.
func wholeProduct(par kernel.Par, g Gemm, c, a, b []int32) bool {
	switch most := reach(a) * reach(b) * float64(g.K); {
	case most < 1<<24:
		productAs(par, g, a, b, len(c), func(sums []float32) {
			par(len(c), kernel.ElementGrain, func(lo, hi int) { elementwise.Cast(c[lo:hi], sums[lo:hi]) })
		})
	case most < 1<<53:
		productAs(par, g, a, b, len(c), func(sums []float64) { Wrapped(par, c, sums) })
	default:
		return false
	}
	return true
}

// reach returns the greatest absolute value.
func reach(x []int32) float64 {
	least, most := int32(0), int32(0)
	for _, v := range x {
		least, most = min(least, v), max(most, v)
	}
	return max(-float64(least), float64(most))
}

// productAs gives f the product of n elements, computed in F.
func productAs[F numeric.Float](par kernel.Par, g Gemm, a, b []int32, n int, f func(sums []F)) {
	all, loan := memory.Lend[F](len(a) + len(b) + n)
	x, y, sums := all[:len(a)], all[len(a):len(a)+len(b)], all[len(a)+len(b):]
	castAll(par, x, a)
	castAll(par, y, b)
	MatMul(par, g, sums, x, y, Epilogue[F]{})
	f(sums)
	loan.Return()
}

//go:noinline
func castAll[F numeric.Float](par kernel.Par, y []F, x []int32) {
	par(len(y), kernel.ElementGrain, func(lo, hi int) { elementwise.Cast(y[lo:hi], x[lo:hi]) })
}

// parted views complex numbers as their parts, one after the other.
func parted[F numeric.Float, T numeric.Number](x []T) []F {
	return unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}

// complexProduct makes four products of parts.
func complexProduct[F numeric.Float](par kernel.Par, g Gemm, c, a, b []F) {
	all, loan := memory.Lend[F](len(a) + len(b) + len(c))
	reA, imA := split(par, a, all)
	reB, imB := split(par, b, all[len(a):])
	re, im := all[len(a)+len(b):][:len(c)/2], all[len(a)+len(b)+len(c)/2:]
	add := g
	add.Accumulate = true
	MatMul(par, g, im, reA, imB, Epilogue[F]{})
	MatMul(par, add, im, imA, reB, Epilogue[F]{})
	MatMul(par, g, re, reA, reB, Epilogue[F]{})
	elementwise.Neg(imA, imA)
	MatMul(par, add, re, imA, imB, Epilogue[F]{})
	par(len(re), kernel.ElementGrain, func(lo, hi int) {
		z := c[2*lo : 2*hi]
		for i, v := range re[lo:hi] {
			z[2*i], z[2*i+1] = v, im[lo+i]
		}
	})
	loan.Return()
}

// split puts the parts of complex numbers into room, apart.
//
//go:noinline
func split[F numeric.Float](par kernel.Par, x, room []F) (re, im []F) {
	re, im = room[:len(x)/2], room[len(x)/2:len(x)]
	par(len(re), kernel.ElementGrain, func(lo, hi int) {
		z := x[2*lo : 2*hi]
		for i := range re[lo:hi] {
			re[lo+i], im[lo+i] = z[2*i], z[2*i+1]
		}
	})
	return re, im
}

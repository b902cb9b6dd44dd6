package gemm

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Byte lists the integers of 8 bits.
type Byte interface{ int8 | uint8 }

// Bytes are numbers of 8 bits that stand for their distance from Zero.
type Bytes[Q Byte] struct {
	Data []Q
	Zero int32
}

// reach returns the greatest distance there can be.
func (x Bytes[Q]) reach() float64 {
	lo, hi, zero := float64(numeric.Lowest[Q]()), float64(numeric.Highest[Q]()), float64(x.Zero)
	return max(zero-lo, hi-zero)
}

// Exact reports whether sums of n products of a's and b's distances, in any
// order, are below a limit: 2 to the number of bits a floating-point type has.
func Exact[A, B Byte](a Bytes[A], b Bytes[B], n int, limit float64) bool {
	return a.reach()*b.reach()*float64(n) < limit
}

// matMul8Naive defines the product.
func matMul8Naive[A, B Byte](g Gemm, c []int32, a Bytes[A], b Bytes[B]) {
	for i := range g.M {
		for j := range g.N {
			var sum int32
			for k := range g.K {
				sum += (int32(a.Data[g.indexA(i, k)]) - a.Zero) * (int32(b.Data[g.indexB(k, j)]) - b.Zero)
			}
			c[i*g.LDC+j] = sum
		}
	}
}

// MatMul8 computes the product g of a and b into c. Sums that do not fit wrap
// around. They are computed in floating point where that is exact: there the
// vector instructions are.
func MatMul8[A, B Byte](par kernel.Par, g Gemm, c []int32, a Bytes[A], b Bytes[B]) {
	switch {
	case Exact(a, b, g.K, 1<<24):
		matMul8In[float32](par, g, c, a, b)
	case Exact(a, b, g.K, 1<<53):
		matMul8In[float64](par, g, c, a, b)
	default:
		MatMul(par, g, c, Distances[int32](par, a), Distances[int32](par, b), Epilogue[int32]{})
	}
}

func matMul8In[F numeric.Float, A, B Byte](par kernel.Par, g Gemm, c []int32, a Bytes[A], b Bytes[B]) {
	room, loan := memory.Lend[F](len(a.Data) + len(b.Data) + len(c))
	x, y, sums := room[:len(a.Data)], room[len(a.Data):][:len(b.Data)], room[len(a.Data)+len(b.Data):]
	SetDistances(par, x, a)
	SetDistances(par, y, b)
	MatMul(par, g, sums, x, y, Epilogue[F]{})
	Wrapped(par, c, sums)
	loan.Return()
}

// Distances returns what the numbers of x stand for.
func Distances[T int32 | float32 | float64, Q Byte](par kernel.Par, x Bytes[Q]) []T {
	y := memory.Make[T](len(x.Data))
	SetDistances(par, y, x)
	return y
}

// SetDistances sets y to what the numbers of x stand for.
//
//go:noinline
func SetDistances[T int32 | float32 | float64, Q Byte](par kernel.Par, y []T, x Bytes[Q]) {
	par(len(y), kernel.ElementGrain, func(lo, hi int) {
		src := x.Data[lo:hi]
		for i, v := range src {
			y[lo+i] = T(int32(v) - x.Zero)
		}
	})
}

// Wrapped sets y to whole numbers x, as many of their bits as fit.
func Wrapped[F numeric.Float](par kernel.Par, y []int32, x []F) {
	par(len(y), kernel.ElementGrain, func(lo, hi int) {
		for i, v := range x[lo:hi] {
			y[lo+i] = int32(int64(v))
		}
	})
}

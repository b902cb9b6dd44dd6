package elementwise

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// DivInt sets z = x / y, truncated, and 0 where y is 0.
func DivInt[T numeric.Integer](z, x, y []T) {
	if !onInts(divInts, z, x, y) {
		divInt(z, x, y)
	}
}

// ModInt sets z to the remainder of the truncated division, with the sign of
// x, and to 0 where y is 0.
func ModInt[T numeric.Integer](z, x, y []T) {
	if !onInts(modInts, z, x, y) {
		modInt(z, x, y)
	}
}

// FloorDivInt sets z = x / y rounded towards minus infinity, and 0 where y
// is 0.
func FloorDivInt[T numeric.Integer](z, x, y []T) {
	if !onInts(floorDivInts, z, x, y) {
		floorDivInt(z, x, y)
	}
}

// FloorModInt sets z to the remainder of the floored division, with the sign
// of y, and to 0 where y is 0.
func FloorModInt[T numeric.Integer](z, x, y []T) {
	if !onInts(floorModInts, z, x, y) {
		floorModInt(z, x, y)
	}
}

// The loops that define the divisions.

func divInt[T numeric.Integer](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T {
		if b == 0 {
			return 0
		}
		return a / b
	})
}

func modInt[T numeric.Integer](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T {
		if b == 0 {
			return 0
		}
		return a % b
	})
}

func floorDivInt[T numeric.Integer](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T {
		if b == 0 {
			return 0
		}
		q := a / b
		if a%b != 0 && (a < 0) != (b < 0) {
			q--
		}
		return q
	})
}

func floorModInt[T numeric.Integer](z, x, y []T) {
	kernel.Zip(z, x, y, func(a, b T) T {
		if b == 0 {
			return 0
		}
		r := a % b
		if r != 0 && (r < 0) != (b < 0) {
			r += b
		}
		return r
	})
}

// intLoops are an operation for the integers that the processor divides as float64.
type intLoops struct {
	i32 func(z, x, y []int32)
	i64 func(z, x, y []int64)
}

// Without vectors the branches on signs, which are as good as random, are worth avoiding.
var (
	divInts = intLoops{
		func(z, x, y []int32) { quotients32(simd.quotient32, divInt[int32], z, x, y) },
		func(z, x, y []int64) { quotients64(simd.quotient64, divInt[int64], z, x, y) },
	}
	floorDivInts = intLoops{
		func(z, x, y []int32) { quotients32(simd.floorQuotient32, floorDivInt[int32], z, x, y) },
		func(z, x, y []int64) { quotients64(simd.floorQuotient64, floorDivInt[int64], z, x, y) },
	}
	modInts = intLoops{
		func(z, x, y []int32) { wholeRemainders(simd.quotient32 != nil, divInts.i32, modInt, z, x, y) },
		func(z, x, y []int64) { wholeRemainders(simd.quotient64 != nil, divInts.i64, modInt, z, x, y) },
	}
	floorModInts = intLoops{
		func(z, x, y []int32) { wholeRemainders(simd.quotient32 != nil, floorDivInts.i32, floorMods, z, x, y) },
		func(z, x, y []int64) { wholeRemainders(simd.quotient64 != nil, floorDivInts.i64, floorMods, z, x, y) },
	}
)

func onInts[T numeric.Integer](l intLoops, z, x, y []T) bool {
	switch z := any(z).(type) {
	case []int32:
		l.i32(z, any(x).([]int32)[:len(z)], any(y).([]int32)[:len(z)])
	case []int64:
		l.i64(z, any(x).([]int64)[:len(z)], any(y).([]int64)[:len(z)])
	default:
		return false
	}
	return true
}

// quotients32 sets z by a loop over vectors and what that leaves by plain. A division of float64
// takes a fraction of the time of one of integers.
func quotients32(loop func(z, x, y *int32, n int), plain func(z, x, y []int32), z, x, y []int32) {
	for loop != nil && len(z) >= 16 {
		n := min(len(z)&^15, kernel.VectorChunk)
		loop(&z[0], &x[0], &y[0], n)
		z, x, y = z[n:], x[n:], y[n:]
	}
	plain(z, x, y)
}

// quotients64 is quotients32 where plain computes the blocks, too, that have numbers of many bits.
func quotients64(loop func(z, x, y *int64, n int) (done int), plain func(z, x, y []int64), z, x, y []int64) {
	const block = 64
	for loop != nil && len(z) >= 8 {
		n := loop(&z[0], &x[0], &y[0], min(len(z)&^7, kernel.VectorChunk))
		if n < min(len(z)&^7, kernel.VectorChunk) {
			long := min(len(z), n+block)
			plain(z[n:long], x[n:long], y[n:long])
			n = long
		}
		z, x, y = z[n:], x[n:], y[n:]
	}
	plain(z, x, y)
}

// wholeRemainders sets z to what a division leaves, whose quotients lie in the first-level cache, or by
// plain if that is not to be.
func wholeRemainders[T int32 | int64](quick bool, divide, plain func(z, x, y []T), z, x, y []T) {
	if !quick || len(z) < 16 {
		plain(z, x, y)
		return
	}
	words := int(unsafe.Sizeof(T(0))) / 4
	EachBlock(len(z)*words, func(lo, hi int, buf []float32) {
		lo, hi = lo/words, hi/words
		q := unsafe.Slice((*T)(unsafe.Pointer(&buf[0])), hi-lo)
		divide(q, x[lo:hi], y[lo:hi])
		z, x, y := z[lo:hi][:len(q)], x[lo:hi][:len(q)], y[lo:hi][:len(q)]
		for i, q := range q {
			r, b := x[i]-q*y[i], y[i]
			if b == 0 {
				r = 0
			}
			z[i] = r
		}
	})
}

// floorMods is floorModInt without branches on the signs, which are as good as random.
func floorMods[T int32 | int64](z, x, y []T) {
	sign := 8*unsafe.Sizeof(T(0)) - 1
	x, y = x[:len(z)], y[:len(z)]
	for i, a := range x {
		b, r := y[i], T(0)
		if b != 0 {
			r = a % b
		}
		other, some := (r^b)>>sign, (r|-r)>>sign // all ones if the signs differ, and if r is not 0
		z[i] = r + b&other&some
	}
}

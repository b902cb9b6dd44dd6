package reduction

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/columns"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// sumRun elements are added one after the other, in four sums that do not wait
// for each other; longer runs are halved.
const sumRun = 128

// Sum adds up x in pairs of halves, so that the rounding error grows with the
// logarithm of the length.
func Sum[T numeric.Number](x []T) T {
	if simd.sum != nil {
		if xf, ok := kernel.AsFloat32(x); ok {
			s, _ := any(sumF32(xf)).(T)
			return s
		}
	}
	return pairwiseSum(x)
}

// sumF32Chunk elements are one call of the vector loop, which keeps 64 partial
// sums.
const sumF32Chunk = 4096

// sumF32 halves long runs at multiples of the chunk.
func sumF32(x []float32) float32 {
	if len(x) <= sumF32Chunk {
		return simd.sum(x)
	}
	chunks := (len(x) + sumF32Chunk - 1) / sumF32Chunk
	h := chunks / 2 * sumF32Chunk
	return sumF32(x[:h]) + sumF32(x[h:])
}

func pairwiseSum[T numeric.Number](x []T) T {
	if len(x) <= sumRun {
		return sumInOrder(x)
	}
	h := len(x) / 2
	return pairwiseSum(x[:h]) + pairwiseSum(x[h:])
}

func sumInOrder[T numeric.Number](x []T) T {
	var s0, s1, s2, s3 T
	for ; len(x) >= 4; x = x[4:] {
		s0 += x[0]
		s1 += x[1]
		s2 += x[2]
		s3 += x[3]
	}
	for _, v := range x {
		s0 += v
	}
	return (s0 + s1) + (s2 + s3)
}

// SumFold returns the fold of Sum.
func SumFold[T numeric.Number]() Fold[T] {
	f := Fold[T]{
		Join: func(a, b T) T { return a + b },
		Run:  Sum[T],
		Rows: func(acc, x []T) { elementwise.Add(acc, acc, x) },
	}
	if run, ok := any(sumInts).(func(x []T) T); ok {
		f.Run = run
		f.Rows, _ = any(addRowOfInts).(func(acc, x []T))
	}
	if columns.HasVectorSums() {
		f.Down, _ = any(sumDown).(func(acc, x []T, rows, stride int))
	}
	return f
}

// intLanes sums of int32 are made side by side.
const intLanes = 256

var addInts = elementwise.AddLoops[int32]().Zip

// sumInts adds up x, if there are enough of them by loops over vectors. The order of integers
// does not matter.
func sumInts(x []int32) (s int32) {
	if len(x) < 2*intLanes {
		return pairwiseSum(x)
	}
	elementwise.EachBlock(intLanes, func(_, _ int, buf []float32) {
		sums := unsafe.Slice((*int32)(unsafe.Pointer(&buf[0])), intLanes)
		addInts(sums, x, x[intLanes:])
		for x = x[2*intLanes:]; len(x) > 0; x = x[min(len(x), intLanes):] {
			k := min(len(x), intLanes)
			addInts(sums[:k], sums, x)
		}
		for n := intLanes / 2; n >= 32; n /= 2 {
			addInts(sums[:n], sums, sums[n:])
		}
		s = sumInOrder(sums[:32])
	})
	return s
}

func addRowOfInts(acc, x []int32) { addInts(acc, acc, x) }

// sumDown adds rows of x that are stride apart to acc, in order.
func sumDown(acc, x []float32, rows, stride int) {
	columns.Sums(columns.Down{Rows: rows, Stride: stride, Width: len(acc)}, acc, x)
}

// ProdFold returns the fold that multiplies.
func ProdFold[T numeric.Number]() Fold[T] {
	f := Fold[T]{
		Init: 1,
		Join: func(a, b T) T { return a * b },
		Run:  prod[T],
		Rows: func(acc, x []T) { elementwise.Mul(acc, acc, x) },
	}
	if run, ok := any(prodF32).(func(x []T) T); ok {
		f.Run = run
	}
	return f
}

func prod[T numeric.Number](x []T) T {
	p := T(1)
	for _, v := range x {
		p *= v
	}
	return p
}

// prodLanes products of float32 are made side by side.
const prodLanes = 256

// prodF32 multiplies the elements of x, if there are enough of them, by vector loops: those that
// lie prodLanes apart first and then halves of these products.
func prodF32(x []float32) (p float32) {
	if len(x) < 2*prodLanes {
		return prod(x)
	}
	elementwise.EachBlock(prodLanes, func(_, _ int, acc []float32) {
		elementwise.Mul(acc, x, x[prodLanes:])
		for x = x[2*prodLanes:]; len(x) >= prodLanes; x = x[prodLanes:] {
			elementwise.Mul(acc, acc, x)
		}
		elementwise.Mul(acc[:len(x)], acc, x)
		for n := prodLanes / 2; n >= 64; n /= 2 {
			elementwise.Mul(acc[:n], acc, acc[n:])
		}
		four := [4]float32{1, 1, 1, 1}
		for i := 0; i < 64; i += 4 { // products that do not wait for each other
			for k := range four {
				four[k] *= acc[i+k]
			}
		}
		p = (four[0] * four[1]) * (four[2] * four[3])
	})
	return p
}

// MaxFold returns the fold to the greatest element, NaN if there is one. The
// greatest of nothing is -Inf or the least integer.
func MaxFold[T numeric.Real]() Fold[T] {
	return Fold[T]{Init: numeric.Lowest[T](), Join: elementwise.GreaterOf[T], Run: MaxOf[T], Rows: func(acc, x []T) { elementwise.Max(acc, acc, x) }}
}

// MinFold returns the fold to the least element, NaN if there is one. The
// least of nothing is +Inf or the greatest integer.
func MinFold[T numeric.Real]() Fold[T] {
	return Fold[T]{Init: numeric.Highest[T](), Join: elementwise.LesserOf[T], Run: minOf[T], Rows: func(acc, x []T) { elementwise.Min(acc, acc, x) }}
}

func MaxOf[T numeric.Real](x []T) T {
	if xf, ok := kernel.AsFloat32(x); ok && simd.maxOf != nil {
		v, _ := any(overChunks(xf, simd.maxOf, elementwise.GreaterOf[float32])).(T)
		return v
	}
	m := numeric.Lowest[T]()
	for _, v := range x {
		m = elementwise.GreaterOf(v, m)
	}
	return m
}

func minOf[T numeric.Real](x []T) T {
	if xf, ok := kernel.AsFloat32(x); ok && simd.minOf != nil {
		v, _ := any(overChunks(xf, simd.minOf, elementwise.LesserOf[float32])).(T)
		return v
	}
	m := numeric.Highest[T]()
	for _, v := range x {
		m = elementwise.LesserOf(v, m)
	}
	return m
}

// overChunks bounds the length of a call into assembly, which the scheduler
// cannot interrupt.
func overChunks(x []float32, f func([]float32) float32, join func(a, b float32) float32) float32 {
	m := f(x[:min(len(x), foldChunk)])
	for len(x) > foldChunk {
		x = x[foldChunk:]
		m = join(f(x[:min(len(x), foldChunk)]), m)
	}
	return m
}

// AllFold returns the fold of And.
func AllFold() Fold[bool] {
	and := func(a, b bool) bool { return a && b }
	return Fold[bool]{Init: true, Join: and, Rows: func(acc, x []bool) { elementwise.And(acc, acc, x) }, Run: func(x []bool) bool {
		for _, v := range x {
			if !v {
				return false
			}
		}
		return true
	}}
}

// AnyFold returns the fold of Or.
func AnyFold() Fold[bool] {
	or := func(a, b bool) bool { return a || b }
	return Fold[bool]{Join: or, Rows: func(acc, x []bool) { elementwise.Or(acc, acc, x) }, Run: func(x []bool) bool {
		for _, v := range x {
			if v {
				return true
			}
		}
		return false
	}}
}

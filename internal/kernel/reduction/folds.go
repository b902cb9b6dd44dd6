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
	if x64, ok := any(x).([]float64); ok && simd.sum64 != nil && len(x) > 0 {
		s, _ := any(inHalves(x64, sum64)).(T)
		return s
	}
	return pairwiseSum(x)
}

// SumOfSquares adds up the squares of x as Sum does.
func SumOfSquares[T numeric.Float](x []T) T {
	var s any
	switch x := any(x).(type) {
	case []float32:
		s = inHalves(x, squaresF32)
	case []float64:
		s = inHalves(x, func(x []float64) float64 { return elementwise.Dot(x, x) })
	}
	sum, _ := s.(T)
	return sum
}

// sumF32Chunk elements are one call of a vector loop, which keeps 32 to 128 partial sums.
const sumF32Chunk = 4096

func sumF32(x []float32) float32 { return inHalves(x, simd.sum) }

func sum64(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	return simd.sum64(&x[0], len(x))
}

// inHalves adds up what sum returns of chunks; long runs are halved at multiples of a chunk.
func inHalves[T numeric.Float](x []T, sum func(x []T) T) T {
	if len(x) <= sumF32Chunk {
		return sum(x)
	}
	chunks := (len(x) + sumF32Chunk - 1) / sumF32Chunk
	h := chunks / 2 * sumF32Chunk
	return inHalves(x[:h], sum) + inHalves(x[h:], sum)
}

func squaresF32(x []float32) float32 {
	if simd.squares != nil {
		return simd.squares(x)
	}
	var s [4]float32
	for ; len(x) >= 4; x = x[4:] {
		s[0] += x[0] * x[0]
		s[1] += x[1] * x[1]
		s[2] += x[2] * x[2]
		s[3] += x[3] * x[3]
	}
	for _, v := range x {
		s[0] += v * v
	}
	return (s[0] + s[1]) + (s[2] + s[3])
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
	f.Each, _ = any(sumRows).(func(dst, x []T, n int) bool)
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

// prodF32 multiplies the elements of x, in many products that do not wait for each other.
func prodF32(x []float32) float32 {
	if simd.prod == nil {
		return prod(x)
	}
	return overChunks(x, simd.prod, func(a, b float32) float32 { return a * b })
}

// MaxFold returns the fold to the greatest element, NaN if there is one. The
// greatest of nothing is -Inf or the least integer.
func MaxFold[T numeric.Real]() Fold[T] {
	f := Fold[T]{Init: numeric.Lowest[T](), Join: elementwise.GreaterOf[T], Run: MaxOf[T], Rows: func(acc, x []T) { elementwise.Max(acc, acc, x) }}
	f.Each, _ = any(mostOfRows).(func(dst, x []T, n int) bool)
	return f
}

// MinFold returns the fold to the least element, NaN if there is one. The
// least of nothing is +Inf or the greatest integer.
func MinFold[T numeric.Real]() Fold[T] {
	f := Fold[T]{Init: numeric.Highest[T](), Join: elementwise.LesserOf[T], Run: minOf[T], Rows: func(acc, x []T) { elementwise.Min(acc, acc, x) }}
	f.Each, _ = any(leastOfRows).(func(dst, x []T, n int) bool)
	return f
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

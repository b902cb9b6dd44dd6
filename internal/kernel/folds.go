package kernel

// sumRun elements are added one after the other, in four sums that do not wait
// for each other; longer runs are halved.
const sumRun = 128

// Sum adds up x in pairs of halves, so that the rounding error grows with the
// logarithm of the length.
func Sum[T Number](x []T) T {
	if simdFold.sum != nil {
		if xf, ok := asF32(x); ok {
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
		return simdFold.sum(x)
	}
	chunks := (len(x) + sumF32Chunk - 1) / sumF32Chunk
	h := chunks / 2 * sumF32Chunk
	return sumF32(x[:h]) + sumF32(x[h:])
}

func pairwiseSum[T Number](x []T) T {
	if len(x) <= sumRun {
		return sumInOrder(x)
	}
	h := len(x) / 2
	return pairwiseSum(x[:h]) + pairwiseSum(x[h:])
}

func sumInOrder[T Number](x []T) T {
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
func SumFold[T Number]() Fold[T] {
	f := Fold[T]{
		Join: func(a, b T) T { return a + b },
		Run:  Sum[T],
		Rows: func(acc, x []T) { Add(acc, acc, x) },
	}
	if hasVectorSums() {
		f.Down, _ = any(sumDown).(func(acc, x []T, rows, stride int))
	}
	return f
}

// sumDown adds rows of x that are stride apart to acc, in order.
func sumDown(acc, x []float32, rows, stride int) {
	columnSums(down{rows: rows, stride: stride, width: len(acc)}, acc, x)
}

// ProdFold returns the fold that multiplies.
func ProdFold[T Number]() Fold[T] {
	return Fold[T]{
		Init: 1,
		Join: func(a, b T) T { return a * b },
		Run: func(x []T) T {
			p := T(1)
			for _, v := range x {
				p *= v
			}
			return p
		},
		Rows: func(acc, x []T) { Mul(acc, acc, x) },
	}
}

// MaxFold returns the fold to the greatest element, NaN if there is one. The
// greatest of nothing is -Inf or the least integer.
func MaxFold[T Real]() Fold[T] {
	return Fold[T]{Init: Lowest[T](), Join: greater[T], Run: maxOf[T], Rows: func(acc, x []T) { Max(acc, acc, x) }}
}

// MinFold returns the fold to the least element, NaN if there is one. The
// least of nothing is +Inf or the greatest integer.
func MinFold[T Real]() Fold[T] {
	return Fold[T]{Init: Highest[T](), Join: lesser[T], Run: minOf[T], Rows: func(acc, x []T) { Min(acc, acc, x) }}
}

func maxOf[T Real](x []T) T {
	if xf, ok := asF32(x); ok && simdFold.maxOf != nil {
		v, _ := any(overChunks(xf, simdFold.maxOf, greater[float32])).(T)
		return v
	}
	m := Lowest[T]()
	for _, v := range x {
		m = greater(v, m)
	}
	return m
}

func minOf[T Real](x []T) T {
	if xf, ok := asF32(x); ok && simdFold.minOf != nil {
		v, _ := any(overChunks(xf, simdFold.minOf, lesser[float32])).(T)
		return v
	}
	m := Highest[T]()
	for _, v := range x {
		m = lesser(v, m)
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
	return Fold[bool]{Init: true, Join: and, Rows: func(acc, x []bool) { And(acc, acc, x) }, Run: func(x []bool) bool {
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
	return Fold[bool]{Join: or, Rows: func(acc, x []bool) { Or(acc, acc, x) }, Run: func(x []bool) bool {
		for _, v := range x {
			if v {
				return true
			}
		}
		return false
	}}
}

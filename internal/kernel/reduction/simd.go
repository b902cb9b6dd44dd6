package reduction

// vectorLoops holds the loops of this package that the processor runs with vector
// instructions. A nil field means that the portable loop serves.
type vectorLoops struct {
	sum, maxOf, minOf func(x []float32) float32
	squares, prod     func(x []float32) float32
	sums, most, least foldLoop // of rows
	sum64             func(x *float64, n int) float64
	expShift          func(y, x []float32, shift float32) float32
	softmaxRows       func(y, x *float32, rows, n int, most, sums *float32)
}

// A foldLoop sets z, if not nil, to the folds of rows of n elements of x, and returns the last.
type foldLoop func(z, x *float32, rows, n int) float32

// simd is set once, before main starts, by the file of the architecture.
var simd vectorLoops

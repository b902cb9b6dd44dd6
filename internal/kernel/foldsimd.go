package kernel

// foldLoops holds the loops of this package that the processor runs with vector
// instructions. A nil field means that the portable loop serves.
type foldLoops struct {
	sum, maxOf, minOf func(x []float32) float32
	expShift          func(y, x []float32, shift float32) float32
}

// simdFold is set once, before main starts, by the file of the architecture.
var simdFold foldLoops

package kernel

// poolLoops holds the loops of this package that the processor runs with vector
// instructions. A nil field means that the portable loop serves.
type poolLoops struct {
	poolMax, poolSum func(y, x *float32, offsets *int, taps, channels, count, step int)
	poolMaxGrad      func(dx, x, dy *float32, offsets *int, taps, channels, count, step int)
}

// simdPool is set once, before main starts, by the file of the architecture.
var simdPool poolLoops

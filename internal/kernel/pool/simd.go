package pool

// vectorLoops holds the loops of this package that the processor runs with vector
// instructions. A nil field means that the portable loop serves.
type vectorLoops struct {
	poolMax, poolSum func(y, x *float32, offsets *int, taps, channels, count, step int)
	// poolMaxGradApart sets all that windows cover, which do not overlap.
	poolMaxGrad, poolMaxGradApart           func(dx, x, dy *float32, offsets *int, taps, channels, count, step int)
	poolMaxGradGated, poolMaxGradApartGated func(dx, x, dy *float32, offsets *int, taps, channels, count, step int, most float32)
}

// simd is set once, before main starts, by the file of the architecture.
var simd vectorLoops

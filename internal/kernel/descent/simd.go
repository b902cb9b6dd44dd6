package descent

import "github.com/gorge-tf/gorge/internal/kernel"

// vectorLoops holds the loops of this package that the processor runs with vector
// instructions. A nil field means that the portable loop serves.
type vectorLoops struct {
	axpy     func(y []float32, a float32, x []float32)
	momentum func(v, m, g []float32, lr, momentum float32)
	adam     func(v, m, s, g []float32, p AdamStep[float32])

	addScaled func(y []float32, a, b float32, x []float32)

	adagrad   func(v, acc, g []float32, lr float32)
	adagradV2 func(v, acc, g []float32, lr, epsilon float32)
	rmsProp   func(v, s, m, g []float32, lr, c, momentum, epsilon float32)

	// Those that follow store to other memory, at multiples of streamAlign bytes.
	streamAdd, streamSub kernel.BinaryLoop
	streamAxpy           func(z, y []float32, a float32, x []float32)
	streamMomentum       func(zv, zm, v, m, g []float32, lr, momentum float32)
	streamAdam           func(zv, zm, zs, v, m, s, g []float32, p AdamStep[float32])
}

// simd is set once, before main starts, by the file of the architecture.
var simd vectorLoops

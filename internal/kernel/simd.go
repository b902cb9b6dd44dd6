package kernel

// vectorLoops holds the float32 loops that the processor runs with vector
// instructions. A nil field means that the portable loop serves.
type vectorLoops struct {
	add, sub, mul, div, max, min         binaryLoop
	addS, subS, rsubS, mulS, divS, rdivS scalarLoop
	maxS, minS                           scalarLoop
	reluGrad, tanhGrad, sigmoidGrad      binaryLoop
	neg, abs, sign                       unaryLoop
	square, sqrt, rsqrt, relu            unaryLoop
	exp, log, log1p, tanh, sigmoid       unaryLoop
	erf, erfc                            unaryLoop
	sum, maxOf, minOf                    func(x []float32) float32
	expShift                             func(y, x []float32, shift float32) float32
	axpy                                 func(y []float32, a float32, x []float32)
	momentum                             func(v, m, g []float32, lr, momentum float32)
	adam                                 func(v, m, s, g []float32, p AdamStep[float32])

	// Those that follow store to other memory, at multiples of streamAlign bytes.
	streamAdd, streamSub binaryLoop
	streamAxpy           func(z, y []float32, a float32, x []float32)
	streamMomentum       func(zv, zm, v, m, g []float32, lr, momentum float32)
	streamAdam           func(zv, zm, zs, v, m, s, g []float32, p AdamStep[float32])

	truncate, fromInt32 unaryLoop // one side is int32
	// selectWords chooses by bytes; n is a multiple of 16.
	selectWords func(z *float32, c *byte, x, y *float32, n int)
	// greater and the others set bytes to 0 or 1; n is a multiple of 32.
	greater, greaterEqual, equal, notEqual func(z *byte, x, y *float32, n int)
	// widen and narrow convert multiples of 16.
	widen  func(y *float64, x *float32, n int)
	narrow func(y *float32, x *float64, n int)
	// columnSums and the others go down the rows, at least one, of at most
	// sumStrip or strip columns.
	sumStrip, strip int
	columnSums      func(sum, x *float32, rows, stride, width int)
	columnMoments   func(sum, squares, x, about *float32, rows, stride, width int)
	columnProducts  func(sum, products, d, x, about *float32, rows, stride, width int)
	normalize       func(y, x, about, factor, shift *float32, rows, stride, width int)
	normGrad        func(z, d, x, about, slope, shift, factor *float32, rows, stride, width int)
	// transpose16 exchanges rows and columns of 16 times 16, lds and ldd apart.
	transpose16 func(dst, src *float32, ldd, lds int)

	// fft4, fftSplit and fftJoin are a pass of radix 4, splitReal and joinReal.
	fft4     func(y, x *float32, n, stride int, w *float32)
	fftSplit func(z *float32, n int, w *float32)
	fftJoin  func(z *float32, n int, w *float32, scale float32)

	poolMax, poolSum func(y, x *float32, offsets *int, taps, channels, count, step int)
	poolMaxGrad      func(dx, x, dy *float32, offsets *int, taps, channels, count, step int)
}

type (
	unaryLoop  func(y, x []float32)
	binaryLoop func(z, x, y []float32)
	scalarLoop func(z, x []float32, s float32)
)

// vectorChunk elements are the most that a call into assembly gets: the
// scheduler cannot interrupt it, and the garbage collector waits.
const vectorChunk = 16 << 10

// simd is set once, before main starts, by the file of the architecture.
var simd vectorLoops

// map32 runs a vector loop if there is one and the data are float32.
func map32[T any](f unaryLoop, y, x []T) bool {
	yf, ok := asF32(y)
	if !ok || f == nil {
		return false
	}
	xf, _ := asF32(x)
	f(yf, xf[:len(yf)])
	return true
}

// zip32 is map32 for two operands.
func zip32[T any](f binaryLoop, z, x, y []T) bool {
	zf, ok := asF32(z)
	if !ok || f == nil {
		return false
	}
	xf, _ := asF32(x)
	yf, _ := asF32(y)
	f(zf, xf[:len(zf)], yf[:len(zf)])
	return true
}

// scalar32 is map32 with a scalar as second operand.
func scalar32[T any](f scalarLoop, z, x []T, s T) bool {
	zf, ok := asF32(z)
	if !ok || f == nil {
		return false
	}
	xf, _ := asF32(x)
	sf, _ := scalarF32(s)
	f(zf, xf[:len(zf)], sf)
	return true
}

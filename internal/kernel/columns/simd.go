package columns

// vectorLoops holds the loops of this package that the processor runs with vector
// instructions. A nil field means that the portable loop serves.
type vectorLoops struct {
	// columnSums and the others go down the rows, at least one, of at most
	// sumStrip or strip columns.
	sumStrip, strip int
	columnSums      func(sum, x *float32, rows, stride, width int)
	columnMax       func(most, x *float32, rows, stride, width int)
	columnMin       func(least, x *float32, rows, stride, width int)
	columnMoments   func(sum, squares, x, about *float32, rows, stride, width int)
	columnProducts  func(sum, products, d, x, about *float32, rows, stride, width int)
	normalize       func(y, x, about, factor, shift *float32, rows, stride, width int)
	normGrad        func(z, d, x, about, slope, shift, factor *float32, rows, stride, width int)

	columnProductsGated func(sum, products, d, x, about, factor, offset *float32, most float32, rows, stride, width int)
	normGradGated       func(z, d, x, about, slope, shift, factor, offset *float32, most float32, rows, stride, width int)
}

// simd is set once, before main starts, by the file of the architecture.
var simd vectorLoops

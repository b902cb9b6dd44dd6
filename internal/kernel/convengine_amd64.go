//go:build !noasm

package kernel

import "sync"

func init() {
	Dispatch(&simdConv, convLoopsOf(&convF32AVX2, &convF64AVX2), convLoopsOf(&convF32AVX512, &convF64AVX512))
}

// convLoopsOf makes convolutions of the micro-kernels of an instruction set.
func convLoopsOf(f32 *convKernels[float32], f64 *convKernels[float64]) convLoops {
	e32, e64 := newConvEngine(f32), newConvEngine(f64)
	return convLoops{
		convolve32: e32.convolve, backInput32: e32.backInput, backFilter32: e32.backFilter,
		convolve64: e64.convolve, backInput64: e64.backInput, backFilter64: e64.backFilter,
	}
}

// convKernels are the innermost loops of a convolution for one instruction set: each
// family has a kernel for every height of a tile, the first for 1. Strides are in
// elements.
type convKernels[T Float] struct {
	tileM int // the greatest height
	lanes int // elements of a vector; a full tile is two vectors wide

	runsFull, runsEdge, runsHalf []runsKernel[T]
	sumsFull, sumsEdge, sumsHalf []runsKernel[T]
}

// panel is the number of columns of a full tile.
func (m *convKernels[T]) panel() int { return 2 * m.lanes }

// convEngine convolves with micro-kernels. It may be shared.
type convEngine[T Float] struct {
	micro *convKernels[T]
	// room is how many elements of images are taken at a time: they leave space for
	// filters in the second-level cache.
	room    int
	scratch sync.Pool // of *convScratch[T]
}

func newConvEngine[T Float](micro *convKernels[T]) *convEngine[T] {
	room := dataCaches().second / 4 / elementSize[T]()
	return &convEngine[T]{micro: micro, room: room, scratch: sync.Pool{New: func() any { return new(convScratch[T]) }}}
}

// convScratch is memory for lines with zeros around them, for sums of parts of a batch,
// and for lists.
type convScratch[T Float] struct {
	a, b  []T
	lists runLists
}

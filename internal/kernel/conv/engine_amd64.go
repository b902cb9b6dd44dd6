//go:build !noasm

package conv

import (
	"sync"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
	"github.com/gorge-tf/gorge/internal/numeric"
)

func init() {
	with2, with512 := convLoopsOf(&microF32AVX2, &microF64AVX2, winogradAVX2), convLoopsOf(&microF32AVX512, &microF64AVX512, winogradAVX512)
	with2.depthwiseSums, with2.depthwiseProducts1, with2.depthwiseProducts3 = depthwiseSumsAVX2, depthwiseProducts1AVX2, depthwiseProducts3AVX2
	with512.depthwiseSums, with512.depthwiseProducts1, with512.depthwiseProducts3 = depthwiseSumsAVX512, depthwiseProducts1AVX512, depthwiseProducts3AVX512
	near := tiles.DataCaches().Second / 2
	with2.tiles = tileLoops{2, near, [2]tileLoop{depthwiseTiles1AVX2, depthwiseTiles2AVX2}, depthwiseSpreadAVX2}
	with512.tiles = tileLoops{4, near, [2]tileLoop{depthwiseTiles1AVX512, depthwiseTiles2AVX512}, depthwiseSpreadAVX512}
	kernel.Dispatch(&simd, with2, with512)
}

// convLoopsOf makes convolutions of the micro-kernels of an instruction set.
func convLoopsOf(f32 *microKernels[float32], f64 *microKernels[float64], k winogradKernels) vectorLoops {
	e32, e64 := newEngine(f32), newEngine(f64)
	w := newWinograd(e32, k)
	return vectorLoops{
		convolve32: w.convolve, backInput32: e32.backInput, backFilter32: w.backFilter,
		convolve64: e64.convolve, backInput64: e64.backInput, backFilter64: e64.backFilter,
	}
}

// microKernels are the innermost loops of a convolution for one instruction set: each
// family has a kernel for every height of a tile, the first for 1. Strides are in
// elements.
type microKernels[T numeric.Float] struct {
	tileM int // the greatest height
	lanes int // elements of a vector; a full tile is two vectors wide

	runsFull, runsEdge, runsHalf []runsKernel[T]
	sumsFull, sumsEdge, sumsHalf []runsKernel[T]
}

// panel is the number of columns of a full tile.
func (m *microKernels[T]) panel() int { return 2 * m.lanes }

// engine convolves with micro-kernels. It may be shared.
type engine[T numeric.Float] struct {
	micro *microKernels[T]
	// room is how many elements of images are taken at a time: they leave space for
	// filters in the second-level cache.
	room    int
	scratch sync.Pool // of *convScratch[T]
	swapped sync.Pool // of *[]T: filters whose channels are swapped
}

func newEngine[T numeric.Float](micro *microKernels[T]) *engine[T] {
	room := tiles.DataCaches().Second / 4 / elementSize[T]()
	return &engine[T]{
		micro: micro, room: room, scratch: sync.Pool{New: func() any { return new(workspace[T]) }},
		swapped: sync.Pool{New: func() any { return new([]T) }},
	}
}

// workspace is memory for lines with zeros around them, for sums of parts of a batch,
// and for lists.
type workspace[T numeric.Float] struct {
	a, b  []T
	lists runLists
}

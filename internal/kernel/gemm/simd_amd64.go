//go:build !noasm

package gemm

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
)

func init() {
	microF32AVX512.pack, microF32AVX2.pack = tiles.PackerAVX512, tiles.PortablePacker[float32]()
	microF64AVX512.pack, microF64AVX2.pack = tiles.PortablePacker[float64](), tiles.PortablePacker[float64]()
	avx2, avx512 := gemmLoopsOf(&microF32AVX2, &microF64AVX2), gemmLoopsOf(&microF32AVX512, &microF64AVX512)
	avx2.dot32, avx512.dot32 = dotAVX2, dotAVX512
	avx512.eliminate = eliminateAVX512
	kernel.Dispatch(&simd, avx2, avx512)
}

// gemmLoopsOf makes products of the micro-kernels of an instruction set.
func gemmLoopsOf(f32 *microKernels[float32], f64 *microKernels[float64]) vectorLoops {
	b32 := newBlocked(f32, blocksFor(tiles.DataCaches(), 4, f32.panel()))
	b64 := newBlocked(f64, blocksFor(tiles.DataCaches(), 8, f64.panel()))
	return vectorLoops{addRows32: f32.addAllRows, addRows64: f64.addAllRows, product32: b32.matMul, product64: b64.matMul, sums32: b32.addAll, sums64: b64.addAll, parts32: b32.parts, hasParts32: b32.hasParts, inOneBlock32: b32.inOneBlock, inOneBlock64: b64.inOneBlock}
}

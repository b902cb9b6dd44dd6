//go:build !noasm

package kernel

func init() {
	microF32AVX512.pack, microF32AVX2.pack = packerAVX512, portablePacker[float32]()
	microF64AVX512.pack, microF64AVX2.pack = portablePacker[float64](), portablePacker[float64]()
	Dispatch(&simdGemm, gemmLoopsOf(&microF32AVX2, &microF64AVX2), gemmLoopsOf(&microF32AVX512, &microF64AVX512))
}

// gemmLoopsOf makes products of the micro-kernels of an instruction set.
func gemmLoopsOf(f32 *microKernels[float32], f64 *microKernels[float64]) gemmLoops {
	b32 := newBlocked(f32, blocksFor(dataCaches(), 4, f32.tileM, f32.panel()))
	b64 := newBlocked(f64, blocksFor(dataCaches(), 8, f64.tileM, f64.panel()))
	return gemmLoops{product32: b32.matMul, product64: b64.matMul, inOneBlock32: b32.inOneBlock, inOneBlock64: b64.inOneBlock}
}

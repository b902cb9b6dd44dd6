//go:build !noasm

package kernel

func init() {
	Dispatch(&simdFFT, fftLoops{
		fft4: fft4AVX2, fftSplit: fftSplitAVX2, fftJoin: fftJoinAVX2,
	}, fftLoops{
		fft4: fft4AVX512, fftSplit: fftSplitAVX512, fftJoin: fftJoinAVX512,
	})
}

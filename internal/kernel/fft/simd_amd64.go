//go:build !noasm

package fft

import "github.com/gorge-tf/gorge/internal/kernel"

func init() {
	kernel.Dispatch(&simd, vectorLoops{
		fft3: fft3AVX2, fft4: fft4AVX2, fft5: fft5AVX2, fftSplit: fftSplitAVX2, fftJoin: fftJoinAVX2,
	}, vectorLoops{
		fft3: fft3AVX512, fft4: fft4AVX512, fft5: fft5AVX512, fftSplit: fftSplitAVX512, fftJoin: fftJoinAVX512,
	})
}

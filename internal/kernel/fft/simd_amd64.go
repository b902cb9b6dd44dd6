//go:build !noasm

package fft

import "github.com/gorge-tf/gorge/internal/kernel"

func init() {
	kernel.Dispatch(&simd, vectorLoops{
		fft4: fft4AVX2, fftSplit: fftSplitAVX2, fftJoin: fftJoinAVX2,
	}, vectorLoops{
		fft4: fft4AVX512, fftSplit: fftSplitAVX512, fftJoin: fftJoinAVX512,
	})
}

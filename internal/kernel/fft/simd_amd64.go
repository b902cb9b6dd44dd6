//go:build !noasm

package fft

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
)

type passLoops[T Real] = [6]func(y, x *T, n, stride int, w *T)

func init() {
	kernel.Dispatch(&simd, vectorLoops[float32]{
		passes: passLoops[float32]{2: fft2AVX2, 3: fft3AVX2, 4: fft4AVX2, 5: fft5AVX2}, split: fftSplitAVX2, join: fftJoinAVX2,
		swap: fftSwapAVX2, times: fftTimesAVX2, take: fftTakeAVX2, put: fftPutAVX2,
	}, vectorLoops[float32]{
		passes: passLoops[float32]{2: fft2AVX512, 3: fft3AVX512, 4: fft4AVX512, 5: fft5AVX512}, split: fftSplitAVX512, join: fftJoinAVX512,
		swap: fftSwapAVX512, times: fftTimesAVX512, take: fftTakeAVX512, put: fftPutAVX512, masked: true,
		turn: func(dst, src *float32, ldd, lds int) { tiles.Transpose16(dst, src, ldd, lds) },
	})
	kernel.Dispatch(&simdDouble, vectorLoops[float64]{
		passes: passLoops[float64]{2: fft2DoubleAVX2, 3: fft3DoubleAVX2, 4: fft4DoubleAVX2, 5: fft5DoubleAVX2}, split: fftSplitDoubleAVX2, join: fftJoinDoubleAVX2,
		swap: fftSwapDoubleAVX2, times: fftTimesDoubleAVX2, take: fftTakeDoubleAVX2, put: fftPutDoubleAVX2, turn: fftTurnDoubleAVX2,
	}, vectorLoops[float64]{
		passes: passLoops[float64]{2: fft2DoubleAVX512, 3: fft3DoubleAVX512, 4: fft4DoubleAVX512, 5: fft5DoubleAVX512}, split: fftSplitDoubleAVX512, join: fftJoinDoubleAVX512,
		swap: fftSwapDoubleAVX512, times: fftTimesDoubleAVX512, take: fftTakeDoubleAVX512, put: fftPutDoubleAVX512, turn: fftTurnDoubleAVX512, masked: true,
	})
}

//go:build !noasm

package jpeg

import "github.com/gorge-tf/gorge/internal/kernel"

func init() {
	avx2 := vectorLoops{fast: fastAVX2, accurate: accurateAVX2, pixels: pixelsAVX2, wide: wideAVX2, square: squareAVX2}
	kernel.Dispatch(&simd, avx2, avx2)
}

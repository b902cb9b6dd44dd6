//go:build !noasm

package columns

import "github.com/gorge-tf/gorge/internal/kernel"

func init() {
	kernel.Dispatch(&simd, vectorLoops{
		sumStrip: 32, strip: 16,
		columnSums: columnSumsAVX2, columnMax: columnMaxAVX2, columnMin: columnMinAVX2, columnMoments: columnMomentsAVX2, columnProducts: columnProductsAVX2,
		normalize: normalizeAVX2, normGrad: normGradAVX2,
		columnProductsGated: columnProductsGatedAVX2, normGradGated: normGradGatedAVX2,
	}, vectorLoops{
		sumStrip: 64, strip: 64,
		columnSums: columnSumsAVX512, columnMax: columnMaxAVX512, columnMin: columnMinAVX512, columnMoments: columnMomentsAVX512, columnProducts: columnProductsAVX512,
		normalize: normalizeAVX512, normGrad: normGradAVX512,
		columnProductsGated: columnProductsGatedAVX512, normGradGated: normGradGatedAVX512,
	})
}

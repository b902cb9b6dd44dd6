//go:build !noasm

package pool

import "github.com/gorge-tf/gorge/internal/kernel"

func init() {
	kernel.Dispatch(&simd, vectorLoops{
		poolMax: poolMaxAVX2, poolSum: poolSumAVX2, poolMaxGrad: poolMaxGradAVX2, poolMaxGradApart: poolMaxGradApartAVX2,
		poolMaxGradGated: poolMaxGradGatedAVX2, poolMaxGradApartGated: poolMaxGradApartGatedAVX2,
	}, vectorLoops{
		poolMax: poolMaxAVX512, poolSum: poolSumAVX512, poolMaxGrad: poolMaxGradAVX512, poolMaxGradApart: poolMaxGradApartAVX512,
		poolMaxGradGated: poolMaxGradGatedAVX512, poolMaxGradApartGated: poolMaxGradApartGatedAVX512,
	})
}

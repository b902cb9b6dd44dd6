//go:build !noasm

package kernel

func init() {
	Dispatch(&simdPool, poolLoops{
		poolMax: poolMaxAVX2, poolSum: poolSumAVX2, poolMaxGrad: poolMaxGradAVX2,
	}, poolLoops{
		poolMax: poolMaxAVX512, poolSum: poolSumAVX512, poolMaxGrad: poolMaxGradAVX512,
	})
}

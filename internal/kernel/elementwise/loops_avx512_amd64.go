//go:build !noasm

package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// avx512Loops lists the vector loops of this instruction set.
func avx512Loops() vectorLoops {
	return vectorLoops{
		add: kernel.BinaryOf(addAVX512), sub: kernel.BinaryOf(subAVX512), mul: kernel.BinaryOf(mulAVX512), div: kernel.BinaryOf(divAVX512),
		max: kernel.BinaryOf(maxAVX512), min: kernel.BinaryOf(minAVX512),

		addC: addColumnAVX512, subC: subColumnAVX512, mulC: mulColumnAVX512, divC: divColumnAVX512,
		addS: kernel.ScalarOf(addScalarAVX512), subS: kernel.ScalarOf(subScalarAVX512), rsubS: kernel.ScalarOf(scalarSubAVX512),
		mulS: kernel.ScalarOf(mulScalarAVX512), divS: kernel.ScalarOf(divScalarAVX512), rdivS: kernel.ScalarOf(scalarDivAVX512),
		maxS: kernel.ScalarOf(maxScalarAVX512), minS: kernel.ScalarOf(minScalarAVX512),

		reluGrad: kernel.BinaryOf(reluGradAVX512), relu6Grad: kernel.BinaryOf(relu6GradAVX512), tanhGrad: kernel.BinaryOf(tanhGradAVX512), sigmoidGrad: kernel.BinaryOf(sigmoidGradAVX512),

		neg: kernel.UnaryOf(negAVX512), abs: kernel.UnaryOf(absAVX512), sign: kernel.UnaryOf(signAVX512), square: kernel.UnaryOf(squareAVX512), sqrt: kernel.UnaryOf(sqrtAVX512), rsqrt: kernel.UnaryOf(rsqrtAVX512), relu: kernel.UnaryOf(reluAVX512),
		exp: kernel.UnaryOf(expAVX512), log: kernel.UnaryOf(logAVX512), log1p: kernel.UnaryOf(log1pAVX512), tanh: kernel.UnaryOf(tanhAVX512), sigmoid: kernel.UnaryOf(sigmoidAVX512),
		erf: kernel.UnaryOf(erfAVX512), erfc: kernel.UnaryOf(erfcAVX512), expm1: kernel.UnaryOf(expm1AVX512), elu: kernel.UnaryOf(eluAVX512),
		sin: periodicOf(sinAVX512, math.Sin), cos: periodicOf(cosAVX512, math.Cos), atan: kernel.UnaryOf(atanAVX512), atan2: kernel.BinaryOf(atan2AVX512),
		floor: kernel.UnaryOf(floorAVX512), ceil: kernel.UnaryOf(ceilAVX512), rint: kernel.UnaryOf(rintAVX512), blend: blendAVX512, blendPixels: blendPixelsAVX512, blendShortPixels: blendShortPixelsAVX2,
		powers: powersAVX512, powLanes: 16,
		mulComplex: kernel.BinaryOf(mulComplexAVX512), conj: kernel.UnaryOf(conjAVX512), quotients: quotientsAVX512, roots: rootsAVX512,

		truncate: kernel.UnaryOf(truncateAVX512), fromInt32: kernel.UnaryOf(fromInt32AVX512),
		selectWords: selectWordsAVX512,
		greater:     greaterAVX512, greaterEqual: greaterEqualAVX512, equal: equalAVX512, notEqual: notEqualAVX512,
		widen: widenAVX512, narrow: narrowAVX512,
		truncateDouble: truncateDoubleAVX512, lowWords: lowWordsAVX512, truncateLong: truncateLongAVX512,
		quotient32: quotient32AVX512, floorQuotient32: floorQuotient32AVX512, quotient64: quotient64AVX512, floorQuotient64: floorQuotient64AVX512,

		sqrt64: sqrt64AVX512, rsqrt64: rsqrt64AVX512, exp64: exp64AVX512, log64: log64AVX512, tanh64: tanh64AVX512, sigmoid64: sigmoid64AVX512, erf64: erf64AVX512,
		addScaled64: addScaled64AVX512, rotate64: rotate64AVX512, dot64: dot64AVX512,
		widenHalf: widenHalfAVX512, widenBFloat: widenBFloatAVX512, narrowHalf: narrowHalfAVX512, narrowBFloat: narrowBFloatAVX512,
	}
}

//go:build !noasm

package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// avx2Loops lists the vector loops of this instruction set.
func avx2Loops() vectorLoops {
	return vectorLoops{
		add: kernel.BinaryOf(addAVX2), sub: kernel.BinaryOf(subAVX2), mul: kernel.BinaryOf(mulAVX2), div: kernel.BinaryOf(divAVX2),
		max: kernel.BinaryOf(maxAVX2), min: kernel.BinaryOf(minAVX2),

		addC: addColumnAVX2, subC: subColumnAVX2, mulC: mulColumnAVX2, divC: divColumnAVX2,
		addS: kernel.ScalarOf(addScalarAVX2), subS: kernel.ScalarOf(subScalarAVX2), rsubS: kernel.ScalarOf(scalarSubAVX2),
		mulS: kernel.ScalarOf(mulScalarAVX2), divS: kernel.ScalarOf(divScalarAVX2), rdivS: kernel.ScalarOf(scalarDivAVX2),
		maxS: kernel.ScalarOf(maxScalarAVX2), minS: kernel.ScalarOf(minScalarAVX2),

		reluGrad: kernel.BinaryOf(reluGradAVX2), relu6Grad: kernel.BinaryOf(relu6GradAVX2), tanhGrad: kernel.BinaryOf(tanhGradAVX2), sigmoidGrad: kernel.BinaryOf(sigmoidGradAVX2),

		neg: kernel.UnaryOf(negAVX2), abs: kernel.UnaryOf(absAVX2), sign: kernel.UnaryOf(signAVX2), square: kernel.UnaryOf(squareAVX2), sqrt: kernel.UnaryOf(sqrtAVX2), rsqrt: kernel.UnaryOf(rsqrtAVX2), relu: kernel.UnaryOf(reluAVX2),
		exp: kernel.UnaryOf(expAVX2), log: kernel.UnaryOf(logAVX2), log1p: kernel.UnaryOf(log1pAVX2), tanh: kernel.UnaryOf(tanhAVX2), sigmoid: kernel.UnaryOf(sigmoidAVX2),
		erf: kernel.UnaryOf(erfAVX2), erfc: kernel.UnaryOf(erfcAVX2), expm1: kernel.UnaryOf(expm1AVX2), elu: kernel.UnaryOf(eluAVX2),
		sin: periodicOf(sinAVX2, math.Sin), cos: periodicOf(cosAVX2, math.Cos), atan: kernel.UnaryOf(atanAVX2), atan2: kernel.BinaryOf(atan2AVX2),
		floor: kernel.UnaryOf(floorAVX2), ceil: kernel.UnaryOf(ceilAVX2), rint: kernel.UnaryOf(rintAVX2), blend: blendAVX2, blendPixels: blendPixelsAVX2, blendShortPixels: blendShortPixelsAVX2,
		powers: powersAVX2, powLanes: 8,
		mulComplex: kernel.BinaryOf(mulComplexAVX2), conj: kernel.UnaryOf(conjAVX2), quotients: quotientsAVX2, roots: rootsAVX2,

		truncate: kernel.UnaryOf(truncateAVX2), fromInt32: kernel.UnaryOf(fromInt32AVX2),
		selectWords: selectWordsAVX2,
		greater:     greaterAVX2, greaterEqual: greaterEqualAVX2, equal: equalAVX2, notEqual: notEqualAVX2,
		widen: widenAVX2, narrow: narrowAVX2,
		truncateDouble: truncateDoubleAVX2, lowWords: lowWordsAVX2,
		quotient32: quotient32AVX2, floorQuotient32: floorQuotient32AVX2, quotient64: quotient64AVX2, floorQuotient64: floorQuotient64AVX2,

		sqrt64: sqrt64AVX2, rsqrt64: rsqrt64AVX2, exp64: exp64AVX2, log64: log64AVX2, tanh64: tanh64AVX2, sigmoid64: sigmoid64AVX2, erf64: erf64AVX2,
		addScaled64: addScaled64AVX2, rotate64: rotate64AVX2, dot64: dot64AVX2,
		widenHalf: widenHalfAVX2, widenBFloat: widenBFloatAVX2, narrowHalf: narrowHalfAVX2, narrowBFloat: narrowBFloatAVX2,
	}
}

//go:build !noasm

package kernel

// avx2Loops lists the vector loops of this instruction set.
func avx2Loops() vectorLoops {
	return vectorLoops{
		add: binaryOf(addAVX2), sub: binaryOf(subAVX2), mul: binaryOf(mulAVX2), div: binaryOf(divAVX2),
		max: binaryOf(maxAVX2), min: binaryOf(minAVX2),

		addS: scalarOf(addScalarAVX2), subS: scalarOf(subScalarAVX2), rsubS: scalarOf(scalarSubAVX2),
		mulS: scalarOf(mulScalarAVX2), divS: scalarOf(divScalarAVX2), rdivS: scalarOf(scalarDivAVX2),
		maxS: scalarOf(maxScalarAVX2), minS: scalarOf(minScalarAVX2),

		reluGrad: binaryOf(reluGradAVX2), tanhGrad: binaryOf(tanhGradAVX2), sigmoidGrad: binaryOf(sigmoidGradAVX2),

		neg: unaryOf(negAVX2), abs: unaryOf(absAVX2), sign: unaryOf(signAVX2), square: unaryOf(squareAVX2), sqrt: unaryOf(sqrtAVX2), rsqrt: unaryOf(rsqrtAVX2), relu: unaryOf(reluAVX2),
		exp: unaryOf(expAVX2), log: unaryOf(logAVX2), log1p: unaryOf(log1pAVX2), tanh: unaryOf(tanhAVX2), sigmoid: unaryOf(sigmoidAVX2),
		erf: unaryOf(erfAVX2), erfc: unaryOf(erfcAVX2),

		truncate: unaryOf(truncateAVX2), fromInt32: unaryOf(fromInt32AVX2),
		selectWords: selectWordsAVX2,
		greater:     greaterAVX2, greaterEqual: greaterEqualAVX2, equal: equalAVX2, notEqual: notEqualAVX2,
		widen: widenAVX2, narrow: narrowAVX2,
	}
}

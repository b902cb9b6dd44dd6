//go:build !noasm

package kernel

// avx512Loops lists the vector loops of this instruction set.
func avx512Loops() vectorLoops {
	return vectorLoops{
		add: binaryOf(addAVX512), sub: binaryOf(subAVX512), mul: binaryOf(mulAVX512), div: binaryOf(divAVX512),
		max: binaryOf(maxAVX512), min: binaryOf(minAVX512),

		addS: scalarOf(addScalarAVX512), subS: scalarOf(subScalarAVX512), rsubS: scalarOf(scalarSubAVX512),
		mulS: scalarOf(mulScalarAVX512), divS: scalarOf(divScalarAVX512), rdivS: scalarOf(scalarDivAVX512),
		maxS: scalarOf(maxScalarAVX512), minS: scalarOf(minScalarAVX512),

		reluGrad: binaryOf(reluGradAVX512), tanhGrad: binaryOf(tanhGradAVX512), sigmoidGrad: binaryOf(sigmoidGradAVX512),

		neg: unaryOf(negAVX512), abs: unaryOf(absAVX512), sign: unaryOf(signAVX512), square: unaryOf(squareAVX512), sqrt: unaryOf(sqrtAVX512), rsqrt: unaryOf(rsqrtAVX512), relu: unaryOf(reluAVX512),
		exp: unaryOf(expAVX512), log: unaryOf(logAVX512), log1p: unaryOf(log1pAVX512), tanh: unaryOf(tanhAVX512), sigmoid: unaryOf(sigmoidAVX512),
		erf: unaryOf(erfAVX512), erfc: unaryOf(erfcAVX512),

		truncate: unaryOf(truncateAVX512), fromInt32: unaryOf(fromInt32AVX512),
		selectWords: selectWordsAVX512,
		greater:     greaterAVX512, greaterEqual: greaterEqualAVX512, equal: equalAVX512, notEqual: notEqualAVX512,
		widen: widenAVX512, narrow: narrowAVX512,
	}
}

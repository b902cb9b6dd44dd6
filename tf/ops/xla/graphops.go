package xla

import (
	"github.com/gorge-tf/gorge/tf/core"
)

// addGraph registers an operation of XLA, with the signature that TensorFlow has.
func addGraph(name, in, out, attrs string, shape func(*core.Infer) error, op graphOp) {
	graphOps[name] = op
	core.Register(core.OpDef{
		Name: name, In: in, Out: out, Attrs: attrs, Shape: shape, Composes: true,
		NoGrad: core.NoGradientDefined, Kernels: core.AnyType(newGraphKernel),
	})
}

const (
	numbersOrBooleans = "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool}"
	indexTypes        = "; Tindices: {int32, int64}"
	dimensionNumbers  = "; dimension_numbers: string"
	precisionConfig   = "; precision_config: string"
)

func init() {
	addProducts()
	addIndexing()
	addReductions()
	addSorts()
	addGraph("XlaPad", "input: T; padding_value: T; padding_low: Tindices; padding_high: Tindices; padding_interior: Tindices", "output: T",
		"T: type"+indexTypes, padShape, graphOp{statics: []int{2, 3, 4}, lower: padOf})
	addGraph("XlaBroadcastHelper", "lhs: T; rhs: T; broadcast_dims: Tindices", "lhs_output: T; rhs_output: T",
		"T: numbertype"+indexTypes, unknownShape, graphOp{statics: []int{2}, lower: broadcastHelper})
	addGraph("XlaRngBitGenerator", "algorithm: int32; initial_state: uint64; shape: Tshape", "output_key: uint64; output: dtype",
		"dtype: {uint8, int8, int32, int64, uint32, uint64} = uint64; Tshape: {int32, int64} = int32", bitGeneratorShape, graphOp{statics: []int{0, 2}, lower: bitGeneratorOf})
	addGraph("XlaReducePrecision", "operand: T", "output: T",
		"T: {bfloat16, half, float, double}; exponent_bits: int; mantissa_bits: int", core.UnchangedShape, graphOp{lower: reducePrecisionOf})
	addGraph("XlaSetDynamicDimensionSize", "input: T; dim_index: int32; size: int32", "output: T",
		"T: type", unknownShape, graphOp{statics: []int{1}, lower: setDimensionSize})
	addGraph("XlaSelfAdjointEig", "a: T", "w: T; v: T",
		"lower: bool; max_iter: int; epsilon: float; T: numbertype", unknownShape, graphOp{lower: selfAdjointEig})
	addGraph("XlaSvd", "a: T", "s: T; u: T; v: T",
		"max_iter: int; epsilon: float"+precisionConfig+"; T: numbertype", unknownShape, graphOp{lower: svdOf})
}

func addProducts() {
	one := graphOp{lower: dotOf}
	addGraph("XlaDot", "lhs: T; rhs: T", "output: T", "T: numbertype"+dimensionNumbers+precisionConfig, dotShape, one)
	addGraph("XlaDotV2", "lhs: LhsT; rhs: RhsT", "output: preferred_element_type",
		"LhsT: numbertype; RhsT: numbertype"+dimensionNumbers+precisionConfig+"; preferred_element_type: numbertype", dotShape, one)
	conv := graphOp{statics: []int{2, 3, 4, 5, 6}, lower: convOf}
	const how = "window_strides: Tindices; padding: Tindices; lhs_dilation: Tindices; rhs_dilation: Tindices; feature_group_count: Tindices"
	addGraph("XlaConv", "lhs: T; rhs: T; "+how, "output: T", "T: numbertype"+indexTypes+dimensionNumbers+precisionConfig, sameRank, conv)
	addGraph("XlaConvV2", "lhs: LhsT; rhs: RhsT; "+how, "output: preferred_element_type",
		"LhsT: numbertype; RhsT: numbertype"+indexTypes+dimensionNumbers+precisionConfig+"; preferred_element_type: numbertype; batch_group_count: int = 1", sameRank, conv)
}

func addIndexing() {
	addGraph("XlaGather", "operand: T; start_indices: Tindices; slice_sizes: Tindices", "output: T",
		"dimension_numbers: string; indices_are_sorted: bool; T: "+numbersOrBooleans+indexTypes, gatherShape, graphOp{statics: []int{2}, lower: gatherOf})
	addGraph("XlaScatter", "operand: T; scatter_indices: Tindices; updates: T", "output: T",
		"update_computation: func; dimension_numbers: string; indices_are_sorted: bool; T: "+numbersOrBooleans+indexTypes, core.UnchangedShape, graphOp{lower: scatterOf})
}

func addReductions() {
	addGraph("XlaReduce", "input: T; init_value: T", "output: T",
		"T: "+numbersOrBooleans+"; dimensions_to_reduce: list(int); reducer: func", reduceShape, graphOp{hints: []int{1}, lower: reduceOf})
	addGraph("XlaVariadicReduce", "input: N*T; init_value: N*T", "output: N*T",
		"N: int >= 1; T: "+numbersOrBooleans+"; dimensions_to_reduce: list(int); reducer: func", reduceShape, graphOp{lower: reduceOf})
	addGraph("XlaVariadicReduceV2", "inputs: T; init_values: T", "outputs: T",
		"T: list(type) >= 1; dimensions_to_reduce: list(int); reducer: func", variadicReduceShape, graphOp{lower: reduceOf})
	addGraph("XlaReduceWindow", "input: T; init_value: T; window_dimensions: Tindices; window_strides: Tindices; base_dilations: Tindices; window_dilations: Tindices; padding: Tindices", "output: T",
		"T: "+numbersOrBooleans+indexTypes+"; computation: func", sameRank, graphOp{statics: []int{2, 3, 4, 5, 6}, hints: []int{1}, lower: reduceWindowOf})
	addGraph("XlaSelectAndScatter", "operand: T; window_dimensions: Tindices; window_strides: Tindices; padding: Tindices; source: T; init_value: T", "output: T",
		"T: numbertype"+indexTypes+"; select: func; scatter: func", sameRank, graphOp{statics: []int{1, 2, 3}, hints: []int{5}, lower: selectAndScatterOf})
}

func addSorts() {
	addGraph("XlaSort", "input: T", "output: T", "T: type", core.UnchangedShape, graphOp{lower: sortOf})
	addGraph("XlaKeyValueSort", "keys: K; values: V", "sorted_keys: K; sorted_values: V",
		"K: realnumbertype; V: type", ownShapes, graphOp{lower: sortOf})
	addGraph("XlaVariadicSort", "inputs: T; dimension: int32", "outputs: T",
		"T: list(type) >= 1; comparator: func; is_stable: bool", ownShapes, graphOp{statics: []int{-1}, lower: variadicSortOf})
}

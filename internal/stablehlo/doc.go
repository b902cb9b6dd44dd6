// Package stablehlo reads modules of StableHLO, the operations of XLA, as programs
// serialize them: "portable artifacts", which are MLIR bytecode
// (https://mlir.llvm.org/docs/BytecodeFormat) of the versioned dialect VHLO
// (https://openxla.org/stablehlo/vhlo). JAX exports such modules; TensorFlow carries
// them in the attribute module of XlaCallModule.
//
// [Read] returns a [Module] of plain Go values. Names of operations, attributes and
// enumerations are those of StableHLO, without the prefix "stablehlo." and without
// VHLO's suffixes of versions: "add", "dot_general", "return". What StableHLO borrows
// from the dialect func is "func" and "call".
//
// Operations are in the form of their newest version, whatever the version of the
// artifact. Attributes are flat, as in VHLO: dot_general has
// lhs_batching_dimensions and lhs_contracting_dimensions rather than one attribute of
// dimensions, as have gather, scatter, convolution and the collectives (channel_id,
// channel_type). Lists of integers or booleans (permutation, window_strides, padding,
// window_reversal) are [Dense], single ones (dimension, index_vector_dim) are [Int] or
// [Bool], lists of anything else (precision_config, operand_layouts) are [Array].
//
//   - Attributes that StableHLO gives a default are there: window_strides that the
//     program left out are ones.
//   - Attributes of later versions have the value by which they change nothing:
//     operand_batching_dims of gather is empty, result_accuracy of exponential is DEFAULT.
//   - Attributes whose value is VHLO's none, as accumulation_type of most dot_generals,
//     are not there.
//   - callee of call, decomposition of composite and the elements of
//     called_computations of custom_call are [Symbol].
//   - Structures are [Dict]: result_accuracy has atol, rtol, ulps and mode.
//   - What operations have besides, as mhlo.sharding or jax.arg_info, keeps its name.
//
// Regions are in the order of the specification: while has cond and body, if has the
// true branch and the false one, select_and_scatter has select and scatter.
package stablehlo

// Package stablehlo reads modules of StableHLO, the operations of XLA, as programs
// serialize them: "portable artifacts", which are MLIR bytecode
// (https://mlir.llvm.org/docs/BytecodeFormat) of the versioned dialect VHLO
// (https://openxla.org/stablehlo/vhlo). JAX exports such modules; TensorFlow carries
// them in the attribute module of XlaCallModule.
//
// [Read] returns a [Module] of plain Go values. Names of operations, attributes and
// enumerations are those of StableHLO, without the prefix "stablehlo." and without
// VHLO's suffixes of versions: "add", "dot_general", "return".
package stablehlo

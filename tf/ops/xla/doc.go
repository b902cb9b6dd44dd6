// Package xla has XlaCallModule, by which TensorFlow's models call programs of XLA, and
// those of XLA's own operations that Keras calls. JAX exports its functions as modules. A module, in StableHLO, is put in terms of
// TensorFlow's operations, which then run, fuse and are placed as any others.
//
//	module ─ stablehlo.Read ─▶ functions ─ missing: what has no rule, all at once
//	main   ─ lowering.block ─▶ a tf.Graph: the rule of each operation adds nodes
//	graph  ─ builder.graph ──▶ core.FunctionBody, shared by all that is made from the same
//
// The body takes the place of the call before a graph is placed (internal/pass), or is
// called by the kernel, as that of a module with a loop that depends on sizes which the
// module leaves open: the kernel keeps bodies for shapes that come again (specialize.go). It has no functions: calls in the module are expanded, control
// flow is that of TensorFlow 1. Values that are broadcast stay thin ([thin]) as long as
// only elementwise operations use them.
package xla

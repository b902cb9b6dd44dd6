// Package xla has XlaCallModule, by which TensorFlow's models call programs of XLA, and
// those of XLA's own operations that Keras calls. JAX exports its functions as modules.
// A module, in StableHLO, is translated to TensorFlow's operations, which are then
// placed, fused and run as any others.
//
//	module ─ stablehlo.Read ─▶ functions ─ missing: what has no rule, all at once
//	main   ─ lowering.block ─▶ a tf.Graph: the rule of each operation adds nodes
//	graph  ─ builder.graph ──▶ core.FunctionBody, shared by all that is made from the same
//
// The body replaces the call before a graph is placed (internal/pass). If a loop of the
// module depends on sizes that the module leaves open, the kernel calls the body instead,
// and keeps bodies for shapes that come again (specialize.go). A body has no functions:
// calls in the module are expanded, and control flow is that of TensorFlow 1. A value that
// is broadcast is not expanded as long as only elementwise operations use it ([thin]).
package xla

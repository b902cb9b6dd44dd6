// Package core is the engine's half of Gorge: what an operation is, what a
// kernel sees, and what a step consists of. Authors of operations, kernels,
// devices and tools use it. Programs that only build and run graphs need package
// tf alone.
//
//	OpDef, registered once ◄── Def ── Node, one use of it: name, attributes, types, device
//	 │
//	 ├─ Shape    func(*Infer) error          Infer: the node, shapes and known values of its
//	 │                                       inputs; it takes the shapes of the outputs
//	 ├─ Kernels  NewKernel(*Node) ► Kernel   made once for a node, called for each execution
//	 │                              │
//	 │                              └─ with  OpContext: the node, inputs, outputs, memory,
//	 │                                       and the Step: device, rendezvous, resources,
//	 │                                       call frame, context
//	 └─ Grad     tf.GradFunc                 adds the operations that compute gradients
//
// [Register] makes an [OpDef] known. While a graph is built, the shape function
// gets an [Infer]: the node, the shapes of its inputs, and values that are known
// already. Before a graph runs, the [NewKernel] that fits the node's types makes a
// [Kernel], once for each node; it reads attributes then. Each execution gives the
// kernel an [OpContext]: the inputs, a place for the outputs, memory, and the
// [Step] that it is part of. Many steps may call one kernel at once, so a kernel
// keeps what changes in resources, not in its closure.
//
// A kernel is a [Compute], or an [AsyncCompute] if it waits for something: that
// returns at once and calls done later. The gradient of an operation is a function
// on graphs, which this package does not know: tf.GradFunc.
//
// # Memory
//
// The elements of a [Tensor] lie in a reference-counted buffer that a pool may
// recycle. Strings, resource handles and variants are Go objects.
//
//   - An input of a kernel is borrowed: it is valid until the kernel ends. A kernel
//     that keeps it longer takes [Tensor.Share] of it, and Release gives that up.
//   - [OpContext.Alloc] makes an output whose elements are not initialized.
//     [OpContext.Set] hands the caller's reference over. [OpContext.Forward] makes
//     an output of an input without a copy. [OpContext.Temp] is memory within the
//     kernel; Release gives it back.
//   - Only the sole owner writes. A kernel writes to its outputs and temporary
//     tensors until it returns, and never to an input. To compute in place it asks
//     [OpContext.AllocFrom], which reuses an input that has no other reader.
//   - A Go slice does not count as a reference. Before a slice of a tensor outlives
//     the reference, [Tensor.Escape] takes the memory out of all pools for good.
//     Memory that has escaped is never updated in place again.
//   - At the border to programs, [Tensor.Enter] returns what a step may keep of a
//     program's tensor: a copy, or the memory itself if the program has given it
//     away. [Tensor.Leave] returns what a program gets: the memory if the step was
//     its sole owner, else a copy.
//
// A tf.Tensor and a Tensor have one structure and convert into each other:
// (*core.Tensor)(t). The conversion shares memory and copies nothing, so code
// that writes it has to follow the rules above. With -tags invariants, a use of a buffer
// after its last reference panics, and released memory is overwritten.
//
// # Stability
//
// docs/compatibility.md in the repository says what of this package may change.
package core

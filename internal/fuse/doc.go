// Package fuse runs groups of elementwise nodes, and of reductions, as one: what a chain of them computes
// in between stays in the cache and is not written to memory.
//
// A node by itself reads its operands from memory and writes its result there. A
// cluster runs all of its nodes for one block of elements before it goes on to the
// next:
//
//	x ──▶ Mul ──▶ Add ──▶ Tanh ──▶ y          x ─┐
//	       ▲       ▲                 becomes  w ─┼─▶ _Fused: Mul, Add, Tanh ─▶ y
//	       w       b                          b ─┘
//
//	block      memory            the cache             memory
//	[0, n)     x[0:n] ─ Mul ─▶ r0 ─ Add ─▶ r0 ─ Tanh ─▶ y[0:n]
//	[n, 2n)    x[n:2n] …
//
// [Fuse] is the pass. It works on the graph of one device, right before an executor
// is made of it, so that no other task ever sees a cluster. Which nodes can take part
// is said by their registration ([core.Elementwise]) and their kernels
// ([core.ElementKernel]), whose loops are run on blocks here and on whole tensors
// otherwise: the bits are the same. (gates.go, levels.go, package liveness)
//
// What a cluster does depends on shapes, which may differ from step to step. A plan
// for shapes is made when they come first and kept (plan.go): nodes whose results
// have equally many elements make a stage, small ones come first, and within a stage
// results that no other stage needs live in registers, buffers of one block. Stages
// are cut into ranges for threads as their shapes say (run.go). Where inputs contradict what
// the graph says of shapes, the nodes of a cluster run one after the other (apart.go).
//
// Steps that follow one another and for which there are exact instructions run as one
// loop of machine code (machine.go, package machine): each vector of their operands is
// loaded once, what they compute in between stays in vector registers, and only what others
// read is stored. What an operation is in machine code is said by its kernel
// ([core.ElementKernel], Lanes); all others remain calls of loops. Where there is no
// machine code, for want of instructions or of the system's consent, all steps are.
//
// A product of matrices is joined with the addition that alone reads it: a bias is added
// to rows while they are in the cache, a sum is added to where the product is computed
// (product.go). That is done only where the bits are those of a product and an addition:
// the sum over k must not be cut into blocks. A matrix whose transpose a loop multiplies by
// in each iteration is transposed once, before it (turned.go).
//
// A product that is the gradient of a large variable is joined with what applies it: the
// gradient is applied part by part as it is computed, and never in memory as a whole
// (update.go).
//
// A cluster that alone reads what a convolution or a product of matrices computes is run for
// each stretch of that as soon as it is computed, in its memory (epilogue.go). Stretches of
// stacks of products are whole rows, which a cluster may reduce: the scores of attention, their
// mask and their softmax are one node, and so are their gradients. Normalizations
// are split for that, and for clusters, into what they compute for each channel and what they
// compute for each element (norms.go). Their gradients, and those of maxima over windows, take in
// the gradient of a rectifier beside them (normgrads.go, rectified.go).
//
// Reductions along the last axes take part, too ([core.RowKernel]): with what they fold
// and what their results are broadcast to they are one stage, whose blocks are whole
// rows (columns.go, rowplan.go). Softmax and layer norm, as programs write them, read
// their operand once and write their result once.
//
// A cluster that reads a sum, a product or the like from within another one computes it
// itself where that lets the other one keep it from memory (recompute.go): what a
// backward pass needs of an activation is its operand and what is dear, as a tangent.
//
// Parts of a value along an axis, as the gates of a recurrent cell are, are cut and joined
// within clusters: a block of a part is copied between the whole, in memory, and a register
// (window.go).
//
// # Invariants
//
//   - The graph of clusters has no cycles: each path that leaves a cluster leads to
//     higher levels only (levels.go).
//   - All nodes of a cluster are dead or alive together, and none of them waits for
//     what another one sets off elsewhere, by a rendezvous or a queue (package liveness).
//   - A node is computed by the cluster of its group and by those that compute it again;
//     only the former writes its value for others.
//   - An error names the node that it is about, as if that had been run by itself.
//   - A result is written in the memory of an input only if all nodes that read the
//     input have done so, and nothing else owns it.
//   - Machine code gives the bits of the loops that it stands for, and accesses each element
//     in their order.
//   - A plan is not changed once it is made; what one range needs is in a frame.
package fuse

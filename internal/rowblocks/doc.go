// Package rowblocks saves memory of steps: parts of a graph that compute row by row are
// run for some rows at a time, so that the large values within them are never in memory
// as a whole. A model's last layer is the common case, whose logits are as many as there
// are words in a vocabulary for each word of a batch:
//
//	h ─▶ MatMul ─▶ BiasAdd ─▶ cross-entropy ─▶ loss           h ─┐
//	      ▲          ▲          │ backprop                    w ─┼─▶ _RowBlocks ─▶ loss
//	      w          b          ▼                             b ─┤               ─▶ dh
//	                 db ◀─ d·logits ─▶ dh, dw     becomes     y ─┘               ─▶ dw, db
//
//	for rows [lo, hi):  logits = h[lo:hi]·w + b;  loss[lo:hi], d = …
//	                    dh[lo:hi] = d·wᵀ;  dw += h[lo:hi]ᵀ·d;  db += Σ d
//
// [Rewrite] is the pass. It works on the graph of one device, after package recompute and before
// package fuse, and only where memory counts for more than time. A region (region.go) begins at a
// product and takes in what follows from it, as long as each row of a result follows from
// the same row of what it is computed from (rule.go), or the result is a sum over rows. The
// forward and the backward pass of a perceptron are one region, so that its step is one over
// many small batches whose gradients are added up.
//
// # What holds
//
//   - Nodes of a region compute nothing but values, are dead or alive together and wait for
//     the same: none of their effects, and no order between them, can be seen from outside.
//   - No path leads out of a region and back into it.
//   - Rows of results are the bits that the nodes give for these rows. Sums over rows are
//     those of the blocks, added up in order: they differ from sums over all rows by their
//     rounding, as sums in any other order do, and do not depend on the number of threads.
//   - What the graph does not say of shapes is checked in the step. Where a value has not as
//     many rows as the others, or a node fails, all nodes run one after the other on all rows,
//     as they would have without this package. Once the memory of an input has been written
//     over they cannot: then an error says which rows it is about.
package rowblocks

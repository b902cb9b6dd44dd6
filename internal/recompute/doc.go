// Package recompute saves memory of training steps: values of a forward pass that
// only its gradients still need are not kept, but computed again when the backward
// pass gets there. It is what TensorFlow's memory optimizer does for
// RewriterConfig.memory_optimization.
//
//	x ─▶ f ─▶ g ─▶ … ─▶ loss            x ─▶ f ─▶ g ─▶ … ─▶ loss
//	     │                   │                                │
//	     ▼                   ▼    becomes        x ─▶ f' ◀┄┄ dy
//	     fGrad ◀─────────── dy                       ▼        │
//	                                               fGrad ◀────┘
//
// The copy f' waits (┄) for a gradient that fGrad needs as well, its trigger, so that
// it is not computed before. Which nodes are gradients is told by their names: they are
// in a name scope "gradients/", or the one that the options give, or one that has got a
// number behind that.
//
// Two kinds of values are computed again:
//
//   - Those of a segment (segment.go): nodes that a program has marked by attribute
//     _recompute_hint, with the same number, as far as edges join them. What others than
//     gradients read of a segment is kept, and all else but what has state is computed
//     again from what the segment reads. The number 0, with which TensorFlow's programs
//     mark nodes, stands for segments of which nothing is kept.
//   - With Heuristics, values that are cheap (cheap.go): elementwise operations,
//     normalizations, views. Each is computed again by itself from values that are kept
//     anyway, or from less than it takes.
//
// # What holds
//
//   - Copies compute the same bits as what they are copies of: nodes with state, with
//     references, or that direct the flow of a step are never copied.
//   - A copy is alive whenever what reads it is, and makes nothing wait for what it did
//     not wait for before (package liveness).
//   - No copy waits for itself: its trigger comes, in a sorted order of the graph, before
//     all that reads the copy.
package recompute

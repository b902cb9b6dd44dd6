// Package collective lets devices of one or several tasks do things together:
// reduce, gather, exchange and broadcast tensors.
//
// Devices find each other in groups, which a leader among the tasks completes
// (group.go, resolve.go). The schedule (senders, receivers, order) is worked out
// without I/O (ring.go, tree.go). Values lie in tables of their steps until the
// receiver has them (buffers.go), in this task or, by way of the interface
// [Peer], in another. Keys, order and bytes are those of TensorFlow's tasks, which
// may be among the others.
//
//	device's kernel ─ Runtime.Do
//	     │ group     join; the leader's CompleteGroup, unless this task leads
//	     │ instance  all members agree on kind, type and shape; which is the source
//	     ▼
//	exec: ring or tree, by rank ─ send ─▶ buffers.give(key) ─ ─ value lies open ─ ─┐
//	     ▲                                                                          │
//	     └──────── receive ◀── same task: buffers.take(key) ◀───────────────────────┤
//	                       ◀── other task: Peer.RecvBuf ◀── RecvBuf serves take ◀───┘
//
// # Invariants
//
//   - A group is complete once: ready is closed with full or err set before, and
//     members, ranks and perTask do not change after that. These are read without a
//     lock then; step and remote only under groups.mu. A member that gives up before
//     ends the group for all, since the number of members can never be reached.
//   - A value is given once under its key and taken once, without a copy: the taker
//     reads the giver's memory until it returns the [Loan], for which give waits. If
//     give's context ends before, a value that is not taken is withdrawn; one that is
//     stays, since the taker holds a reference to the tensor.
//   - A step exists as long as something uses it (acquire, release). The first error
//     cancels its context and so all that waits in it; a step that has failed stays
//     until Cleanup, so that members that come late get the error and do not wait.
//   - Errors that reach other members are marked as derived (aborted): the first one
//     explains the step.
//
// Each of Runtime.mu, groups.mu, instances.mu, buffers.mu and sequences.mu guards one
// table. They are not held while anything waits, nor one while another is taken.
package collective

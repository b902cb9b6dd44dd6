// Package collective lets devices of one or several tasks do things together:
// reduce, gather, exchange and broadcast tensors.
//
// Devices find each other in groups, which a leader among the tasks completes
// (group.go, resolve.go). Who sends what to whom in which order is worked out
// without I/O (ring.go, tree.go). Values lie in tables of their steps until who
// wants them has them (buffers.go), in this task or, by way of the interface
// [Peer], in another. Keys, order and bytes are those of TensorFlow's tasks, which
// may be among the others.
package collective

// Package verbs receives tensors from other tasks by RDMA: a receiver tells
// where the tensor has to go, the sender writes it there, and nobody copies.
//
// An [Adapter] is an opened device with its completion queue and registered
// memory. A [Channel] is the connection to one peer, over a queue pair of its
// own: short control messages, and the contents of tensors. A [Manager] makes
// the channels of a task when they are first needed, learning peers' addresses
// through the cluster's other transport, and is the task's
// rendezvous.Transport.
//
// The protocol on the wire is that of TensorFlow's grpc+verbs servers in its
// zero-copy form, which came with TensorFlow 1.6. What Gorge adds to it
// (cancelled receives, shapes that TensorFlow's messages have no room for) is
// used only between peers that say in their first message that they know it.
//
// Devices come from providers behind the interfaces of provider.go, which have
// the shape of libibverbs. Package ibv is the one of libibverbs, with the build
// tag rdma; package soft is one for machines without RDMA.
package verbs

// Package verbs receives tensors from other tasks by RDMA: a receiver tells
// where the tensor has to go, the sender writes it there, and neither side copies it.
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
// Peers that also say hello over the control channel (hello.go) refuse strangers
// and past lives, and count receives, so that these never run out (credits.go).
//
// # One receive
//
// Both ends number receives by an index, which the immediate values of writes
// carry. Messages go through one buffer at each end, so the next one waits for the
// acknowledgement of the last (messageQueue). Between Gorge's tasks the buffer holds
// all that wait (batch).
//
//	receiver: request                         sender: response
//
//	recv: room, if the last tensor
//	under the key tells its shape
//	      ── tensorRequest ────────────────▶  requested: Serve waits for the value
//	                                          produced:
//	written ◀── write, immediate: index ───     the room fits: write
//	offered ◀── metaDataUpdate ────────────     it does not: offer
//	  prepare makes room
//	      ── tensorReRequest ──────────────▶  requestedAgain: write
//	refused ◀── errorStatus ───────────────     there is no value: refuse
//	abandon: the context has ended
//	      ── tensorCancel ─────────────────▶  cancelled: refuse, if it is not being written
//
// tensorCancel exists between Gorge's tasks only. A request ends for its caller when
// the first answer comes or its context ends (answered), but stays in the table with
// its memory until the peer's last word, a write or an error: until then the peer
// may write there. It also ends when the queue pair is destroyed, after which the
// device writes no more.
//
// # A channel's states
//
//	made ─ connect, as the one asked ─▶ connected ─ the peer's ping ─┐
//	  │                                                              ▼
//	  └─ connect, as the one that asks ───────────────────────▶ sendable
//	                                                                 │
//	any ─ fail: error, close, silence, other address ─▶ over         │ ping: pingSeen,
//	                                                                 ▼ perhaps extended
//
// What is to be sent before sendable waits in the queues. Requests that only Gorge's
// tasks understand wait until pingSeen tells whether the peer is one (held). A
// channel that is over has destroyed its queue pair first and then ended all work,
// requests and responses; the manager makes a new one when it is needed.
//
// # Goroutines and locks
//
// An adapter has two goroutines, for completions and for events. They may not wait:
// what receivers do with a tensor runs on goroutines of the channel (finish). A
// channel counts all that uses its device in wg, which close waits for (enter). A
// manager has one goroutine for the keepalive, one for each exchange of addresses and
// one for each channel that is being replaced; Close waits for all of them.
//
// Manager.mu is taken before Channel.mu and before Adapter.mu; the last two are not
// held together. Serve, the done functions of receives and allocators are called
// with none of them held.
//
// Devices come from providers behind the interfaces of provider.go, which have
// the shape of libibverbs. Package ibv is the one of libibverbs, with the build
// tag rdma; package soft is one for machines without RDMA.
package verbs

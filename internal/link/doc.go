// Package link carries the unary calls of gRPC services between Gorge's own
// processes with less on the way: a call is written by its caller, one frame
// each way, and a tensor's elements go from their memory to the connection and
// from the connection to the receiver's memory.
//
// A link is a connection to the port at which gRPC is served; its first bytes
// tell the two apart. Both ends begin with the preface. What follows are frames:
//
//	byte  0      kind: call, reply, cancel, goodbye, ping, pong, notify (a call without reply)
//	bytes 1-3    zero
//	bytes 4-7    the number of the call, which the caller chose
//	bytes 8-11   length of the head
//	bytes 12-19  length of the body
//	             head: of a call, time limit in microseconds (0: none) and method,
//	             then, if there are any, how many names with values follow, and these;
//	             of a reply, code, text, headers and trailers
//	             body: the message, as the codec writes it
//
// Numbers are little-endian; those within heads are varints, and before each
// text stands its length. A goodbye asks the caller to make no more calls here:
// those under way are still answered. Either end sends a ping when it has heard
// nothing for a while, and takes the other one for gone if nothing comes then.
//
// The way of a call; the goroutines of the link that take part stand in brackets:
//
//	caller ─ Client.Invoke ─ conn.send ─▶ ... ─▶ serverConn.next   [link's reader]
//	   │                                             │ starters: on the reader, no goroutine
//	   │ polls for the reply (spin),                 ▼ other methods: handlerPool
//	   │ then blocks                              handler          [pool]
//	   ▼                                             │
//	Reply ◀─ Client.reply ◀─ Client.next ◀─ ... ◀─ request.reply ─ conn.send
//	         [link's reader or the caller that polls]
//
// Frames are written by the goroutine that sends them, for all that send
// meanwhile; see conn. A goroutine of the link writes only what a sender that may
// not wait has left.
//
// Lock order: frameReader.mu before conn.mu. The first is held while a polling
// caller handles frames, the second only for a few instructions, never during
// input, output or callbacks.
//
// A call ends exactly once, by the first of: its reply (answered), its context
// (left), the link's end. While its reply is decoded into the caller's memory
// (decoding) the context does not end it: the caller must not get the memory back
// before that is over. A link ends once, with conn.err; all its calls end then,
// and its goroutines: Client.Close and serverConn.serve wait for them.
//
// Everything above sees gRPC's interfaces: [Client] is a
// [google.golang.org/grpc.ClientConnInterface], [Server] a
// [google.golang.org/grpc.ServiceRegistrar].
package link

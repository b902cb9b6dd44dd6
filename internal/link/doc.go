// Package link carries the unary calls of gRPC services between Gorge's own
// processes with less on the way: a call is written by who makes it, one frame
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
// Everything above sees gRPC's interfaces: [Client] is a
// [google.golang.org/grpc.ClientConnInterface], [Server] a
// [google.golang.org/grpc.ServiceRegistrar].
package link

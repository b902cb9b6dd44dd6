package rpc

import (
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// A TensorResponse is the answer to RecvTensor: the message that crosses the
// wire in a form of its own, so that elements are copied once, from the
// connection to where the receiver wants them.
//
// A server hands its reference to Tensor over to the codec.
type TensorResponse struct {
	Tensor    *core.Tensor // nil if Dead
	Dead      bool
	SendStart int64 // microseconds since 1970 at the sender when the value was ready
	// RequireAck asks the receiver to call MarkRecvFinished: the sender keeps
	// the answer until then, for receivers that have to ask again.
	RequireAck bool

	alloc rendezvous.Alloc // of the receiver
	err   error            // why a well-formed answer could not be taken
}

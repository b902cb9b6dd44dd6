package rpc

import (
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

// A TensorResponse is the answer to RecvTensor: the message that crosses the
// wire in a form of its own, so that elements are copied once, from the
// connection to where the receiver wants them.
//
// A server hands its reference to Tensor over to the codec.
type TensorResponse struct {
	Tensor    *tf.Tensor // nil if Dead
	Dead      bool
	SendStart int64 // microseconds since 1970 at the sender when the value was ready
	// RequireAck asks the receiver to call MarkRecvFinished: the sender keeps
	// the answer until then, for receivers that have to ask again.
	RequireAck bool

	alloc rendezvous.Alloc // of the receiver
	err   error            // why a well-formed answer could not be taken
}

// tensorProto returns a tensor of Go objects as a message. Variants can cross
// only if they came from a peer: nobody else knows their encoding.
func tensorProto(t *tf.Tensor) (*pb.TensorProto, error) {
	p := tf.TensorProto(t)
	p.VariantVal = nil
	for _, v := range t.Variants() {
		data, ok := v.Value.(*pb.VariantTensorDataProto)
		if !ok {
			return nil, tf.Errorf(tf.Unimplemented, "a variant must have an encoding to be sent to another task, %T has none", v.Value)
		}
		p.VariantVal = append(p.VariantVal, data)
	}
	return p, nil
}

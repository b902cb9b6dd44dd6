package rpc

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/weight"
)

// A request is what a server decodes a call's message by: only if there is memory for
// it. The error is left here, since gRPC makes an Internal one of all that a codec
// returns.
type request struct {
	message any
	err     error
}

func (r *request) decode(messages encoding.CodecV2, data mem.BufferSlice) error {
	m, ok := r.message.(proto.Message)
	if !ok || data.Len() < weight.Negligible {
		return messages.Unmarshal(data, r.message)
	}
	flat := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer flat.Free()
	if r.err = weight.Room(flat.ReadOnlyData(), m); r.err != nil {
		return nil
	}
	return messages.Unmarshal(mem.BufferSlice{flat}, r.message)
}

// accept decodes a call's message into m by what the transport gives for it.
func accept(dec func(any) error, m any) error {
	r := request{message: m}
	if err := dec(&r); err != nil {
		return err
	}
	return r.err
}

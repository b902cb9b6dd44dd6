package rpc

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	"github.com/gorge-tf/gorge/tf/core"
)

// Codec returns the codec of both services: protocol buffers, except that a
// [TensorResponse] and a [BufferResponse] are encoded and decoded by hand. Its name is "proto", as
// peers expect; servers and channels are given it explicitly.
func Codec() encoding.CodecV2 { return codec{encoding.GetCodecV2(proto.Name)} }

type codec struct{ messages encoding.CodecV2 }

// Name is that of protocol buffers.
func (codec) Name() string { return proto.Name }

// Marshal encodes v. gRPC and links encode answers where no interceptor stands, so
// panics become errors here, as in Unmarshal.
func (c codec) Marshal(v any) (out mem.BufferSlice, err error) {
	defer core.Recover(&err, "encoding a message")
	switch r := v.(type) {
	case *TensorResponse:
		return r.encode()
	case *BufferResponse:
		return r.encode()
	}
	return c.messages.Marshal(v)
}

// Unmarshal decodes data, which it does not keep, into v.
func (c codec) Unmarshal(data mem.BufferSlice, v any) (err error) {
	defer core.Recover(&err, "decoding a message")
	switch r := v.(type) {
	case *TensorResponse:
		return r.decode(data)
	case *BufferResponse:
		return r.decode(data)
	case *request:
		return r.decode(c.messages, data)
	}
	return c.messages.Unmarshal(data, v)
}

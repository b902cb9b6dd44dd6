package rpc

import (
	"math"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// The fields of RecvTensorResponse and of the messages inside it, as tags.
const (
	tagTensor     = 1<<3 | 2
	tagDead       = 2<<3 | 0
	tagSendStart  = 3<<3 | 0
	tagRequireAck = 5<<3 | 0

	tagDType   = 1<<3 | 0 // TensorProto
	tagShape   = 2<<3 | 2
	tagContent = 4<<3 | 2

	tagDim  = 2<<3 | 2 // TensorShapeProto
	tagSize = 1<<3 | 0 // TensorShapeProto.Dim
)

// maxMessage is the largest message that a protocol buffer may be, and gRPC's
// limit in both directions.
const maxMessage = math.MaxInt32

// encode returns the message as TensorFlow's workers write it: all other
// fields first, then the tensor, whose elements come last and are not copied
// if they are many. It takes over the reference to the tensor.
func (r *TensorResponse) encode() (mem.BufferSlice, error) {
	head := r.appendFlags(make([]byte, 0, 128))
	t := r.Tensor
	switch {
	case t == nil:
		return mem.BufferSlice{mem.SliceBuffer(appendNothing(head))}, nil
	case t.Buffer() == nil:
		return encodeObjects(head, t)
	}
	meta := appendMeta(nil, t)
	n := t.Buffer().Len()
	size := len(meta) + protowire.SizeTag(4) + protowire.SizeBytes(n)
	if len(head)+protowire.SizeTag(1)+protowire.SizeBytes(size) > maxMessage {
		t.Release()
		return nil, tooLarge()
	}
	head = protowire.AppendVarint(append(head, tagTensor), uint64(size))
	head = protowire.AppendVarint(append(append(head, meta...), tagContent), uint64(n))
	return appendContent(head, t), nil
}

func tooLarge() error {
	return core.Errorf(core.Internal, "Cannot encode a Tensor that exceeds the 2GB protobuf limit.")
}

func (r *TensorResponse) appendFlags(b []byte) []byte {
	if r.Dead {
		b = append(b, tagDead, 1)
	}
	if r.SendStart != 0 {
		b = protowire.AppendVarint(append(b, tagSendStart), uint64(r.SendStart))
	}
	if r.RequireAck {
		b = append(b, tagRequireAck, 1)
	}
	return b
}

// appendNothing writes the tensor that stands for none: float, no elements.
func appendNothing(b []byte) []byte {
	return append(b, tagTensor, 8, tagDType, byte(core.Float32), tagShape, 4, tagDim, 2, tagSize, 0)
}

// appendMeta writes type and shape. A scalar has no shape, a dimension always
// has its size, even 0.
func appendMeta(b []byte, t *core.Tensor) []byte {
	b = protowire.AppendVarint(append(b, tagDType), uint64(t.DType()))
	if t.Rank() == 0 {
		return b
	}
	size := 0
	for _, d := range t.Shape() {
		size += protowire.SizeTag(2) + protowire.SizeBytes(dimSize(d))
	}
	b = protowire.AppendVarint(append(b, tagShape), uint64(size))
	for _, d := range t.Shape() {
		b = append(b, tagDim, byte(dimSize(d)), tagSize)
		b = protowire.AppendVarint(b, uint64(d))
	}
	return b
}

// dimSize is the length of a Dim message, below 128.
func dimSize(d int) int { return protowire.SizeTag(1) + protowire.SizeVarint(uint64(d)) }

// appendContent appends the elements of t: few as a copy, many as they are.
func appendContent(head []byte, t *core.Tensor) mem.BufferSlice {
	content := t.Buffer().Bytes()
	if mem.IsBelowBufferPoolingThreshold(len(content)) {
		head = append(head, content...)
		t.Release()
		return mem.BufferSlice{mem.SliceBuffer(head)}
	}
	content = content[:len(content):len(content)]
	return mem.BufferSlice{mem.SliceBuffer(head), mem.NewBuffer(&content, lent{t.Buffer()})}
}

// lent is the home of elements that gRPC sends: when it is done with them, it
// drops the reference to the tensor's memory that they came with.
type lent struct{ buf *memory.Buffer }

// Put gives the memory back.
func (l lent) Put(*[]byte) { l.buf.Unref() }

// Get is never called: only encode puts buffers there.
func (l lent) Get(n int) *[]byte { b := make([]byte, n); return &b }

// encodeObjects writes strings, handles and variants as any message.
func encodeObjects(head []byte, t *core.Tensor) (mem.BufferSlice, error) {
	p, err := core.EncodeTensor(t)
	t.Release()
	if err != nil {
		return nil, err
	}
	m := &pb.RecvTensorResponse{Tensor: p}
	if len(head)+proto.Size(m) > maxMessage {
		return nil, tooLarge()
	}
	b, err := proto.MarshalOptions{}.MarshalAppend(head, m)
	if err != nil {
		return nil, core.Errorf(core.Internal, "encoding a %v%v: %v", t.DType(), t.Shape(), err)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

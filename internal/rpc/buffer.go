package rpc

import (
	"sync/atomic"
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A BufferResponse is the answer to RecvBuf. Like that to RecvTensor it crosses
// the wire in a form of its own, so that bytes are copied once.
type BufferResponse struct {
	Content []byte
	// Sent is called when Content has been sent, or never will be.
	Sent func()
	// RequireAck asks the receiver to call MarkRecvFinished.
	RequireAck bool

	into []byte // memory of the receiver, which it must fill
	err  error  // why a well-formed answer could not be taken
}

// The fields of RecvBufResponse and of the messages inside it, as tags.
const (
	tagBufOptions   = 4<<3 | 2
	tagBufSendStart = 5<<3 | 0
	tagBufAck       = 6<<3 | 0

	tagAnyType  = 1<<3 | 2 // Any
	tagAnyValue = 2<<3 | 2

	tagExtraContent = 1<<3 | 2 // RecvBufRespExtra
)

// extraURL is the type of what holds the bytes.
const extraURL = "type.googleapis.com/tensorflow.RecvBufRespExtra"

// maxPiece is how many bytes a piece of the content has at most: receivers that
// do not know the length in advance would have to move what they have.
const maxPiece = 1 << 20

// encode returns the message as TensorFlow's workers write it, in larger pieces.
func (r *BufferResponse) encode() (mem.BufferSlice, error) {
	value := sizeInPieces(len(r.Content))
	options := protowire.SizeTag(1) + protowire.SizeBytes(len(extraURL)) + protowire.SizeTag(2) + protowire.SizeBytes(value)
	head := protowire.AppendVarint([]byte{tagBufSendStart}, uint64(time.Now().UnixMicro()))
	if r.RequireAck {
		head = append(head, tagBufAck, 1)
	}
	if len(head)+protowire.SizeTag(4)+protowire.SizeBytes(options) > maxMessage {
		r.Sent()
		return nil, tooLarge()
	}
	head = protowire.AppendVarint(append(head, tagBufOptions), uint64(options))
	head = protowire.AppendString(append(head, tagAnyType), extraURL)
	head = protowire.AppendVarint(append(head, tagAnyValue), uint64(value))
	if mem.IsBelowBufferPoolingThreshold(len(r.Content)) {
		head = appendPieces(head, r.Content)
		r.Sent()
		return mem.BufferSlice{mem.SliceBuffer(head)}, nil
	}
	return r.lend(head), nil
}

// sizeInPieces is the length of n bytes in pieces.
func sizeInPieces(n int) int {
	full, rest := n/maxPiece, n%maxPiece
	size := full * (protowire.SizeTag(1) + protowire.SizeBytes(maxPiece))
	if rest > 0 {
		size += protowire.SizeTag(1) + protowire.SizeBytes(rest)
	}
	return size
}

func appendPieces(b, content []byte) []byte {
	for len(content) > 0 {
		n := min(len(content), maxPiece)
		b = protowire.AppendBytes(append(b, tagExtraContent), content[:n])
		content = content[n:]
	}
	return b
}

// lend returns the message with the content where it is, but for a last piece that
// is so small that gRPC would not tell when it has been sent.
func (r *BufferResponse) lend(head []byte) (out mem.BufferSlice) {
	home := &borrowed{back: r.Sent}
	home.left.Store(1)
	for content := r.Content; len(content) > 0; head = nil {
		n := min(len(content), maxPiece)
		if mem.IsBelowBufferPoolingThreshold(n) {
			out = append(out, mem.SliceBuffer(appendPieces(head, content)))
			break
		}
		piece := content[:n:n]
		content = content[n:]
		home.left.Add(1)
		head = protowire.AppendVarint(append(head, tagExtraContent), uint64(n))
		out = append(out, mem.SliceBuffer(head), mem.NewBuffer(&piece, home))
	}
	home.Put(nil)
	return out
}

// borrowed is the home of the pieces that gRPC sends of one message.
type borrowed struct {
	left atomic.Int32
	back func()
}

// Put tells that a piece has been sent.
func (b *borrowed) Put(*[]byte) {
	if b.left.Add(-1) == 0 {
		b.back()
	}
}

// Get is never called: only lend puts buffers there.
func (b *borrowed) Get(n int) *[]byte { m := make([]byte, n); return &m }

// decode reads an answer to the receiver's memory. An error says that the bytes
// are no answer; that there are too many or too few of them is left in r.err.
func (r *BufferResponse) decode(data mem.BufferSlice) error {
	got, ok := r.decodeFast(newCursor(data))
	if !ok {
		var err error
		if got, err = r.decodeAny(data); err != nil {
			return err
		}
	}
	if got != len(r.into) {
		r.err = core.Errorf(core.Internal, "Tensor Size Mismatch: RecvBufResponse returned %d bytes, expected: %d", got, len(r.into))
	}
	return nil
}

// decodeFast returns how many bytes there were, and whether it could read all of
// the message.
func (r *BufferResponse) decodeFast(c *cursor) (got int, ok bool) {
	seen := false
	for c.left > 0 {
		tag, ok := c.varint()
		switch {
		case !ok:
			return 0, false
		case tag == tagBufOptions && !seen:
			if got, ok = r.decodeOptions(c); !ok {
				return 0, false
			}
			seen = true
		case tag == tagBufSendStart || tag == tagBufAck:
			v, ok := c.varint()
			if !ok {
				return 0, false
			}
			r.RequireAck = tag == tagBufAck && v != 0 || r.RequireAck
		default:
			return 0, false
		}
	}
	return got, seen
}

// decodeOptions reads an Any, whose type comes first.
func (r *BufferResponse) decodeOptions(c *cursor) (got int, ok bool) {
	n, ok := c.length()
	end := c.left - n
	if tag, is := c.varint(); !ok || !is || tag != tagAnyType {
		return 0, false
	}
	if n, ok = c.length(); !ok || n != len(extraURL) {
		return 0, false
	}
	var kind [len(extraURL)]byte
	if c.copy(kind[:]); string(kind[:]) != extraURL {
		return 0, false
	}
	if c.left == end {
		return 0, true
	}
	if tag, is := c.varint(); !is || tag != tagAnyValue {
		return 0, false
	}
	if n, ok = c.length(); !ok || c.left-n != end {
		return 0, false
	}
	return r.decodeContent(c, end)
}

func (r *BufferResponse) decodeContent(c *cursor, end int) (got int, ok bool) {
	for c.left > end {
		tag, ok := c.varint()
		if !ok || tag != tagExtraContent {
			return 0, false
		}
		n, ok := c.length()
		if !ok || c.left-n < end {
			return 0, false
		}
		if got+n > len(r.into) {
			c.skip(n)
		} else {
			c.copy(r.into[got : got+n])
		}
		got += n
	}
	return got, c.left == end
}

// decodeAny reads any valid encoding.
func (r *BufferResponse) decodeAny(data mem.BufferSlice) (got int, err error) {
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	var m pb.RecvBufResponse
	if err := proto.Unmarshal(whole.ReadOnlyData(), &m); err != nil {
		return 0, core.Errorf(core.Internal, "RecvBuf's answer is no RecvBufResponse: %v", err)
	}
	r.RequireAck = m.GetRequireAck()
	var extra pb.RecvBufRespExtra
	if m.GetTransportOptions() == nil {
		return 0, nil
	}
	if err := pb.UnpackAny(m.GetTransportOptions(), &extra); err != nil {
		return 0, core.Errorf(core.Internal, "RecvBuf's answer holds no RecvBufRespExtra: %v", err)
	}
	for _, piece := range extra.GetTensorContent() {
		if got < len(r.into) {
			copy(r.into[got:], piece)
		}
		got += len(piece)
	}
	return got, nil
}

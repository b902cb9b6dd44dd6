package link

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Preface is what both ends of a link say first. gRPC's clients begin with a P.
const Preface = "GORGE-LINK/3\n"

type kind byte

const (
	kindCall kind = iota + 1
	kindReply
	kindCancel
	kindGoodbye
	kindPing
	kindPong
	kindNotify
)

const (
	headerSize = 20
	maxHead    = 64 << 10
	maxBody    = math.MaxInt32 // as much as gRPC is allowed to carry
)

// A header stands at the beginning of a frame.
type header struct {
	kind kind
	call uint32
	head int
	body int
}

func (h header) append(b []byte) []byte {
	b = append(b, byte(h.kind), 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, h.call)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.head))
	return binary.LittleEndian.AppendUint64(b, uint64(h.body))
}

// readHeader reads the header of the next frame. An io.EOF says that there is
// none.
func readHeader(r *bufio.Reader) (header, error) {
	b, err := r.Peek(headerSize)
	if err != nil {
		if err == io.EOF && len(b) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return header{}, err
	}
	h, err := parseHeader(b)
	if err == nil {
		_, err = r.Discard(headerSize)
	}
	return h, err
}

func parseHeader(b []byte) (header, error) {
	head, body := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint64(b[12:])
	if b[0] == 0 || b[0] > byte(kindNotify) || b[1]|b[2]|b[3] != 0 || head > maxHead || body > maxBody {
		return header{}, status.Errorf(codes.Internal, "a frame of a link begins with a kind, zeros, a call and lengths up to %d and %d, got % x", maxHead, maxBody, b[:headerSize])
	}
	return header{kind(b[0]), binary.LittleEndian.Uint32(b[4:]), int(head), int(body)}, nil
}

// A frame is what goes out at once.
type frame struct {
	front []byte          // header, head, and the body if it is small
	body  mem.BufferSlice // freed when it is out, or cannot go
	size  int             // bytes of both
}

// newFrame puts a frame together. Small bodies are copied: one piece is written
// faster than two.
func newFrame(k kind, call uint32, head []byte, body mem.BufferSlice) frame {
	n := body.Len()
	h := header{k, call, len(head), n}
	if n > smallBody {
		return frame{append(h.append(make([]byte, 0, headerSize+len(head))), head...), body, headerSize + len(head) + n}
	}
	front := append(h.append(make([]byte, 0, headerSize+len(head)+n)), head...)
	for _, piece := range body {
		front = append(front, piece.ReadOnlyData()...)
	}
	body.Free()
	return frame{front: front, size: len(front)}
}

// encode returns a message as the body of a frame. One that is longer than a frame may carry
// is refused: the peer would end the link over it, and all calls with it.
func encode(codec encoding.CodecV2, what string, message any) (mem.BufferSlice, error) {
	body, err := codec.Marshal(message)
	if err != nil {
		return nil, status.Errorf(codes.Internal, "encoding %s: %v", what, err)
	}
	if n := body.Len(); n > maxBody {
		body.Free()
		return nil, status.Errorf(codes.ResourceExhausted, "trying to send message larger than max (%d vs. %d)", n, maxBody) // in gRPC's words
	}
	return body, nil
}

// smallBody is the length up to which a body is copied behind its head.
const smallBody = 8 << 10

// callHead says what is called, and for how long the caller waits: 0 is for
// ever. Pairs are names and values that go with the call.
func callHead(method string, limit time.Duration, pairs ...string) []byte {
	us := uint64(0)
	if limit > 0 {
		us = max(uint64(limit.Microseconds()), 1)
	}
	b := binary.AppendUvarint(make([]byte, 0, 16+len(method)), us)
	b = appendText(b, method)
	if len(pairs) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(pairs)/2))
	for _, s := range pairs {
		b = appendText(b, s)
	}
	return b
}

func parseCallHead(b []byte) (method string, limit time.Duration, md metadata.MD, err error) {
	p := parser{b: b}
	us := p.number()
	method = p.text()
	if len(p.b) > 0 {
		md = p.pairs()
	}
	if us > uint64(math.MaxInt64/time.Microsecond) {
		us = 0
	}
	return method, time.Duration(us) * time.Microsecond, md, p.end("call")
}

// An outcome is what a reply says besides its message.
type outcome struct {
	code            codes.Code
	msg             string
	header, trailer metadata.MD
}

func outcomeOf(err error) outcome {
	s, ok := status.FromError(err)
	if !ok {
		s = status.FromContextError(err)
	}
	return outcome{code: s.Code(), msg: s.Message()}
}

func (o *outcome) err() error {
	if o.code == codes.OK {
		return nil
	}
	return status.Error(o.code, o.msg)
}

func (o *outcome) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(o.code))
	b = appendText(b, o.msg)
	return appendPairs(appendPairs(b, o.header), o.trailer)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendPairs(b []byte, md metadata.MD) []byte {
	n := 0
	for _, v := range md {
		n += len(v)
	}
	b = binary.AppendUvarint(b, uint64(n))
	for k, vs := range md {
		for _, v := range vs {
			b = appendText(appendText(b, k), v)
		}
	}
	return b
}

func parseOutcome(b []byte) (outcome, error) {
	p := parser{b: b}
	o := outcome{code: codes.Code(p.number()), msg: p.text()}
	o.header, o.trailer = p.pairs(), p.pairs()
	return o, p.end("reply")
}

// A parser reads a head. After what does not fit it reads zeros.
type parser struct {
	b   []byte
	bad bool
}

func (p *parser) number() uint64 {
	v, n := binary.Uvarint(p.b)
	if n <= 0 {
		p.fail()
		return 0
	}
	p.b = p.b[n:]
	return v
}

func (p *parser) text() string {
	n := p.number()
	if n > uint64(len(p.b)) {
		p.fail()
		return ""
	}
	s := string(p.b[:n])
	p.b = p.b[n:]
	return s
}

func (p *parser) pairs() (md metadata.MD) {
	for n := p.number(); n > 0 && !p.bad; n-- {
		if md == nil {
			md = metadata.MD{}
		}
		k := p.text()
		md.Append(k, p.text())
	}
	return md
}

func (p *parser) fail() { p.b, p.bad = nil, true }

func (p *parser) end(what string) error {
	if p.bad || len(p.b) > 0 {
		return status.Errorf(codes.Internal, "the head of a link's %s does not have the form it must have", what)
	}
	return nil
}

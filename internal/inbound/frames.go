package inbound

import "encoding/binary"

// HTTP/2 as gRPC uses it, RFC 9113: 4.1 for the frames, 6 for their kinds.
const (
	frameHeader = 9
	prefaceSize = 24 // what a client says before its first frame

	kindData         = 0
	kindHeaders      = 1
	kindReset        = 3
	kindContinuation = 9

	flagEndStream = 1
	flagPadded    = 8
)

// A frame is the header of one.
type frame struct {
	size   int
	kind   byte
	flags  byte
	stream uint32
}

// A scanner finds the frames in one direction of a connection, however it is cut into
// pieces.
type scanner struct {
	skip  int // bytes before the next frame
	head  [frameHeader]byte
	have  int // bytes of head
	now   frame
	left  int // bytes of the frame's payload
	pad   int // bytes at the payload's end that are padding; -1: not known yet
	frame func(frame)
	data  func(stream uint32, b []byte) // gets the payload of frames of data; nil: not wanted
}

// scan looks at the next bytes.
func (s *scanner) scan(b []byte) {
	for len(b) > 0 {
		switch {
		case s.skip > 0:
			n := min(s.skip, len(b))
			s.skip -= n
			b = b[n:]
		case s.left > 0:
			n := min(s.left, len(b))
			s.payload(b[:n])
			b = b[n:]
		default:
			n := copy(s.head[s.have:], b)
			s.have += n
			b = b[n:]
			s.begin()
		}
	}
}

// begin begins a frame if its header is there.
func (s *scanner) begin() {
	if s.have < frameHeader {
		return
	}
	s.have = 0
	h := s.head[:]
	s.now = frame{int(h[0])<<16 | int(h[1])<<8 | int(h[2]), h[3], h[4], binary.BigEndian.Uint32(h[5:]) &^ (1 << 31)}
	s.left, s.pad = s.now.size, 0
	if s.now.kind == kindData && s.now.flags&flagPadded != 0 {
		s.pad = -1
	}
	s.frame(s.now)
}

// payload looks at bytes of the frame's payload.
func (s *scanner) payload(b []byte) {
	s.left -= len(b)
	if s.data == nil || s.now.kind != kindData {
		return
	}
	if s.pad < 0 {
		s.pad = int(b[0])
		b = b[1:]
	}
	if padding := s.pad - s.left; padding > 0 {
		b = b[:max(0, len(b)-padding)]
	}
	if len(b) > 0 {
		s.data(s.now.stream, b)
	}
}

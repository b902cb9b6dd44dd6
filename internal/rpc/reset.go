package rpc

import (
	"encoding/binary"
	"net"
)

// A deadlineConn is a connection of a gRPC server that leaves the end of a call's
// time to its client.
//
// At the deadline of a call gRPC's server resets the stream with CANCEL. Its clock
// may be some microseconds ahead of the client's; TensorFlow's clients then report
// CANCELLED in place of DEADLINE_EXCEEDED. Each client of gRPC ends its calls itself
// at their deadlines, and no other reset of the server has this code, so these frames
// are not sent.
//
// Only one goroutine writes at a time, as in all connections of gRPC.
type deadlineConn struct {
	net.Conn
	left int    // bytes of the frame that is being written
	held []byte // the beginning of a frame, too short to tell what it is
}

// RFC 9113: 4.1 for the header of a frame, 6.4 for resets, 7 for their codes.
const (
	frameHeader = 9
	resetFrame  = frameHeader + 4
	kindReset   = 3
	codeCancel  = 8
)

// Write writes all frames but resets with CANCEL.
func (c *deadlineConn) Write(b []byte) (int, error) {
	n := len(b)
	if len(c.held) > 0 {
		b = append(c.held, b...)
		c.held = nil
	}
	for begin, end := 0, 0; begin < len(b); begin = end {
		next, more := c.upToReset(b, begin)
		if next > begin {
			if _, err := c.Conn.Write(b[begin:next]); err != nil {
				return 0, err
			}
		}
		if end = next + resetFrame; !more {
			c.held = append(c.held, b[next:]...)
			break
		}
	}
	return n, nil
}

// upToReset returns the end of the frames from begin on that are to be written. What
// follows is a reset if more is set, else too short to tell.
func (c *deadlineConn) upToReset(b []byte, begin int) (end int, more bool) {
	for at := begin; ; {
		n := min(c.left, len(b)-at)
		c.left -= n
		at += n
		rest := b[at:]
		switch {
		case len(rest) < frameHeader || isReset(rest) && len(rest) < resetFrame:
			return at, false
		case isReset(rest) && binary.BigEndian.Uint32(rest[frameHeader:]) == codeCancel:
			return at, true
		}
		c.left = frameHeader + int(rest[0])<<16 + int(rest[1])<<8 + int(rest[2])
	}
}

func isReset(header []byte) bool { return header[3] == kindReset }

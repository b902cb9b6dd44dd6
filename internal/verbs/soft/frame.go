package soft

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// A connection carries the requests of one queue pair to its peer, and back a
// byte for each: the status with which it has ended. It begins with a hello,
// which the peer accepts in the same way.
const (
	magic     = "gorge-qp"
	helloSize = len(magic) + 12
	accepted  = byte(verbs.Success)
	refused   = byte(verbs.RemOpErr)
)

// A hello names the queue pair that sends requests and the one that gets them. The packet number proves
// that both mean the same connection.
type hello struct{ from, to, psn uint32 }

func (h hello) bytes() []byte {
	b := append(make([]byte, 0, helloSize), magic...)
	for _, v := range []uint32{h.from, h.to, h.psn} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func readHello(r io.Reader) (hello, error) {
	var b [helloSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return hello{}, err
	}
	if string(b[:len(magic)]) != magic {
		return hello{}, errors.New("soft: a connection must begin with a hello")
	}
	v := b[len(magic):]
	return hello{binary.LittleEndian.Uint32(v), binary.LittleEndian.Uint32(v[4:]), binary.LittleEndian.Uint32(v[8:])}, nil
}

// A header comes before the bytes of a request.
type header struct {
	op   verbs.Opcode
	n    uint32
	imm  uint32
	rkey uint32
	addr uint64
}

const headerSize = 21

func (h header) put(b *[headerSize]byte) {
	b[0] = byte(h.op)
	binary.LittleEndian.PutUint32(b[1:], h.n)
	binary.LittleEndian.PutUint32(b[5:], h.imm)
	binary.LittleEndian.PutUint32(b[9:], h.rkey)
	binary.LittleEndian.PutUint64(b[13:], h.addr)
}

func parseHeader(b *[headerSize]byte) header {
	return header{
		op: verbs.Opcode(b[0]), n: binary.LittleEndian.Uint32(b[1:]), imm: binary.LittleEndian.Uint32(b[5:]),
		rkey: binary.LittleEndian.Uint32(b[9:]), addr: binary.LittleEndian.Uint64(b[13:]),
	}
}

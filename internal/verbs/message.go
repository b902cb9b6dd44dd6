package verbs

import (
	"encoding/binary"

	"github.com/gorge-tf/gorge/tf/core"
)

// The immediate values of writes: what the bytes are. All others are the index
// of the request whose tensor has been written.
const (
	immMessage = 0xFFFFFFFF // a control message, in the peer's buffer for them
	immAck     = 0xFFFFFFFE // nothing: the last control message has been read
	immBatch   = creditBase // several control messages, if the peer has room for them (batch.go)
	maxIndex   = 0xFFFFFFFD
)

// A messageType is what a control message says. The numbers are TensorFlow's.
type messageType byte

const (
	metaDataUpdate  messageType = 0 // from the sender: the tensor is not what you have room for
	tensorReRequest messageType = 1 // from the receiver: now there is room
	tensorRequest   messageType = 2 // from the receiver
	errorStatus     messageType = 3 // from the sender: there is no tensor
	tensorCancel    messageType = 4 // from the receiver, Gorge's own: it is not needed any more
)

// Where the fields of a message are. Nothing is aligned.
const (
	atType     = 0
	atNameSize = 4
	atName     = 6
	atStep     = 518
	atIndex    = 526
	atAddr     = 534
	atRKey     = 542
	atDead     = 546
	atDType    = 547
	atShape    = 551
	atBytes    = 575
	fixedSize  = 583 // where the status of an error follows

	maxKey      = atStep - atName
	keyAfter    = 0xFFFF // a name's size if it follows, with its size, behind the fixed part: Gorge's own
	maxLongKey  = 2048
	maxStatus   = 4092
	messageSize = fixedSize + 4 + maxStatus
)

// A message is one control message.
type message struct {
	typ   messageType
	index uint32 // of the request, numbered by the receiver

	key  string // of requests and repeated ones, without the step
	step int64
	addr uint64 // where the tensor is to be written
	rkey uint32
	meta metaData // what the receiver expects, or the sender has
	err  error    // of errorStatus
}

// asks reports whether the message asks for the tensor of a request.
func (m *message) asks(index uint32) bool { return m.typ == tensorRequest && m.index == index }

// put encodes m to b, which has messageSize bytes, and returns the length.
func (m *message) put(b []byte) int {
	clear(b[:fixedSize])
	b[atType] = byte(m.typ)
	after := m.putKey(b, b[fixedSize:fixedSize])
	binary.LittleEndian.PutUint64(b[atStep:], uint64(m.step))
	binary.LittleEndian.PutUint64(b[atIndex:], uint64(m.index))
	binary.LittleEndian.PutUint64(b[atAddr:], m.addr)
	binary.LittleEndian.PutUint32(b[atRKey:], m.rkey)
	if m.typ == errorStatus {
		return fixedSize + len(appendStatus(after, m.err))
	}
	return fixedSize + len(m.meta.put(b, after))
}

// putKey writes the key to its place, or to after if that has no room for it.
func (m *message) putKey(b, after []byte) []byte {
	if len(m.key) <= maxKey {
		binary.LittleEndian.PutUint16(b[atNameSize:], uint16(len(m.key)))
		copy(b[atName:atStep], m.key)
		return after
	}
	binary.LittleEndian.PutUint16(b[atNameSize:], keyAfter)
	after = binary.LittleEndian.AppendUint16(after, uint16(len(m.key)))
	return append(after, m.key...)
}

// parseKey reads the key, and returns what follows the fixed part and the key.
func (m *message) parseKey(b []byte) ([]byte, error) {
	n, after := int(binary.LittleEndian.Uint16(b[atNameSize:])), b[fixedSize:]
	if n <= maxKey {
		m.key = string(b[atName:][:n])
		return after, nil
	}
	if n != keyAfter || len(after) < 2 {
		return nil, core.Errorf(core.InvalidArgument, "an RDMA request has room for a key of %d bytes, its length is given as %d", maxKey, n)
	}
	n, after = int(binary.LittleEndian.Uint16(after)), after[2:]
	if n > min(len(after), maxLongKey) {
		return nil, core.Errorf(core.InvalidArgument, "a long key in an RDMA request must have at most %d bytes and be there, its length is given as %d", maxLongKey, n)
	}
	m.key = string(after[:n])
	return after[n:], nil
}

// parseMessage decodes a message that a peer has written.
func parseMessage(b []byte) (*message, error) {
	if len(b) < fixedSize {
		return nil, core.Errorf(core.InvalidArgument, "an RDMA message has at least %d bytes, got %d", fixedSize, len(b))
	}
	m := &message{typ: messageType(b[atType])}
	index := binary.LittleEndian.Uint64(b[atIndex:])
	if index > maxIndex {
		return nil, core.Errorf(core.InvalidArgument, "a request's index must be at most %d, got %d", maxIndex, index)
	}
	m.index = uint32(index)
	var err error
	switch m.typ {
	case tensorRequest, tensorReRequest:
		err = m.parseRequest(b)
	case metaDataUpdate:
		m.meta, err = parseMeta(b, b[fixedSize:])
	case errorStatus:
		m.err, err = parseStatus(b[fixedSize:])
	case tensorCancel:
	default:
		err = core.Errorf(core.InvalidArgument, "an RDMA message must be of type 0 to 4, got %d", m.typ)
	}
	return m, err
}

func (m *message) parseRequest(b []byte) error {
	after, err := m.parseKey(b)
	if err != nil {
		return err
	}
	m.step = int64(binary.LittleEndian.Uint64(b[atStep:]))
	m.addr = binary.LittleEndian.Uint64(b[atAddr:])
	m.rkey = binary.LittleEndian.Uint32(b[atRKey:])
	if binary.LittleEndian.Uint32(b[atDType:]) == uint32(core.Invalid) {
		return nil // the receiver does not know yet
	}
	m.meta, err = parseMeta(b, after)
	return err
}

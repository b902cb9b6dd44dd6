package verbs

import (
	"encoding/binary"

	"github.com/gorge-tf/gorge/tf/core"
)

// The older generation of TensorFlow's protocol, of TensorFlow 1.1 to 1.4, writes each
// tensor to a buffer that the receiver keeps for its key, and both ends copy. A
// task speaks one generation with all of its peers (Config.Generation).
//
//	receiver                                     sender
//
//	── olderTensorRequest{key, step} ─────────▶  Serve waits for the value
//	◀─ olderBufferRequest{key, size} ──────────  the key has no buffer, or a smaller one
//	── olderBufferResponse{key, addr, rkey} ──▶
//	◀─ write, immediate: hash of the key ──────  header (olderTensorWrite) and content
//	   copies it out
//	── olderBufferIdle{key} ──────────────────▶  the buffer is free for the next one
//
// Each message is acknowledged by another one, in a buffer of its own. TensorFlow's
// tasks have no words for errors and for receives that are cancelled: olderError and
// olderCancel are Gorge's. A request has its index where its message has a size,
// which TensorFlow's tasks do not look at; Gorge's repeat it in what they answer.

// The generations.
const (
	firstGeneration = 1 // TensorFlow 1.1 to 1.4
	lastGeneration  = 2 // TensorFlow 1.6, without copies
)

type olderType byte

// What a message of the older generation says. The numbers up to 5 are TensorFlow's.
const (
	olderAck            olderType = 0
	olderBufferIdle     olderType = 1
	olderBufferRequest  olderType = 2
	olderBufferResponse olderType = 3
	olderTensorRequest  olderType = 4
	olderTensorWrite    olderType = 5
	olderError          olderType = 6
	olderCancel         olderType = 7
)

// The names of the buffers of messages, whose hashes are immediate values.
const (
	olderMessageBuffer = "rx_message_buffer"
	olderAckBuffer     = "rx_ack_buffer"
)

var olderImmMessage, olderImmAck = hash32(olderMessageBuffer), hash32(olderAckBuffer)

// hash32 is TensorFlow's hash of a buffer's name (MurmurHash2).
func hash32(s string) uint32 {
	const seed, m = 0x1234ABCD, 0x5bd1e995
	h := uint32(seed) ^ uint32(len(s))
	for ; len(s) >= 4; s = s[4:] {
		k := binary.LittleEndian.Uint32([]byte(s[:4])) * m
		h = h*m ^ (k^k>>24)*m
	}
	if len(s) > 0 {
		h = (h ^ uint32(littleEndian([]byte(s)))) * m
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}

// An olderMessage has the fields of a message at the same places.
type olderMessage struct {
	typ  olderType
	key  string
	step int64
	size uint64 // of a buffer, or the number of a request from 1 on
	addr uint64
	rkey uint32
	meta metaData // of olderTensorWrite
	err  error    // of olderError
}

// put encodes m to b and returns the length. b has messageSize bytes, or, for a
// tensor, as many as header says.
func (m *olderMessage) put(b []byte) int {
	clear(b[:fixedSize])
	b[atType] = byte(m.typ)
	after := (&message{key: m.key}).putKey(b, b[fixedSize:fixedSize])
	binary.LittleEndian.PutUint64(b[atStep:], uint64(m.step))
	binary.LittleEndian.PutUint64(b[atIndex:], m.size)
	binary.LittleEndian.PutUint64(b[atAddr:], m.addr)
	binary.LittleEndian.PutUint32(b[atRKey:], m.rkey)
	if m.typ == olderError {
		return fixedSize + len(appendStatus(after, m.err))
	}
	return fixedSize + len(m.meta.put(b, after))
}

// header is how many bytes put writes before a tensor's content.
func (m *olderMessage) header() int {
	n := fixedSize + m.meta.extra()
	if len(m.key) > maxKey {
		n += 2 + len(m.key)
	}
	return n
}

// extra is how many bytes put appends for the shape.
func (m *metaData) extra() int {
	if m.dtype == core.Invalid || plainShape(m.shape) {
		return 0
	}
	return 8 * len(m.shape)
}

// asks reports whether the message asks for the tensor of a request.
func (m *olderMessage) asks(index uint32) bool {
	return m.typ == olderTensorRequest && m.size == uint64(index)+1
}

// parseOlder decodes a message, and returns what follows it, a tensor's content.
func parseOlder(b []byte) (*olderMessage, []byte, error) {
	if len(b) < fixedSize {
		return nil, nil, core.Errorf(core.InvalidArgument, "an RDMA message has at least %d bytes, got %d", fixedSize, len(b))
	}
	m, named := &olderMessage{typ: olderType(b[atType])}, &message{}
	after, err := named.parseKey(b)
	if err != nil {
		return nil, nil, err
	}
	m.key = named.key
	m.step = int64(binary.LittleEndian.Uint64(b[atStep:]))
	m.size = binary.LittleEndian.Uint64(b[atIndex:])
	m.addr = binary.LittleEndian.Uint64(b[atAddr:])
	m.rkey = binary.LittleEndian.Uint32(b[atRKey:])
	switch {
	case m.typ == olderTensorWrite:
		if m.meta, err = parseMeta(b, after); err == nil {
			after = after[m.meta.extra():]
		}
	case m.typ == olderError:
		m.err, err = parseStatus(after)
	case m.typ > olderCancel:
		err = core.Errorf(core.InvalidArgument, "an RDMA message must be of type 0 to 7, got %d", m.typ)
	}
	return m, after, err
}

// older is what a channel of the older generation has beside. The channel's lock
// guards it.
type older struct {
	c         *Channel
	sources   map[string]*olderSource // what we send from, by key
	sinks     map[uint32]*olderSink   // what the peer writes to, by the hash of the key
	sinkBytes uint64                  // of all sinks
	serial    uint32                  // of responses to TensorFlow's requests, which have no number
}

// maxOlderBuffers bounds the buffers for keys, which stay until the channel ends.
const maxOlderBuffers = 1 << 14

func newOlder(c *Channel) *older {
	return &older{c: c, sources: map[string]*olderSource{}, sinks: map[uint32]*olderSink{}}
}

// drop gives back all buffers, once the queue pair is no more.
func (o *older) drop() {
	c := o.c
	c.mu.Lock()
	sources, sinks := o.sources, o.sinks
	o.sources, o.sinks = nil, nil
	c.mu.Unlock()
	for _, s := range sources {
		c.release(&s.seg)
		for _, x := range s.queue {
			x.v.release()
		}
	}
	for _, s := range sinks {
		c.release(&s.seg)
	}
}

// arrived handles a write of the peer.
func (o *older) arrived(imm, n uint32) error {
	switch imm {
	case olderImmAck:
		return o.c.acknowledged()
	case olderImmMessage:
		return o.read(n)
	}
	return o.written(imm)
}

// read handles a message.
func (o *older) read(n uint32) error {
	b, err := o.c.takeMessage(n, messageSize)
	if err != nil {
		return err
	}
	m, _, err := parseOlder(b)
	if err != nil {
		return err
	}
	o.c.acknowledge()
	switch m.typ {
	case olderTensorRequest:
		return o.requested(m)
	case olderBufferRequest:
		return o.bufferWanted(m)
	case olderBufferResponse:
		return o.bufferGiven(m)
	case olderBufferIdle:
		return o.idle(m)
	case olderCancel:
		o.c.cancelled(uint32(m.size - 1))
		return nil
	case olderError:
		return o.refused(m)
	}
	return core.Errorf(core.InvalidArgument, "a message must not be of type %d", m.typ)
}

package verbs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestHash: the values are those of TensorFlow 2.21's Hash32 with the seed 0x1234ABCD.
func TestHash(t *testing.T) {
	for s, want := range map[string]uint32{
		"rx_message_buffer": 0x3ace3161, "rx_ack_buffer": 0xc6492e1d, "tx_message_buffer": 0x42190278,
		"": 0xc8773665, "a": 0x83877fae, "ab": 0xdef19050, "abc": 0x57b0628, "abcd": 0xafeb7264, "b\xff\x80": 0x46d1120,
		"/job:worker/replica:0/task:0/device:CPU:0;0000000000000001;/job:ps/replica:0/task:0/device:CPU:0;edge_5_x;0:0": 0xef87734,
	} {
		if got := hash32(s); got != want {
			t.Errorf("the hash of %q is %#x, want %#x", s, got, want)
		}
	}
}

// TestOlderLayout: each field is at its offset; the rest is 0.
func TestOlderLayout(t *testing.T) {
	m := &olderMessage{typ: olderTensorWrite, key: "ab;c", step: 0x0102030405060708, size: 0x1112131415161718, addr: 0x2122232425262728, rkey: 0x31323334, meta: floats(2, 3)}
	b := bytes.Repeat([]byte{0xEE}, messageSize)
	if n := m.put(b); n != 583 || m.header() != 583 {
		t.Errorf("a header has %d bytes, %d are said, want 583", n, m.header())
	}
	want := make([]byte, 583)
	want[0] = 5
	want[4] = 4
	copy(want[6:], "ab;c")
	binary.LittleEndian.PutUint64(want[518:], 0x0102030405060708)
	binary.LittleEndian.PutUint64(want[526:], 0x1112131415161718)
	binary.LittleEndian.PutUint64(want[534:], 0x2122232425262728)
	binary.LittleEndian.PutUint32(want[542:], 0x31323334)
	want[547] = 1 // DT_FLOAT
	want[551], want[553], want[564], want[565] = 2, 3, 1, 2
	want[567], want[575] = 6, 24
	if !bytes.Equal(b[:583], want) {
		t.Errorf("the message is\n%x, want\n%x", b[:583], want)
	}
}

// TestOlderMessages: what is put is parsed, with keys and shapes that TensorFlow's
// messages have no room for, and what follows a header is found.
func TestOlderMessages(t *testing.T) {
	deep := floats(1, 1, 1, 1, 1, 1, 2)
	for _, m := range []*olderMessage{
		{typ: olderAck, key: olderAckBuffer},
		{typ: olderBufferIdle, key: "k"},
		{typ: olderBufferRequest, key: "k", size: 583, addr: 1 << 63, rkey: 1 << 31},
		{typ: olderTensorRequest, key: strings.Repeat("k", maxKey), step: -1, size: 1 << 32},
		{typ: olderTensorRequest, key: strings.Repeat("k", maxLongKey), step: 1},
		{typ: olderTensorWrite, key: "k", meta: deadMeta()},
		{typ: olderTensorWrite, key: "k", meta: floats()},
		{typ: olderTensorWrite, key: strings.Repeat("k", maxKey+1), meta: deep},
		{typ: olderTensorWrite, key: "k", meta: metaData{dtype: core.String, shape: core.Shape{2}, bytes: 77}},
		{typ: olderError, key: strings.Repeat("k", maxKey+1), err: core.Errorf(core.DataLoss, "lost")},
	} {
		b := make([]byte, messageSize+maxLongKey)
		n := m.put(b)
		if m.typ == olderTensorWrite && n != m.header() {
			t.Errorf("%+v has a header of %d bytes, %d are said", m, n, m.header())
		}
		got, content, err := parseOlder(append(b[:n:n], "content"...))
		if err != nil {
			t.Errorf("%+v: %v", m, err)
			continue
		}
		if m.typ == olderTensorWrite && string(content) != "content" {
			t.Errorf("%+v is followed by %q", m, content)
		}
		if got.typ != m.typ || got.key != m.key || got.step != m.step || got.size != m.size || got.addr != m.addr || got.rkey != m.rkey || !got.meta.same(&m.meta) || core.CodeOf(got.err) != core.CodeOf(m.err) {
			t.Errorf("%+v is read as %+v", m, got)
		}
	}
}

// FuzzOlder: no bytes of a peer's do harm.
func FuzzOlder(f *testing.F) {
	b := make([]byte, messageSize)
	f.Add(b[:(&olderMessage{typ: olderTensorWrite, key: "k", meta: floats(1, 1, 1, 1, 1, 1, 2)}).put(b)])
	f.Fuzz(func(t *testing.T, b []byte) {
		m, content, err := parseOlder(b)
		if err == nil && len(content) > len(b) || err == nil && len(m.key) > maxLongKey {
			t.Errorf("%+v", m)
		}
	})
}

// older returns a stage whose channel speaks the older generation.
func olderStage(t *testing.T, ping string) *stage {
	s := newStageOf(t, 64)
	s.dev.maxMessage = 1 << 20
	s.c.older = newOlder(s.c)
	if err := s.c.connect(endpoint{Address: Address{QPN: 7}}, false); err != nil {
		t.Fatal(err)
	}
	s.c.complete(s.c.greet(ping))
	s.said()
	return s
}

// tell writes a message of the older generation as the peer does, and acknowledges
// what the channel says.
func (s *stage) tell(m *olderMessage) {
	n := m.put(s.c.bufs.memory.Bytes()[atRx:][:messageSize])
	s.c.complete(Completion{ID: recvID, Op: OpRecvWriteImm, Imm: olderImmMessage, Len: uint32(n)})
	s.said()
}

// said lets the device complete what is posted, and returns the messages.
func (s *stage) said() (out []*olderMessage) {
	for synctest.Wait(); len(s.dev.posted) > 0; synctest.Wait() {
		wr := s.dev.posted[0]
		s.dev.posted = s.dev.posted[1:]
		switch {
		case wr.Op == OpWriteImm && wr.Imm == olderImmMessage:
			m, _, err := parseOlder(s.c.bufs.memory.Bytes()[atTx:][:wr.Local.Length])
			if err != nil {
				s.t.Error(err)
			}
			out = append(out, m)
			s.last = m
			s.c.complete(Completion{ID: wr.ID, Op: wr.Op})
			s.c.complete(Completion{ID: recvID, Op: OpRecvWriteImm, Imm: olderImmAck, Len: fixedSize})
			continue
		case wr.Op == OpWriteImm && wr.Imm == olderImmAck:
			s.acks++
		case wr.Op == OpWriteImm:
			s.written = append(s.written, wr)
		}
		s.c.complete(Completion{ID: wr.ID, Op: wr.Op})
	}
	return out
}

// TestOlderDialogue: TensorFlow 1.4's peers, who say nothing of Gorge's, ask for tensors:
// the buffer of a key is asked for once, each tensor waits until the last one has been
// copied, and a longer one asks again.
func TestOlderDialogue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := olderStage(t, "\x00")
		defer s.close()
		for step := range int64(2) {
			s.tell(&olderMessage{typ: olderTensorRequest, key: "k", step: step})
		}
		s.produce("k 0", []string{"float32[2]"})
		s.said()
		if m := s.last; m == nil || m.typ != olderBufferRequest || m.key != "k" || m.size != 583+8 {
			t.Fatalf("the channel says %+v, want a request for a buffer of 591 bytes", m)
		}
		s.tell(&olderMessage{typ: olderBufferResponse, key: "k", size: 583 + 8, addr: 5000, rkey: 9})
		if len(s.written) != 1 || s.written[0].Imm != hash32("k") || s.written[0].RemoteAddr != 5000 || s.written[0].RKey != 9 || s.written[0].Len() != 591 {
			t.Fatalf("%+v was written", s.written)
		}
		s.produce("k 1", []string{"float32[3]"})
		if said := s.said(); len(said) != 0 || len(s.written) != 1 {
			t.Fatalf("before the buffer is idle the channel says %+v and has written %d times", said, len(s.written))
		}
		s.tell(&olderMessage{typ: olderBufferIdle, key: "k"})
		if m := s.last; m.typ != olderBufferRequest || m.size != 583+12 {
			t.Errorf("for a longer tensor the channel says %+v", m)
		}
		s.tell(&olderMessage{typ: olderBufferResponse, key: "k", size: 583 + 12, addr: 6000, rkey: 9})
		if len(s.written) != 2 || s.written[1].Len() != 595 {
			t.Errorf("%+v was written", s.written)
		}
		if s.acks != 5 || s.c.over() != nil {
			t.Errorf("%d messages were acknowledged, want 5; %v", s.acks, s.c.over())
		}
	})
}

// TestOlderMistakes: a peer that does not keep to the protocol loses its connection.
func TestOlderMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*stage)
		says string
	}{
		"unknown buffer": {func(s *stage) { s.c.complete(Completion{ID: recvID, Op: OpRecvWriteImm, Imm: 5}) }, "does not exist"},
		"not asked":      {func(s *stage) { s.tell(&olderMessage{typ: olderBufferResponse, key: "k", size: 600}) }, "was not asked for"},
		"not sent":       {func(s *stage) { s.tell(&olderMessage{typ: olderBufferIdle, key: "k"}) }, "was not sent"},
		"for nothing":    {func(s *stage) { s.tell(&olderMessage{typ: olderBufferRequest, key: "k", size: 600}) }, "was not asked for"},
		"no room": {func(s *stage) {
			s.recv("r", "k", 0)
			s.said()
			s.tell(&olderMessage{typ: olderBufferRequest, key: "k", size: 1 << 60})
		}, "cannot be told"},
		"too small":       {func(s *stage) { s.tell(&olderMessage{typ: olderBufferRequest, key: "k", size: 1}) }, "wants a buffer of 1 bytes"},
		"of messages":     {func(s *stage) { s.tell(&olderMessage{typ: olderBufferRequest, key: olderAckBuffer, size: 600}) }, "wants a buffer"},
		"a write":         {func(s *stage) { s.tell(&olderMessage{typ: olderTensorWrite, key: "k", meta: floats()}) }, "must not be of type 5"},
		"answers nothing": {func(s *stage) { s.tell(&olderMessage{typ: olderError, key: "k", err: errors.New("x")}) }, "does not exist"},
		"unknown number":  {func(s *stage) { s.tell(&olderMessage{typ: olderError, key: "k", size: 99, err: errors.New("x")}) }, "does not exist"},
		"empty sink":      {func(s *stage) { s.fill(func([]byte) {}) }, "to the buffer of k"},
		"another's key": {func(s *stage) {
			s.fill(func(b []byte) { (&olderMessage{typ: olderTensorWrite, key: "l", meta: floats()}).put(b) })
		}, "to the buffer of k"},
		"too long a value": {func(s *stage) {
			s.fill(func(b []byte) { (&olderMessage{typ: olderTensorWrite, key: "k", meta: floats(100)}).put(b) })
		}, "to the buffer of k"},
		"type 9": {func(s *stage) { s.tell(&olderMessage{typ: 9}) }, "type 0 to 7"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := olderStage(t, "\x00")
				defer s.close()
				c.do(s)
				synctest.Wait()
				if err := s.c.over(); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("the channel ends with %v, want %q", err, c.says)
				}
			})
		})
	}
}

// fill asks for a buffer of 600 bytes for the key k, and writes to it.
func (s *stage) fill(write func([]byte)) {
	s.recv("r", "k", 0)
	s.said()
	s.tell(&olderMessage{typ: olderBufferRequest, key: "k", size: 600})
	write(s.c.older.sinks[hash32("k")].seg.bytes())
	s.c.complete(Completion{ID: recvID, Op: OpRecvWriteImm, Imm: hash32("k"), Len: 600})
}

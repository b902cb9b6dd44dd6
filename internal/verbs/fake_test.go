package verbs

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strings"
	"unsafe"
)

// A fakeDevice keeps what is posted to its only queue pair for the test, which
// decides what becomes of it.
type fakeDevice struct {
	regions              int
	posted               []SendWR
	recvs                int
	sendCalls, recvCalls int
	closed               chan struct{}

	copyBelow  int // 0: 32
	maxMessage int // 0: 100
}

func newFakeDevice() *fakeDevice { return &fakeDevice{closed: make(chan struct{})} }

func (d *fakeDevice) Attributes() Attributes {
	return Attributes{Name: "fake", MaxMessage: cmp.Or(d.maxMessage, 100), CopyBelow: cmp.Or(d.copyBelow, 32)}
}

func (d *fakeDevice) Register(mem []byte, _ Access) (MemoryRegion, error) {
	d.regions++
	return &fakeRegion{dev: d, mem: mem}, nil
}

func (d *fakeDevice) CreateCQ(int) (CompletionQueue, error) { return fakeQueue{d.closed}, nil }

func (d *fakeDevice) CreateQP(CompletionQueue, int) (QueuePair, error) { return fakePair{d}, nil }

// NextEvent waits for the device to be closed.
func (d *fakeDevice) NextEvent() (Event, error) { <-d.closed; return Event{}, ErrClosed }

// Close finds out whether everything was given back.
func (d *fakeDevice) Close() error {
	if d.regions > 0 {
		return fmt.Errorf("%d memory regions are still registered", d.regions)
	}
	return nil
}

type fakeRegion struct {
	dev *fakeDevice
	mem []byte
}

func (r *fakeRegion) Addr() uint64 { return uint64(uintptr(unsafe.Pointer(&r.mem[0]))) }
func (r *fakeRegion) LKey() uint32 { return 5 }
func (r *fakeRegion) RKey() uint32 { return 6 }

func (r *fakeRegion) Deregister() error { r.dev.regions--; return nil }

// A fakeQueue never has anything: the test calls the channel itself.
type fakeQueue struct{ closed chan struct{} }

func (q fakeQueue) Poll([]Completion) (int, error) {
	select {
	case <-q.closed:
		return 0, ErrClosed
	default:
		return 0, nil
	}
}

func (q fakeQueue) Arm() error   { return nil }
func (q fakeQueue) Wait() error  { <-q.closed; return ErrClosed }
func (q fakeQueue) Close() error { close(q.closed); return nil }

type fakePair struct{ dev *fakeDevice }

func (p fakePair) Num() uint32                   { return 42 }
func (p fakePair) Connect(uint32, Address) error { return nil }
func (p fakePair) PostSend(wrs ...SendWR) error {
	p.dev.sendCalls++
	p.dev.posted = append(p.dev.posted, wrs...)
	return nil
}
func (p fakePair) PostRecv(wrs ...RecvWR) error {
	p.dev.recvCalls++
	p.dev.recvs += len(wrs)
	return nil
}
func (p fakePair) Fail() error    { return nil }
func (p fakePair) Destroy() error { return nil }

// describe says what a work request means in the language of the scripts.
func (c *Channel) describe(wr SendWR) string {
	switch {
	case wr.Op == OpSend:
		return "ping"
	case wr.Op == OpWrite:
		return fmt.Sprintf("part of %d bytes", wr.Local.Length)
	case wr.Imm == immAck:
		return "ack"
	case wr.Imm == immMessage:
		m, err := parseMessage(c.bufs.memory.Bytes()[atTx:][:wr.Local.Length])
		if err != nil {
			return err.Error()
		}
		return m.describe()
	case wr.Imm == immBatch && c.remote.room > 0:
		return c.describeBatch(int(wr.Local.Length))
	}
	return fmt.Sprintf("content %d of %d bytes", wr.Imm, wr.Local.Length)
}

func (c *Channel) describeBatch(n int) string {
	all, err := parseBatch(c.bufs.memory.Bytes()[atTx:][:n])
	if err != nil {
		return err.Error()
	}
	said := make([]string, len(all))
	for i, m := range all {
		said[i] = m.describe()
	}
	return "batch " + strings.Join(said, " ; ")
}

func (m *message) describe() string {
	switch m.typ {
	case errorStatus:
		return fmt.Sprintf("error %d %v", m.index, m.err)
	case metaDataUpdate:
		return fmt.Sprintf("meta %d %s", m.index, m.meta.describe())
	case tensorCancel:
		return fmt.Sprintf("cancel %d", m.index)
	}
	name := map[messageType]string{tensorRequest: "request", tensorReRequest: "rerequest"}[m.typ]
	room := ""
	if m.rkey != 0 {
		room = " with room"
	}
	return fmt.Sprintf("%s %d %s %d %s%s", name, m.index, m.key, m.step, m.meta.describe(), room)
}

func (m *metaData) describe() string {
	switch {
	case m.dead:
		return "dead"
	case m.dtype == 0:
		return "?"
	case objects(m.dtype):
		return fmt.Sprintf("%v%s/%d", m.dtype, m.shape.String(), m.bytes)
	}
	return m.dtype.String() + m.shape.String()
}

// fill writes bytes that tell a request's tensor from another one's.
func fill(b []byte, index uint32) {
	for i := range b {
		b[i] = byte(index) + 1
	}
}

// deliver writes a message to the channel's buffer, as the peer does.
func (c *Channel) deliver(m *message) Completion {
	n := m.put(c.bufs.memory.Bytes()[atRx:][:messageSize])
	return Completion{ID: recvID, Op: OpRecvWriteImm, Imm: immMessage, Len: uint32(n)}
}

// deliverBatch writes several messages at once.
func (c *Channel) deliverBatch(all []*message) Completion {
	return Completion{ID: recvID, Op: OpRecvWriteImm, Imm: immBatch, Len: uint32(putBatch(c.bufs.memory.Bytes()[atRx:][:batchRoom], all))}
}

// putBatch encodes messages one behind the other.
func putBatch(b []byte, all []*message) (n int) {
	for _, m := range all {
		size := m.put(b[n+4:][:messageSize])
		binary.LittleEndian.PutUint32(b[n:], uint32(size))
		n += 4 + size
	}
	return n
}

// greet writes the peer's ping.
func (c *Channel) greet(text string) Completion {
	n := copy(c.bufs.memory.Bytes()[atPingIn:][:pingSize], text)
	return Completion{ID: recvID, Op: OpRecv, Len: uint32(n)}
}

// number reads the words of a script that are numbers.
func number(s string) uint32 {
	var n uint32
	if _, err := fmt.Sscan(s, &n); err != nil {
		panic("a script needs a number, not " + s)
	}
	return n
}

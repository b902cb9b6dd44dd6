package soft

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// A puppet is a peer whose every byte the test decides. The queue pair under
// test is connected to it.
type puppet struct {
	dev  *Device
	qp   *queuePair
	cq   *completionQueue
	out  net.Conn // by which the puppet sends requests
	in   net.Conn // by which it gets them
	here net.Listener
}

const puppetQPN, puppetPSN = 77, 1234

func newPuppet(t testing.TB) *puppet {
	t.Helper()
	p := &puppet{}
	var err error
	check := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p.dev, err = Open(Options{})
	check()
	p.here, err = net.Listen("tcp", "127.0.0.1:0")
	check()
	cq, err := p.dev.CreateCQ(1000)
	check()
	qp, err := p.dev.CreateQP(cq, 100)
	check()
	p.qp, p.cq = qp.(*queuePair), cq.(*completionQueue)
	at := p.here.Addr().(*net.TCPAddr).AddrPort()
	err = qp.Connect(1, verbs.Address{LID: at.Port(), GID: at.Addr().As16(), QPN: puppetQPN, PSN: puppetPSN})
	check()
	p.in, err = p.here.Accept()
	check()
	_, err = readHello(p.in)
	check()
	_, err = p.in.Write([]byte{accepted})
	check()
	p.out, err = net.Dial("tcp", p.dev.listener.Addr().String())
	check()
	p.send(hello{from: puppetQPN, to: p.qp.num, psn: puppetPSN}.bytes())
	if got := p.status(); got != accepted {
		t.Fatalf("a hello is answered with %d", got)
	}
	return p
}

func (p *puppet) close(t testing.TB) {
	t.Helper()
	for _, c := range []io.Closer{p.out, p.in, p.here} {
		c.Close()
	}
	for _, err := range []error{p.qp.Destroy(), p.cq.Close(), p.dev.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
}

func (p *puppet) send(b []byte) { p.out.Write(b) }

func (p *puppet) request(h header, payload []byte) {
	var b [headerSize]byte
	h.put(&b)
	p.send(append(b[:], payload...))
}

// status reads one answer of the queue pair, 255 if there is none.
func (p *puppet) status() byte {
	var b [1]byte
	if _, err := io.ReadFull(p.out, b[:]); err != nil {
		return 255
	}
	return b[0]
}

// TestDeregisterStalled: a peer that stops in the middle of a write does not
// keep the memory.
func TestDeregisterStalled(t *testing.T) {
	p := newPuppet(t)
	defer p.close(t)
	mem := make([]byte, 100)
	mr, err := p.dev.Register(mem, verbs.LocalWrite|verbs.RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	p.request(header{op: verbs.OpWrite, n: 100, addr: mr.Addr(), rkey: mr.RKey()}, []byte("only ten b"))
	r := mr.(*region)
	for entered := false; !entered; { // the queue pair is at it
		r.mu.Lock()
		entered = len(r.users) > 0
		r.mu.Unlock()
	}
	if err := mr.Deregister(); err != nil {
		t.Error(err)
	}
	after := bytes.Clone(mem)
	p.send(make([]byte, 90))
	if got := p.status(); got != 255 {
		t.Errorf("a write to memory that is gone is answered with %d", got)
	}
	if !bytes.Equal(mem, after) {
		t.Error("memory changes after it was deregistered")
	}
}

// TestEarlyAnswer: an answer to a request that was not sent breaks the
// connection.
func TestEarlyAnswer(t *testing.T) {
	p := newPuppet(t)
	defer p.close(t)
	if _, err := p.in.Write([]byte{accepted}); err != nil {
		t.Fatal(err)
	}
	<-p.qp.alive.Done()
	if p.qp.why != verbs.BadRespErr {
		t.Errorf("the queue pair fails with %v", p.qp.why)
	}
}

func TestBadRequests(t *testing.T) {
	for name, h := range map[string]header{
		"operation": {op: 9},
		"receive":   {op: verbs.OpRecv},
		"length":    {op: verbs.OpSend, n: maxMessage + 1},
	} {
		p := newPuppet(t)
		p.request(h, nil)
		if got := p.status(); verbs.Status(got) != verbs.RemInvReqErr {
			t.Errorf("bad %s: answered with %d", name, got)
		}
		p.close(t)
	}
}

// FuzzRequests: no bytes of a peer get anywhere but to where they may.
func FuzzRequests(f *testing.F) {
	var b [headerSize]byte
	header{op: verbs.OpWriteImm, n: 3, imm: 1}.put(&b)
	f.Add(append(b[:], "abc"...))
	header{op: verbs.OpSend, n: 3}.put(&b)
	f.Add(append(b[:], "abc"...))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		p := newPuppet(t)
		defer p.close(t)
		mem := make([]byte, 64)
		mr, err := p.dev.Register(mem, verbs.LocalWrite)
		if err != nil {
			t.Fatal(err)
		}
		defer mr.Deregister()
		for i := range uint64(4) {
			if err := p.qp.PostRecv(verbs.RecvWR{ID: i}); err != nil {
				t.Fatal(err)
			}
		}
		p.send(in)
		p.out.(*net.TCPConn).CloseWrite()
		<-p.qp.alive.Done()
		if !bytes.Equal(mem, make([]byte, 64)) {
			t.Error("memory was written that only the device itself may write")
		}
	})
}

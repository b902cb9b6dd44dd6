package soft_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/soft"
	"github.com/gorge-tf/gorge/internal/verbs/verbstest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func device(t *testing.T) verbs.Device {
	t.Helper()
	d, err := soft.Open(soft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestSuite(t *testing.T) { verbstest.Run(t, device) }

// TestFaultySuite: a device without faults switched on is as good as any.
func TestFaultySuite(t *testing.T) {
	verbstest.Run(t, func(t *testing.T) verbs.Device { return verbstest.Wrap(device(t)) })
}

func TestOpen(t *testing.T) {
	for _, c := range []struct {
		o    soft.Options
		want string // in the error
	}{
		{soft.Options{Listen: "nonsense"}, "cannot listen"},
		{soft.Options{Listen: "0.0.0.0:0"}, "must tell peers an address"},
	} {
		if d, err := soft.Open(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open(%+v) = %v, %v, want an error with %q", c.o, d, err, c.want)
		}
	}
	d, err := soft.Open(soft.Options{Listen: "0.0.0.0:0", Advertise: netip.MustParseAddr("10.1.2.3")})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	want := verbs.GID{10: 0xff, 11: 0xff, 12: 10, 13: 1, 14: 2, 15: 3} // IPv4-mapped, as RoCE has it
	if a := d.Attributes(); a.GID != want || a.LID == 0 {
		t.Errorf("attributes %+v, want GID %v and a port", a, want)
	}
}

func TestRegister(t *testing.T) {
	d := device(t)
	if _, err := d.Register(nil, 0); err == nil {
		t.Error("no memory can be registered")
	}
	if _, err := d.Register(make([]byte, 1), verbs.RemoteWrite); err == nil {
		t.Error("memory that the device itself may not write can be written by peers")
	}
	mr, err := d.Register(make([]byte, 1), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(mr.Deregister()); err != nil {
		t.Error(err)
	}
	if mr.Deregister() == nil {
		t.Error("memory can be deregistered twice")
	}
}

func TestCloseInUse(t *testing.T) {
	d := device(t)
	mr, err := d.Register(make([]byte, 1), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err == nil || !strings.Contains(err.Error(), "1 memory regions") {
		t.Errorf("Close of a device in use: %v", err)
	}
	if err := mr.Deregister(); err != nil {
		t.Error(err)
	}
}

func TestOverrun(t *testing.T) {
	d := device(t)
	cq, err := d.CreateCQ(2)
	if err != nil {
		t.Fatal(err)
	}
	qp, err := d.CreateQP(cq, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		if err := qp.PostRecv(verbs.RecvWR{ID: i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := qp.Fail(); err != nil {
		t.Fatal(err)
	}
	if _, err := cq.Poll(make([]verbs.Completion, 4)); err == nil {
		t.Error("three completions in a queue for two are no error")
	}
	if err := errors.Join(qp.Destroy(), cq.Close()); err != nil {
		t.Error(err)
	}
	if err := cq.Wait(); !errors.Is(err, verbs.ErrClosed) {
		t.Errorf("waiting on a closed queue: %v", err)
	}
}

// TestStrangers: whatever connects to the port of a device does no harm and is
// hung up on.
func TestStrangers(t *testing.T) {
	d, err := soft.Open(soft.Options{Timeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	at := netip.AddrPortFrom(netip.AddrFrom16(d.Attributes().GID), d.Attributes().LID)
	for _, says := range []string{"", "GET / HTTP/1.1\r\n\r\n", "gorge-qp", "gorge-qp\x00\x00\x00\x00\x99\x99\x99\x00\x00\x00\x00\x00"} {
		conn, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, says); err != nil {
			t.Error(err)
		}
		if b, _ := io.ReadAll(conn); len(b) > 1 {
			t.Errorf("a stranger that says %q is answered %q", says, b)
		}
		conn.Close()
	}
}

// TestManyStrangers: of connections that say nothing a device keeps so many; the oldest
// are closed, and peers get in.
func TestManyStrangers(t *testing.T) {
	d, err := soft.Open(soft.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	at := netip.AddrPortFrom(netip.AddrFrom16(d.Attributes().GID), d.Attributes().LID)
	const more, kept = 20, 256
	var all []net.Conn
	for range kept + more {
		nc, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		all = append(all, nc)
	}
	for i, nc := range all[:more] {
		nc.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := nc.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection %d of %d is kept: %v", i, len(all), err)
		}
	}
	nc := all[len(all)-1]
	nc.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := nc.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the last connection is closed: %v", err)
	}
}

// TestManyForOnePair: of connections for a queue pair that does not know its peer yet a device
// keeps so many.
func TestManyForOnePair(t *testing.T) {
	d, err := soft.Open(soft.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	cq, err := d.CreateCQ(4)
	if err != nil {
		t.Fatal(err)
	}
	qp, err := d.CreateQP(cq, 4)
	if err != nil {
		t.Fatal(err)
	}
	at := netip.AddrPortFrom(netip.AddrFrom16(d.Attributes().GID), d.Attributes().LID)
	const more, kept = 20, 16
	ended := make(chan error, kept+more)
	for range kept + more {
		nc, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		hello := binary.LittleEndian.AppendUint32([]byte("gorge-qp\x01\x00\x00\x00"), qp.Num())
		if _, err := nc.Write(append(hello, 0, 0, 0, 0)); err != nil {
			t.Fatal(err)
		}
		nc.SetReadDeadline(time.Now().Add(10 * time.Second))
		go func() {
			_, err := io.ReadAll(nc)
			ended <- err
		}()
	}
	for i := range more {
		if err := <-ended; errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%d of %d connections are refused", i, kept+more)
		}
	}
	if err := errors.Join(qp.Destroy(), cq.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	for range kept {
		<-ended
	}
}

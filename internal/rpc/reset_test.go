package rpc

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// written is a connection that keeps what is written.
type written struct {
	net.Conn
	all bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) { return w.all.Write(b) }

// TestResetsAreLeftOut compares what remains of frames that are written in random
// pieces with the frames that shall.
func TestResetsAreLeftOut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var all, want bytes.Buffer
		both := http2.NewFramer(io.MultiWriter(&all, &want), nil)
		for range r.IntN(20) {
			switch r.IntN(5) {
			case 0:
				_ = http2.NewFramer(&all, nil).WriteRSTStream(uint32(1+r.IntN(9)), http2.ErrCodeCancel)
			case 1:
				_ = both.WriteRSTStream(uint32(1+r.IntN(9)), http2.ErrCode(r.IntN(8)))
			case 2:
				_ = both.WriteWindowUpdate(1, 8)
			default:
				_ = both.WriteData(1, false, bytes.Repeat([]byte{0, 0, 4, 3}, r.IntN(40)))
			}
		}
		var w written
		c := deadlineConn{Conn: &w}
		for b := all.Bytes(); len(b) > 0; {
			n := 1 + r.IntN(min(len(b), 1+r.IntN(40)))
			if k, err := c.Write(b[:n]); k != n || err != nil {
				t.Fatal(k, err)
			}
			b = b[n:]
		}
		if !bytes.Equal(w.all.Bytes(), want.Bytes()) {
			t.Fatalf("of %x remains\n%x, want\n%x", all.Bytes(), w.all.Bytes(), want.Bytes())
		}
	}
}

// TestDeadlineIsTheClients: a server does not reset a call whose time is up. The
// client does that by its own clock.
func TestDeadlineIsTheClients(t *testing.T) {
	m := &moody{late: make(chan struct{})}
	defer close(m.late)
	nc, err := net.Dial("tcp", serve(t, ServerConfig{}, withWorker(m)))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	f := http2.NewFramer(nc, nc)
	if _, err := io.WriteString(nc, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	callBriefly(t, f)
	time.Sleep(20 * time.Millisecond) // by which the server's clock is past the deadline
	if err := f.WritePing(false, [8]byte{7}); err != nil {
		t.Fatal(err)
	}
	for {
		got, err := f.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if reset, ok := got.(*http2.RSTStreamFrame); ok {
			t.Fatalf("the server resets the stream: %v", reset)
		}
		if ping, ok := got.(*http2.PingFrame); ok && ping.IsAck() && ping.Data == [8]byte{7} {
			return
		}
	}
}

// callBriefly makes a call that may take a millisecond and takes longer.
func callBriefly(t *testing.T, f *http2.Framer) {
	t.Helper()
	var head bytes.Buffer
	enc := hpack.NewEncoder(&head)
	for _, h := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", "/tensorflow.WorkerService/GetStepSequence"}, {":authority", "x"},
		{"content-type", "application/grpc"}, {"te", "trailers"}, {"grpc-timeout", "1m"},
	} {
		if err := enc.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head.Bytes(), EndHeaders: true}); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteData(1, true, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
}

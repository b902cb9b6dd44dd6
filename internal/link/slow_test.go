package link

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// sipper is a connection that reads so slowly that a chunk takes it longer than a peer
// may be silent for.
type sipper struct{ net.Conn }

func (s sipper) Read(b []byte) (int, error) {
	time.Sleep(writeStallTimeout / 4)
	return s.Conn.Read(b[:min(len(b), writeChunk/16)])
}

// TestSlowPeersGetAll: a peer that takes little at a time is there, and one that takes
// nothing is gone.
func TestSlowPeersGetAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTester()
		srv := newServer(s)
		a, b := net.Pipe()
		served := make(chan struct{})
		go func() {
			srv.Serve(b, nil, nil)
			close(served)
		}()
		if err := errors.Join(writePreface(a), readPreface(a)); err != nil {
			t.Fatal(err)
		}
		body := bytes.Repeat([]byte("slow"), writeChunk/2) // two chunks
		head := callHead("/t/Echo", 0)
		call := append(header{kindCall, 1, len(head), len(body)}.append(nil), head...)
		if _, err := a.Write(append(call, body...)); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(sipper{a})
		h, _, err := readHead(r)
		if err != nil || h.body != len(body) {
			t.Fatalf("%+v, %v; want a reply of %d bytes", h, err, len(body))
		}
		got := make([]byte, h.body)
		if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, body) {
			t.Fatalf("a slow reader does not get the reply: %v", err)
		}
		if _, err := a.Write(append(call, body...)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		<-served
		if late := time.Since(began); late != writeStallTimeout {
			t.Errorf("a peer that takes nothing was given %v, want %v", late, writeStallTimeout)
		}
		a.Close()
	})
}

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

// TestSlowPeersAreThere: a peer that takes what it is sent counts as alive, however long it
// takes for a chunk: it cannot answer pings that it has not come to.
func TestSlowPeersAreThere(t *testing.T) {
	for name, ends := range map[string]func() (client, server net.Conn){
		"plain": func() (client, server net.Conn) {
			client, server = pair(t)
			server.(*net.TCPConn).SetWriteBuffer(1)
			return client, server
		},
		"TLS": func() (client, server net.Conn) { return secured(t, true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(newTester())
			srv.keepalive = Keepalive{Time: 100 * time.Millisecond, Timeout: time.Second}
			a, b := ends()
			defer a.Close()
			served := make(chan struct{})
			go func() {
				srv.Serve(b, nil, nil)
				close(served)
			}()
			if err := errors.Join(writePreface(a), readPreface(a)); err != nil {
				t.Fatal(err)
			}
			head, body := callHead("/t/Echo", 0), make([]byte, 3*writeChunk/2)
			call := append(header{kindCall, 1, len(head), len(body)}.append(nil), head...)
			if _, err := a.Write(append(call, body...)); err != nil {
				t.Fatal(err)
			}
			for n := 0; n < len(body); {
				k, err := a.Read(body[:16<<10])
				if err != nil {
					t.Fatalf("a slow reader loses its link after %d bytes: %v", n, err)
				}
				n += k
				time.Sleep(time.Duration(k) * 30 * time.Millisecond / (16 << 10))
			}
			a.Close()
			<-served
		})
	}
}

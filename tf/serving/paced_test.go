package serving

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// one is a listener with one connection.
type one struct {
	conn chan net.Conn
	done chan struct{}
}

func (l one) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l one) Addr() net.Addr { return &net.TCPAddr{} }

func (l one) Close() error {
	close(l.done)
	return nil
}

// answering calls f with a client's connection to a server of a handler, in virtual time.
func answering(t *testing.T, h http.HandlerFunc, f func(t *testing.T, c net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		l := one{make(chan net.Conn, 1), make(chan struct{})}
		s := &http.Server{Handler: paced(h), ErrorLog: log.New(io.Discard, "", 0)}
		here, there := net.Pipe()
		l.conn <- there
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		f(t, here)
		here.Close()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-served
	})
}

const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

// TestClientsThatDoNotRead: the answer to a client that reads nothing ends, in its
// header as in its body.
func TestClientsThatDoNotRead(t *testing.T) {
	for _, size := range []int{0, 1, pieceBytes, 10 * pieceBytes} {
		var took atomic.Int64 // 0: the handler has not ended
		answering(t, func(w http.ResponseWriter, _ *http.Request) {
			start := time.Now()
			w.Write(make([]byte, size))
			took.Store(int64(time.Since(start)) + 1)
		}, func(t *testing.T, c net.Conn) {
			if _, err := io.WriteString(c, request); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * pieceTime)
			if d := time.Duration(took.Load() - 1); d < 0 || d > pieceTime {
				t.Errorf("%d bytes held the handler for %v", size, d)
			}
			if _, err := c.Read(make([]byte, 1)); err == nil {
				t.Errorf("%d bytes: the connection is still open after %v", size, 2*pieceTime)
			}
		})
	}
}

// TestSlowAnswers: a client that takes a piece within the time gets the whole answer,
// also if a handler has taken longer than that, and the next one on the same connection.
func TestSlowAnswers(t *testing.T) {
	body := bytes.Repeat([]byte("abcd"), 5*pieceBytes/4)
	answering(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(3 * pieceTime)
		w.Write(body)
	}, func(t *testing.T, c net.Conn) {
		for range 2 {
			if _, err := io.WriteString(c, request); err != nil {
				t.Fatal(err)
			}
			var got []byte
			for p := make([]byte, 16<<10); len(got) < len(body); time.Sleep(pieceTime / 8) {
				n, err := c.Read(p)
				if got = append(got, p[:n]...); err != nil {
					t.Fatalf("after %d bytes: %v", len(got), err)
				}
			}
			_, _ = c.Read(make([]byte, 16<<10)) // the end of the last chunk
			time.Sleep(5 * pieceTime)
		}
	})
}

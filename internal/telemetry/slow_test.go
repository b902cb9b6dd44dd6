package telemetry

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections lie in memory, where virtual time holds.
type pipes struct {
	come chan net.Conn
	done chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.come:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) Close() error {
	close(p.done)
	return nil
}

// connect returns the client's side of a connection.
func (p pipes) connect() net.Conn {
	here, there := net.Pipe()
	p.come <- there
	return here
}

// serving calls f with the connections of a server, in virtual time.
func serving(t *testing.T, h http.HandlerFunc, f func(t *testing.T, p pipes)) {
	synctest.Test(t, func(t *testing.T) {
		p, s := pipes{make(chan net.Conn), make(chan struct{})}, newHTTP(h, slog.New(slog.DiscardHandler))
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(p) }()
		f(t, p)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

func short(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "short") }

// drip writes a byte each second until the connection ends or a day is over.
func drip(t *testing.T, c net.Conn) {
	t.Helper()
	for range 24 * 60 * 60 {
		if _, err := c.Write([]byte("x")); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
	t.Error("a day of bytes has been taken")
}

// TestSlowRequests: requests that come byte by byte are given up, in their header as in
// their body.
func TestSlowRequests(t *testing.T) {
	for _, begin := range []string{"", "GET / HTTP/1.1\r\nX-Slow: ", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n"} {
		serving(t, short, func(t *testing.T, p pipes) {
			c := p.connect()
			defer c.Close()
			go func() { _, _ = io.Copy(io.Discard, c) }()
			if _, err := io.WriteString(c, begin); err != nil {
				t.Fatal(err)
			}
			drip(t, c)
		})
	}
}

// TestIdleConnections: connections without a request are closed, new ones as well as those
// that had one.
func TestIdleConnections(t *testing.T) {
	serving(t, short, func(t *testing.T, p pipes) {
		const many = 200
		ended := make(chan error, many)
		for i := range many {
			c := p.connect()
			go func() {
				defer c.Close()
				if i%2 == 0 {
					_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
				}
				_, err := io.Copy(io.Discard, c)
				ended <- err
			}()
		}
		tooLong := time.After(24 * time.Hour)
		for range many {
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-tooLong:
				t.Fatal("a connection is idle for a day")
			}
		}
	})
}

// TestSlowReaders: an answer that the client does not read does not hold its handler.
func TestSlowReaders(t *testing.T) {
	var failed chan error
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
				failed <- err
				return
			}
		}
	}
	serving(t, endless, func(t *testing.T, p pipes) {
		failed = make(chan error, 1) // of this bubble
		c := p.connect()
		defer c.Close()
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		select {
		case <-failed:
		case <-time.After(24 * time.Hour):
			t.Error("the handler waits for a day")
		}
	})
}

// TestLongHeaders: a header that does not end is refused before it takes memory.
func TestLongHeaders(t *testing.T) {
	serving(t, short, func(t *testing.T, p pipes) {
		c := p.connect()
		defer c.Close()
		go func() { _, _ = io.WriteString(c, "GET / HTTP/1.1\r\nX-Long: "+strings.Repeat("x", 1<<20)) }()
		answer, _ := io.ReadAll(c) // the connection ends
		if !strings.Contains(string(answer), "431") {
			t.Errorf("the server says %q", answer)
		}
	})
}

// TestManyConnections: so many connections are open at once and no more; one that ends
// makes room.
func TestManyConnections(t *testing.T) {
	s, err := Serve("localhost:0", http.HandlerFunc(short), nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	held := make([]net.Conn, maxConns)
	for i := range held {
		if held[i], err = net.Dial("tcp", s.Addr()); err != nil {
			t.Fatal(err)
		}
		defer held[i].Close()
	}
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answered := make(chan error, 1)
	go func() {
		r, err := client.Get("http://" + s.Addr())
		if err == nil {
			err = r.Body.Close()
		}
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Fatalf("connection %d is served: %v", maxConns+1, err)
	case <-time.After(200 * time.Millisecond):
	}
	held[0].Close()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

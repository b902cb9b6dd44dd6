package link

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// frail is a connection that breaks after so many bytes in one direction, and
// gives and takes no more than a few at once.
type frail struct {
	net.Conn
	reads, writes atomic.Int64 // bytes until it breaks
}

var errBroken = errors.New("broken")

func few(b []byte, left *atomic.Int64) ([]byte, error) {
	b = b[:min(len(b), 1+rand.IntN(40))]
	if left.Add(-int64(len(b))) < 0 {
		return nil, errBroken
	}
	return b, nil
}

func (f *frail) Read(b []byte) (int, error) {
	b, err := few(b, &f.reads)
	if err != nil {
		f.Close()
		return 0, err
	}
	return f.Conn.Read(b)
}

func (f *frail) Write(b []byte) (n int, err error) {
	for n < len(b) {
		part, err := few(b[n:], &f.writes)
		if err != nil {
			f.Close()
			return n, err
		}
		m, err := f.Conn.Write(part)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}

// TestBrokenAnywhere: wherever a connection breaks, every call ends: with its
// answer, or unavailable, and of those that were not sent the server has not heard.
func TestBrokenAnywhere(t *testing.T) {
	for at := int64(0); at < 1500; at += 37 {
		for _, reads := range []bool{true, false} {
			brokenAt(t, at, reads)
		}
	}
}

func brokenAt(t *testing.T, at int64, reads bool) {
	t.Helper()
	s := newTester()
	close(s.release)
	srv := newServer(s)
	a, b := pair(t)
	f := &frail{Conn: a}
	f.reads.Store(1 << 40)
	f.writes.Store(1 << 40)
	var serving sync.WaitGroup
	serving.Go(func() { srv.Serve(b, nil, nil) })
	defer serving.Wait()
	defer srv.Stop(time.Second)
	c, err := NewClient(f, plain{}, Keepalive{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if reads {
		f.reads.Store(at)
	} else {
		f.writes.Store(at)
	}
	var calls sync.WaitGroup
	for i, method := range []string{"Echo", "Later", "Wait", "Echo", "Fail", "Echo"} {
		calls.Go(func() {
			text := strings.Repeat("x", 1+i*90)
			got, err := ask(t.Context(), c, method, text)
			switch code := status.Code(err); {
			case code == codes.OK && got != text:
				t.Errorf("broken at %d: %s answered with %d bytes, want %d", at, method, len(got), len(text))
			case code == codes.DataLoss && method == "Fail":
			case code != codes.OK && code != codes.Unavailable:
				t.Errorf("broken at %d: %s: %v", at, method, err)
			}
		})
	}
	calls.Wait()
}

// TestSlowConnection: what trickles arrives whole.
func TestSlowConnection(t *testing.T) {
	srv := newServer(newTester())
	a, b := pair(t)
	f := &frail{Conn: a}
	f.reads.Store(1 << 40)
	f.writes.Store(1 << 40)
	c := over(t, srv, f, b)
	text := strings.Repeat("0123456789", 5000)
	if got, err := ask(t.Context(), c, "Echo", text); err != nil || got != text {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestUnderLoad: links that end while many call lose no call and answer none twice.
func TestUnderLoad(t *testing.T) {
	s := newTester()
	close(s.release)
	go func() {
		for range s.entered {
		}
	}()
	go func() {
		for range s.left {
		}
	}()
	defer close(s.entered)
	defer close(s.left)
	for range 10 {
		srv := newServer(s)
		a, b := pair(t)
		var serving, calls sync.WaitGroup
		serving.Go(func() { srv.Serve(b, nil, nil) })
		c, err := NewClient(a, plain{}, Keepalive{})
		if err != nil {
			t.Fatal(err)
		}
		var ended atomic.Int32
		for i := range 50 {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(3000))*time.Microsecond)
				defer cancel()
				req, resp := []byte(strings.Repeat("y", i*i*10)), []byte(nil)
				once := make(chan error, 2)
				if err := c.Start(ctx, "/t/Later", &req, &resp, func(r Reply) { once <- r.Err }); err == nil {
					<-once
				}
				ended.Add(1)
				if len(once) > 0 {
					t.Error("answered twice")
				}
			})
		}
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
		srv.Stop(time.Millisecond)
		calls.Wait()
		serving.Wait()
		c.Close()
		if ended.Load() != 50 {
			t.Errorf("%d calls of 50 ended", ended.Load())
		}
	}
}

// FuzzServer: no bytes hurt a server; it hangs up on what is wrong.
func FuzzServer(f *testing.F) {
	call := newFrame(kindCall, 1, callHead("/t/Echo", 0), nil).front
	f.Add(call)
	f.Add(append(call, call...))
	f.Add(newFrame(kindCancel, 1, nil, nil).front)
	f.Add(newFrame(kindNotify, 0, callHead("/t/Note", time.Second), nil).front)
	f.Add(newFrame(kindPing, 0, []byte("head"), nil).front)
	f.Add([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := newTester()
		close(s.release)
		srv := newServer(s)
		client, server := pair(t)
		var serving sync.WaitGroup
		serving.Go(func() { srv.Serve(server, nil, nil) })
		if errors.Join(writePreface(client), readPreface(client)) != nil {
			t.Fatal("no greeting")
		}
		if len(b) < 100 { // one Wait is answered, but the channels of the tester hold no more than 100
			client.Write(b)
		}
		client.Close()
		srv.Stop(time.Second)
		serving.Wait()
	})
}

package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// TestCalls: calls of all sizes at once, each hears its own answer.
func TestCalls(t *testing.T) {
	c, _ := joined(t, newTester())
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			text := strings.Repeat(fmt.Sprint(i, " "), 1+i*i*i)
			for range 5 {
				if got, err := ask(t.Context(), c, "Echo", text); err != nil || got != text {
					t.Errorf("call %d: %d bytes, %v, want %d", i, len(got), err, len(text))
				}
			}
		})
	}
	wg.Wait()
}

// TestLargeBody: what is read in several pieces arrives whole.
func TestLargeBody(t *testing.T) {
	c, _ := joined(t, newTester())
	text := strings.Repeat("0123456789abcdef", maxPiece/16+1)
	if got, err := ask(t.Context(), c, "Echo", text); err != nil || got != text {
		t.Errorf("%d bytes, %v, want %d", len(got), err, len(text))
	}
}

func TestErrors(t *testing.T) {
	c, _ := joined(t, newTester())
	var head, tail metadata.MD
	_, err := ask(t.Context(), c, "Fail", "lost", grpc.Header(&head), grpc.Trailer(&tail))
	if status.Code(err) != codes.DataLoss || !strings.Contains(err.Error(), "lost") {
		t.Errorf("got %v", err)
	}
	if head.Get("head")[0] != "lost" || tail.Get("tail")[0] != "lost" {
		t.Errorf("headers %v, trailers %v", head, tail)
	}
	if _, err := ask(t.Context(), c, "None", ""); status.Code(err) != codes.Unimplemented {
		t.Errorf("an unknown method: %v", err)
	}
	if err := c.Invoke(t.Context(), "/t/Echo", 5, nil); status.Code(err) != codes.Internal {
		t.Errorf("a request that cannot be encoded: %v", err)
	}
	if _, err := c.NewStream(t.Context(), nil, ""); status.Code(err) != codes.Unimplemented {
		t.Errorf("a stream: %v", err)
	}
}

// TestCancel: a canceled call ends at once, and so does its handler.
func TestCancel(t *testing.T) {
	s := newTester()
	c, _ := joined(t, s)
	for _, method := range []string{"Wait", "Later"} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-s.entered
			cancel()
		}()
		if _, err := ask(ctx, c, method, "x"); status.Code(err) != codes.Canceled {
			t.Errorf("%s: %v", method, err)
		}
		<-s.left
		if _, err := ask(ctx, c, method, "x"); err == nil {
			t.Errorf("%s after its context has ended: no error", method)
		}
	}
}

// TestLimit: both ends hear of it when a call's time is up.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where no time passes before the call has been sent
		s := newTester()
		a, b := net.Pipe()
		c := over(t, newServer(s), a, b)
		for _, method := range []string{"Wait", "Later"} {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			if _, err := ask(ctx, c, method, "x"); status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("%s with a limit: %v", method, err)
			}
			<-s.entered
			<-s.left
			cancel()
		}
	})
}

// slow is a codec that takes its time with replies.
type slow struct {
	plain
	begun, release chan struct{}
}

func (s slow) Unmarshal(data mem.BufferSlice, v any) error {
	s.begun <- struct{}{}
	<-s.release
	return s.plain.Unmarshal(data, v)
}

// TestCancelWhileDecoding: a reply is not written to after its caller has left.
func TestCancelWhileDecoding(t *testing.T) {
	srv := newServer(newTester())
	a, b := pair(t)
	c := over(t, srv, a, b)
	codec := slow{begun: make(chan struct{}), release: make(chan struct{})}
	c.codec = codec
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-codec.begun
		cancel()
		close(codec.release)
	}()
	if got, err := ask(ctx, c, "Echo", "whole"); err != nil || got != "whole" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestStarted: calls that do not wait are answered, or told that they are not.
func TestStarted(t *testing.T) {
	s := newTester()
	c, _ := joined(t, s)
	start := func(ctx context.Context, method string) <-chan error {
		done := make(chan error, 1)
		req, resp := []byte("x"), []byte(nil)
		if err := c.Start(ctx, "/t/"+method, &req, &resp, func(r Reply) { done <- r.Err }); err != nil {
			t.Fatal(err)
		}
		return done
	}
	if err := <-start(t.Context(), "Fail"); status.Code(err) != codes.DataLoss {
		t.Errorf("a failing call: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancelled, kept := start(ctx, "Later"), start(t.Context(), "Later")
	cancel()
	if err := <-cancelled; status.Code(err) != codes.Canceled {
		t.Errorf("a cancelled call: %v", err)
	}
	close(s.release)
	if err := <-kept; err != nil {
		t.Errorf("the other call: %v", err)
	}
}

// TestNotify: what needs no answer arrives by itself, and before what comes after it.
func TestNotify(t *testing.T) {
	s := newTester()
	c, _ := joined(t, s)
	note := func(text string) {
		req := []byte(text)
		if err := c.Notify(t.Context(), "/t/Note", &req); err != nil {
			t.Fatal(err)
		}
	}
	note("alone")
	if got := <-s.notes; got != "alone" {
		t.Errorf("got %q", got)
	}
	for i := range 20 {
		note(fmt.Sprint(i))
		if _, err := ask(t.Context(), c, "Echo", ""); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-s.notes:
			if got != fmt.Sprint(i) {
				t.Errorf("got %q, want %d", got, i)
			}
		default:
			t.Fatalf("call %d came before the note", i)
		}
	}
}

// TestServerStops: calls under way are answered, others are refused without
// having been sent, and the link ends.
func TestServerStops(t *testing.T) {
	s := newTester()
	c, srv := joined(t, s)
	answer := waiting(t, c, s)
	var stopping sync.WaitGroup
	stopping.Go(func() { srv.Stop(time.Minute) })
	<-c.Gone()
	if _, err := ask(t.Context(), c, "Echo", ""); !errors.As(err, new(ErrNotSent)) {
		t.Errorf("a call after the goodbye: %v", err)
	}
	close(s.release)
	if err := <-answer; err != nil {
		t.Errorf("the call under way: %v", err)
	}
	stopping.Wait()
	<-c.ended
}

// TestServerLosesPatience: a handler that does not end is told, and the link ends.
func TestServerLosesPatience(t *testing.T) {
	s := newTester()
	c, srv := joined(t, s)
	answer := waiting(t, c, s)
	srv.Stop(time.Millisecond)
	if err := <-answer; status.Code(err) != codes.Unavailable {
		t.Errorf("the call: %v", err)
	}
}

// TestTooLate: a server that has stopped takes no more connections.
func TestTooLate(t *testing.T) {
	srv := newServer(newTester())
	srv.Stop(0)
	a, b := pair(t)
	srv.Serve(b, nil, nil)
	if _, err := NewClient(a, plain{}, Keepalive{}); err == nil {
		t.Error("no error")
	}
}

// TestGreeting: a client that does not begin as it must is sent away, and so is
// one that says nothing when the server stops or loses patience.
func TestGreeting(t *testing.T) {
	srv := newServer(newTester())
	for _, say := range []string{"GET / HTTP/1.1\r\n\r\n", "GORGE-LINK/9\n"} {
		a, b := pair(t)
		go io.WriteString(a, say)
		srv.Serve(b, nil, nil)
		a.Close()
	}
	a, b := pair(t)
	var serving sync.WaitGroup
	serving.Go(func() { srv.Serve(b, nil, nil) })
	for !srv.busy() {
		time.Sleep(time.Millisecond)
	}
	srv.Stop(0)
	serving.Wait()
	a.Close()
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		newServer(newTester()).Serve(b, nil, nil)
		a.Close()
	})
}

func (s *Server) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.links) > 0
}

// TestLeave waits for calls under way, and no longer than its context.
func TestLeave(t *testing.T) {
	s := newTester()
	c, _ := joined(t, s)
	answer := waiting(t, c, s)
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	c.Leave(short)
	if _, err := ask(t.Context(), c, "Echo", ""); !errors.As(err, new(ErrNotSent)) {
		t.Errorf("a call after leaving: %v", err)
	}
	time.AfterFunc(time.Millisecond, func() { close(s.release) })
	c.Leave(t.Context())
	if err := <-answer; err != nil {
		t.Error(err)
	}
}

// TestLeaveOfTwo: all who leave a link learn that no call is under way.
func TestLeaveOfTwo(t *testing.T) {
	s := newTester()
	c, _ := joined(t, s)
	answer := waiting(t, c, s)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var leaving sync.WaitGroup
	for range 3 {
		leaving.Go(func() {
			if c.Leave(ctx); ctx.Err() != nil {
				t.Error("one who leaves is not told")
			}
		})
	}
	time.AfterFunc(20*time.Millisecond, func() { close(s.release) })
	leaving.Wait()
	if err := <-answer; err != nil {
		t.Error(err)
	}
}

// TestPeerHangs: a peer that reads nothing does not hold up calls with a deadline.
func TestPeerHangs(t *testing.T) {
	a, b := pair(t)
	go func() { _ = errors.Join(readPreface(b), writePreface(b)) }() // and nothing else
	c, err := NewClient(a, plain{}, Keepalive{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	defer c.Close()
	big := strings.Repeat("x", 32<<20) // more than the buffers of a connection hold
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := ask(ctx, c, "Echo", big); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
		cancel()
	}
}

// brisk is how tests look after peers.
var brisk = Keepalive{Time: 5 * time.Second, Timeout: 10 * time.Second}

// silentAfter returns how long it takes until f returns, which it does because the
// peer is silent.
func silentAfter(t *testing.T, f func() error) time.Duration {
	t.Helper()
	start := time.Now()
	err := f()
	if status.Code(err) != codes.Unavailable || !errors.Is(err, ErrSilent) || !strings.Contains(err.Error(), "has not answered for 15s") {
		t.Errorf("got %v", err)
	}
	return time.Since(start)
}

// TestSilentServer: a server that has stopped is noticed at its time, by a call
// that has no deadline.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		go func() { _ = errors.Join(readPreface(b), writePreface(b)) }()
		c, err := NewClient(a, plain{}, brisk)
		if err != nil {
			t.Fatal(err)
		}
		if d := silentAfter(t, func() error { _, err := ask(t.Context(), c, "Echo", "x"); return err }); d != 15*time.Second {
			t.Errorf("it took %v", d)
		}
		c.Close()
		b.Close()
	})
}

// TestSilentClient: a server ends the calls of a client that has stopped.
func TestSilentClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		s := newTester()
		srv := newServer(s)
		srv.keepalive = brisk
		go srv.Serve(b, nil, nil)
		go func() { _, _ = io.Copy(io.Discard, a) }()
		start := time.Now()
		f := newFrame(kindCall, 1, callHead("/t/Wait", 0), mem.BufferSlice{mem.SliceBuffer("x")})
		if _, err := a.Write(append([]byte(Preface), f.front...)); err != nil {
			t.Fatal(err)
		}
		<-s.entered
		<-s.left
		if d := time.Since(start); d != 15*time.Second {
			t.Errorf("it took %v", d)
		}
		srv.Stop(time.Second)
		a.Close()
	})
}

// TestQuietPeers: ends that only have nothing to say answer for each other, as
// long as a call may take.
func TestQuietPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTester()
		srv := newServer(s)
		srv.keepalive = brisk
		a, b := net.Pipe()
		go srv.Serve(b, nil, nil)
		c, err := NewClient(a, plain{}, brisk)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Hour, func() { close(s.release) })
		if _, err := ask(t.Context(), c, "Wait", "x"); err != nil {
			t.Errorf("after an hour: %v", err)
		}
		c.Close()
		srv.Stop(time.Second)
	})
}

// slowly passes on what is written, a piece a second.
type slowly struct{ net.Conn }

func (s slowly) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		time.Sleep(time.Second)
		var k int
		k, err = s.Conn.Write(b[n:min(len(b), n+writeChunk/4)])
		n += k
	}
	return n, err
}

// TestLongMessages: a peer that takes a minute for a message counts as alive, though
// it sends nothing and no ping gets through.
func TestLongMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(newTester())
		srv.keepalive = brisk
		a, b := net.Pipe()
		go srv.Serve(slowly{b}, nil, nil)
		c, err := NewClient(slowly{a}, plain{}, brisk)
		if err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat("x", 15*writeChunk)
		if got, err := ask(t.Context(), c, "Echo", long); err != nil || len(got) != len(long) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		c.Close()
		srv.Stop(time.Second)
	})
}

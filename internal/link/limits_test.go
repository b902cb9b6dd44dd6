package link

import (
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// TestPairs: the metadata of a call reach the code that admits it, for all kinds of
// calls, and so does what the handshake has shown of the client.
func TestPairs(t *testing.T) {
	s := newTester()
	srv := newServer(s)
	seen := make(chan string, 10)
	srv.Admit = func(ctx context.Context, method string) error {
		who, _ := peer.FromContext(ctx)
		seen <- method + " " + strings.Join(metadata.ValueFromIncomingContext(ctx, "token"), " ") + " " + who.AuthInfo.AuthType()
		return nil
	}
	c := greeted(t, srv, credentials.TLSInfo{})
	c.Outgoing = func(context.Context) []string { return []string{"Token", "a", "token", "b"} }
	close(s.release)
	for _, m := range []string{"Echo", "Later"} {
		if _, err := ask(t.Context(), c, m, "x"); err != nil {
			t.Errorf("%s: %v", m, err)
		}
	}
	note := []byte("n")
	if err := c.Notify(t.Context(), "/t/Note", &note); err != nil {
		t.Error(err)
	}
	<-s.notes
	for _, want := range []string{"/t/Echo a b tls", "/t/Later a b tls", "/t/Note a b tls"} {
		if got := <-seen; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func greeted(t *testing.T, srv *Server, auth credentials.AuthInfo) *Client {
	t.Helper()
	a, b := pair(t)
	served := make(chan struct{})
	go func() {
		srv.Serve(b, auth, nil)
		close(served)
	}()
	c, err := NewClient(a, plain{}, Keepalive{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		srv.Stop(time.Second)
		<-served
	})
	return c
}

// TestRefused: a call that may not be made ends with the reason, and no handler
// hears of it.
func TestRefused(t *testing.T) {
	s := newTester()
	srv := newServer(s)
	srv.Admit = func(_ context.Context, method string) error {
		if method == "/t/Echo" {
			return nil
		}
		return status.Error(codes.PermissionDenied, "not you")
	}
	c := greeted(t, srv, nil)
	for _, m := range []string{"Wait", "Later", "Missing"} {
		if _, err := ask(t.Context(), c, m, "x"); status.Code(err) != codes.PermissionDenied {
			t.Errorf("%s: %v", m, err)
		}
	}
	note := []byte("n")
	if err := c.Notify(t.Context(), "/t/Note", &note); err != nil {
		t.Error(err)
	}
	if got, err := ask(t.Context(), c, "Echo", "x"); got != "x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if len(s.entered)+len(s.notes) != 0 {
		t.Error("a handler was called")
	}
}

// TestCallsUnderWay: one call too many is refused with the limit's name, and calls
// are welcome again when others have ended.
func TestCallsUnderWay(t *testing.T) {
	s := newTester()
	srv := newServer(s)
	srv.Limits.Calls = 2
	c := greeted(t, srv, nil)
	first, second := waiting(t, c, s), waiting(t, c, s)
	for _, m := range []string{"Wait", "Later", "Echo"} {
		_, err := ask(t.Context(), c, m, "x")
		if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "limit of streams") {
			t.Errorf("%s as the third call: %v", m, err)
		}
	}
	close(s.release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
	if _, err := ask(t.Context(), c, "Echo", "x"); err != nil {
		t.Errorf("after the others: %v", err)
	}
}

// TestGreedyPeer: a server stops reading from a peer that does not take its answers,
// so that what waits for it stays bounded, and goes on when the peer takes them.
func TestGreedyPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, size, calls = 1 << 20, 64 << 10, 200
		srv := newServer(newTester())
		srv.Limits.Queued = limit
		a, b := net.Pipe()
		var answered atomic.Int64
		served := &metered{Conn: b}
		go srv.Serve(served, nil, nil)
		if _, err := io.WriteString(a, Preface); err != nil {
			t.Fatal(err)
		}
		if err := readPreface(a); err != nil {
			t.Fatal(err)
		}
		asked := make(chan error, 1)
		ask := func(id uint32) {
			_, err := a.Write(flatten(newFrame(kindCall, id, callHead("/t/Echo", 0), mem.BufferSlice{mem.SliceBuffer(make([]byte, size))})))
			asked <- err
		}
		id := uint32(0)
		next := func() { id++; go ask(id) }
		for next(); id < calls; next() {
			synctest.Wait() // the call has its answer, or nothing is read
			if len(asked) == 0 {
				break
			}
			if err := <-asked; err != nil {
				t.Fatal(err)
			}
		}
		if read := served.read.Load(); read > limit+4*size {
			t.Errorf("%d bytes were read from a peer that takes nothing, the limit is %d", read, limit)
		}
		go func() {
			n, _ := io.Copy(io.Discard, a)
			answered.Store(n)
		}()
		for {
			if err := <-asked; err != nil {
				t.Fatalf("a peer that takes its answers at last: %v", err)
			}
			if id == calls {
				break
			}
			next()
		}
		synctest.Wait()
		srv.Stop(time.Second)
		a.Close()
		synctest.Wait()
		if n := answered.Load(); n < size*calls {
			t.Errorf("%d bytes were answered of %d", n, size*calls)
		}
	})
}

// metered counts what is read.
type metered struct {
	net.Conn
	read atomic.Int64
}

func (c *metered) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

func flatten(f frame) []byte {
	out := slices.Clone(f.front)
	for _, b := range f.body {
		out = append(out, b.ReadOnlyData()...)
	}
	return out
}

// TestNoticesCount: notifications whose methods take long are under way like calls, and
// those that are too many are left out.
func TestNoticesCount(t *testing.T) {
	s := newTester()
	srv := newServer(s)
	srv.Limits.Calls = 3
	a, b := pair(t)
	c := over(t, srv, a, b)
	note := []byte("w")
	for range 10 {
		if err := c.Notify(t.Context(), "/t/Wait", &note); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Notify(t.Context(), "/t/Note", &note); err != nil { // which is read after the others
		t.Fatal(err)
	}
	<-s.notes
	if n := srv.Stats().Calls; n != 3 {
		t.Errorf("%d calls are under way, want 3", n)
	}
	if _, err := ask(t.Context(), c, "Echo", "x"); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a call beside them = %v, want ResourceExhausted", err)
	}
	close(s.release)
	for range 3 {
		<-s.left
	}
	if len(s.entered) > 3 {
		t.Errorf("%d notifications were served, want 3", len(s.entered))
	}
}

package link

import (
	"bufio"
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A puppet is a link whose server is the test: it says what it is told to.
type puppet struct {
	*Client
	peer net.Conn
}

func newPuppet(t *testing.T) *puppet {
	t.Helper()
	a, b := pair(t)
	p, greeted := &puppet{peer: b}, make(chan error, 1)
	go func() { greeted <- errors.Join(readPreface(b), writePreface(b)) }()
	c, err := NewClient(a, plain{}, Keepalive{})
	if err := errors.Join(err, <-greeted); err != nil {
		t.Fatal(err)
	}
	p.Client = c
	t.Cleanup(func() {
		c.Close()
		b.Close()
	})
	return p
}

// start makes a call and returns what it waits for.
func (p *puppet) start(t *testing.T, resp any, done func(Reply)) {
	t.Helper()
	req := []byte("x")
	if err := p.Start(context.Background(), "/t/Echo", &req, resp, done); err != nil {
		t.Fatal(err)
	}
}

// replyTo is the answer to a call.
func replyTo(call uint32, body string) []byte {
	head := (&outcome{}).append(nil)
	return append(header{kindReply, call, len(head), len(body)}.append(nil), append(head, body...)...)
}

// replies answers the calls of some numbers in one piece.
func (p *puppet) replies(t *testing.T, body string, calls ...uint32) {
	t.Helper()
	var out []byte
	for _, id := range calls {
		out = append(out, replyTo(id, body)...)
	}
	if _, err := p.peer.Write(out); err != nil {
		t.Error(err)
	}
}

// polling has a caller poll until over says that it is enough.
func (p *puppet) polling(over func() bool) {
	for !over() {
		if err := p.poll(p.next); err != nil {
			p.end(err)
			return
		}
		runtime.Gosched()
	}
}

// TestEndsWhileCallersPoll: a caller that polls has replies before him, the reader
// waits until he has taken them in, and the link is closed: all three go on.
func TestEndsWhileCallersPoll(t *testing.T) {
	if !canPoll {
		t.Skip("callers do not look here")
	}
	for range 20 {
		p := newPuppet(t)
		var closing sync.WaitGroup
		all := make(chan Reply, 3)
		p.start(t, new([]byte), func(r Reply) { // by whoever reads it
			p.replies(t, "third", 3) // wakes the reader
			time.Sleep(2 * time.Millisecond)
			closing.Go(func() { p.Close() })
			time.Sleep(2 * time.Millisecond)
			all <- r
		})
		for range 2 {
			p.start(t, new([]byte), func(r Reply) { all <- r })
		}
		p.replies(t, "first or second", 1, 2)
		p.polling(func() bool { return len(all) == 3 })
		for range 3 {
			<-all
		}
		closing.Wait()
	}
}

// A peeker is a message that looks at all of itself before it takes it.
type peeker struct{ got string }

func (p *peeker) ReadBody(r *bufio.Reader, n int) error {
	b, err := r.Peek(n)
	if err != nil {
		return err
	}
	p.got = string(b)
	_, err = r.Discard(n)
	return err
}

func (p *peeker) Abandon() {}

// TestLookersReadBodies: a message that reads itself can do so on either way in,
// whatever its length.
func TestLookersReadBodies(t *testing.T) {
	p := newPuppet(t)
	for n := 1; n < pollBuffer; n += 1 + n/3 {
		body, all := strings.Repeat("b", n), make(chan Reply, 2)
		var one, two peeker
		p.start(t, &one, func(r Reply) { all <- r })
		p.start(t, &two, func(r Reply) { all <- r })
		p.replies(t, body, p.last-1, p.last)
		p.polling(func() bool { return len(all) == 2 })
		for range 2 {
			if r := <-all; r.Err != nil {
				t.Fatalf("%d bytes: %v", n, r.Err)
			}
		}
		if one.got != body || two.got != body {
			t.Fatalf("%d bytes: got %d and %d", n, len(one.got), len(two.got))
		}
	}
}

// TestLookersMeetTheEnd: wherever a peer stops talking, calls whose replies have
// come as a whole are answered, and all others end, each once.
func TestLookersMeetTheEnd(t *testing.T) {
	const body = "some answer"
	size := headerSize + 4 + len(body)
	for cut := 0; cut <= 3*size; cut++ {
		p := newPuppet(t)
		all := make(chan Reply, 10)
		got := make([][]byte, 3)
		for i := range got {
			p.start(t, &got[i], func(r Reply) { all <- r })
		}
		var out []byte
		for id := range uint32(3) {
			out = append(out, replyTo(id+1, body)...)
		}
		if _, err := p.peer.Write(out[:cut]); err != nil {
			t.Fatal(err)
		}
		if err := p.peer.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		p.polling(func() bool { return len(all) == 3 })
		p.Close()
		answered := 0
		for range 3 {
			if r := <-all; r.Err == nil {
				answered++
			} else if status.Code(r.Err) != codes.Unavailable {
				t.Errorf("after %d bytes: %v, want UNAVAILABLE", cut, r.Err)
			}
		}
		if answered != cut/size || len(all) > 0 {
			t.Errorf("after %d bytes %d calls are answered, and %d once more; want %d", cut, answered, len(all), cut/size)
		}
		for i := range answered {
			if string(got[i]) != body {
				t.Errorf("after %d bytes answer %d is %q", cut, i, got[i])
			}
		}
	}
}

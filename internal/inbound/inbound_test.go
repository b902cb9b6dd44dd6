package inbound

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"golang.org/x/net/http2"

	"github.com/gorge-tf/gorge/internal/memory"
)

// mayUse bounds the memory of the process until the test ends.
func mayUse(t *testing.T, n int64) {
	before := memory.SetLimit(n)
	t.Cleanup(func() { memory.SetLimit(before) })
}

// TestLargestEnds: beyond the bound the connection with the most bytes is ended,
// whichever asks.
func TestLargestEnds(t *testing.T) {
	mayUse(t, 1<<30)
	l := &ledger{open: map[*Holder]struct{}{}}
	ended := ""
	open := func(name string) *Holder { return l.add(func() { ended += name }) }
	small, large, other := open("small"), open("large"), open("other")
	for _, err := range []error{large.Take(300 << 20), other.Take(200 << 20), small.Take(12 << 20)} {
		if err != nil || ended != "" {
			t.Fatalf("half of the memory: %v, ended %q", err, ended)
		}
	}
	if err := small.Take(1); err != nil || ended != "large" {
		t.Errorf("one byte more: %v, ended %q, want large", err, ended)
	}
	if err := large.Take(1); err == nil {
		t.Error("an ended connection takes more")
	}
	large.Give(300 << 20)
	if l.total != 212<<20+1 {
		t.Errorf("%d bytes are counted, want those of the connections that are left", l.total)
	}
	if err := other.Take(400 << 20); err == nil || ended != "largeother" {
		t.Errorf("the largest itself asks: %v, ended %q", err, ended)
	}
	small.Close()
	if l.total != 0 || len(l.open) != 0 {
		t.Errorf("%d bytes of %d connections are left", l.total, len(l.open))
	}
}

// A peer is a client in bytes.
type peer struct {
	bytes.Buffer
	f *http2.Framer
}

func newPeer() *peer {
	p := &peer{}
	p.WriteString(http2.ClientPreface)
	p.f = http2.NewFramer(p, nil)
	return p
}

// message writes n bytes of a message of size bytes, in frames of at most piece.
func (p *peer) message(t *testing.T, stream uint32, size, n, piece int, pad []byte) {
	b := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(size)), make([]byte, n)...)
	for len(b) > 0 {
		k := min(piece, len(b))
		if err := p.f.WriteDataPadded(stream, false, b[:k], pad); err != nil {
			t.Fatal(err)
		}
		b = b[k:]
	}
}

func (p *peer) begin(t *testing.T, stream uint32) {
	if err := p.f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte("x"), EndHeaders: true}); err != nil {
		t.Fatal(err)
	}
}

// counted returns what a connection holds after it has read the peer's bytes, which
// come in random pieces, and written what reply writes.
func counted(t *testing.T, p *peer, reply func(*http2.Framer)) int64 {
	t.Helper()
	here, there := net.Pipe()
	defer there.Close()
	c := NewConn(here)
	defer c.Close()
	r := rand.New(rand.NewPCG(1, 2))
	for p.Len() > 0 {
		b := p.Next(1 + r.IntN(5000))
		if more := c.look(&c.in, b); more != 0 {
			if err := c.holder.Take(more); err != nil {
				t.Fatal(err)
			}
		}
	}
	if reply != nil {
		var out bytes.Buffer
		reply(http2.NewFramer(&out, nil))
		go func() { _, _ = there.Read(make([]byte, 1<<20)) }() // what is written is of no interest
		if _, err := c.Write(out.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if c.held != c.holder.held {
		t.Errorf("the connection holds %d bytes, the ledger counts %d", c.held, c.holder.held)
	}
	return c.held
}

// TestParts counts parts of messages, not whole ones, whatever the frames.
func TestParts(t *testing.T) {
	const size = 1 << 20
	for _, piece := range []int{1, 7, 1000, 1025, 16384} {
		for _, pad := range [][]byte{nil, make([]byte, 9), make([]byte, 255)} {
			if piece+len(pad) > 16000 {
				continue
			}
			t.Run(fmt.Sprint(piece, len(pad)), func(t *testing.T) {
				n := min(size/2, 5000*piece)
				p := newPeer()
				p.begin(t, 1)
				p.message(t, 1, size, n, piece, pad)
				if got := counted(t, p, nil); got < int64(n) {
					t.Errorf("%d of %d bytes of a message count as %d", n, size, got)
				}
				p = newPeer()
				p.begin(t, 1)
				p.message(t, 1, n, n, piece, pad)
				if got := counted(t, p, nil); got > 100 {
					t.Errorf("a whole message counts as %d bytes", got)
				}
			})
		}
	}
}

// TestStreamsEnd: nothing of a stream is counted after its end, whichever side ends it,
// and data that comes for it later is not, either.
func TestStreamsEnd(t *testing.T) {
	ends := map[string]func(*http2.Framer){
		"reset": func(f *http2.Framer) { _ = f.WriteRSTStream(1, http2.ErrCodeCancel) },
		"trailers": func(f *http2.Framer) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndStream: true, EndHeaders: true})
		},
		"data": func(f *http2.Framer) { _ = f.WriteData(1, true, make([]byte, 100)) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			p := newPeer()
			p.begin(t, 1)
			p.message(t, 1, 1<<20, 1000, 1000, nil)
			if got := counted(t, p, end); got != 0 {
				t.Errorf("%d bytes are counted", got)
			}
		})
	}
	p := newPeer()
	p.begin(t, 1)
	p.message(t, 1, 1<<20, 1000, 1000, nil)
	ends["reset"](p.f)
	p.message(t, 1, 1<<20, 1000, 1000, nil)
	p.begin(t, 1)
	if got := counted(t, p, nil); got != 0 {
		t.Errorf("after the peer has ended its stream %d bytes are counted", got)
	}
}

// TestMoreMessages: those after the first may wait for the handler, as much as the
// window lets in.
func TestMoreMessages(t *testing.T) {
	for _, messages := range []int{1, 2, 50, 1000} {
		p := newPeer()
		p.begin(t, 1)
		for range messages {
			p.message(t, 1, 10_000, 10_000, 16384, nil)
		}
		got, least := counted(t, p, nil), min(int64(messages-1)*10_000, Window)
		if got < least || got > Window+20_000 {
			t.Errorf("%d messages that wait count as %d bytes, want %d at least", messages-1, got, least)
		}
	}
}

// FuzzFrames: whatever comes, what is counted is not negative and ends with the
// connection.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x00\x00\x05\x00\x08\x00\x00\x00\x01\xffabcd"))
	f.Add([]byte("\x00\x00\x01\x01\x04\x00\x00\x00\x01x\x00\x00\x06\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x09a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		here, there := net.Pipe()
		defer there.Close()
		c := NewConn(here)
		defer c.Close()
		before := c.held + c.look(&c.in, []byte(http2.ClientPreface))
		for i := range b {
			before += c.look(&c.in, b[i:i+1])
		}
		sum := int64(0)
		for _, s := range c.streams {
			sum += s.part + s.other
			if s.part < 0 || s.other < 0 {
				t.Fatalf("a stream holds %d and %d bytes", s.part, s.other)
			}
		}
		if sum != c.held || before != c.held {
			t.Fatalf("streams hold %d bytes, the connection counts %d, the moves add up to %d", sum, c.held, before)
		}
	})
}

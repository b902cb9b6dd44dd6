package verbs

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
)

// greeted is a peer that counts, with receives of a depth.
func greeted(depth int) endpoint {
	return endpoint{Address: Address{QPN: 7}, hello: hello{version: helloVersion, incarnation: 1, nonce: nonce{9}, depth: depth}}
}

// counted is a stage whose channel and peer count, and have greeted each other.
func counted(t *testing.T, depth int) *stage {
	s := newStageOf(t, depth)
	if err := s.c.connect(greeted(depth), false); err != nil {
		t.Fatal(err)
	}
	s.c.complete(s.c.greet(pingText + string(s.c.nonce[:])))
	s.settle()
	s.happens = nil
	return s
}

// asked has the peer ask for n tensors, all of which are there.
func (s *stage) askedFor(n int) {
	for i := range n {
		s.c.complete(s.c.deliver(&message{typ: tensorRequest, index: uint32(i), key: fmt.Sprint("k", i), meta: floats(2), addr: 1000, rkey: 7}))
		s.settle()
		s.produce(fmt.Sprint("k", i, " 0"), []string{"float32[2]"})
		s.settle()
	}
}

func (s *stage) contents() (n int) {
	for _, h := range s.happens {
		if len(h) > 11 && h[:11] == "  > content" {
			n++
		}
	}
	return n
}

// TestReceivesNeverRunOut: a peer with 16 receives is never sent more than it has
// room for, whatever it asks for; what it posts again is used.
func TestReceivesNeverRunOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const depth, n = 16, 100
		s := counted(t, depth)
		defer s.close()
		s.askedFor(n)
		sent := s.contents()
		if all := s.c.credits.spent; all > depth && sent > 0 {
			// Acknowledgements went beside the tensors: the peer took those at once.
			t.Logf("%d immediate values, %d of them tensors", all, sent)
		}
		if sent > depth-reserved {
			t.Fatalf("%d tensors were written to a peer with %d receives", sent, depth)
		}
		for s.c.credits.spent > 0 && s.c.over() == nil {
			before := s.contents()
			s.c.complete(Completion{ID: recvID, Op: OpRecvWriteImm, Imm: creditBase + 1})
			s.settle()
			if now := s.contents(); now > before+1 {
				t.Fatalf("one credit lets %d tensors go", now-before)
			}
		}
		if sent = s.contents(); sent != n {
			t.Errorf("%d tensors were written in the end, want %d", sent, n)
		}
	})
}

// TestCreditsAreReturned: half of the receives at a time, and not more than there were.
func TestCreditsAreReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := counted(t, 16)
		defer s.close()
		s.askedFor(20) // messages use up receives, too
		var told uint32
		for s.c.returnsCredits(&told) {
		}
		s.c.mu.Lock()
		left := s.c.credits.taken
		s.c.mu.Unlock()
		if told+uint32(left) != 20 || told < 16 || left >= 8 {
			t.Errorf("of 20 receives %d were returned, %d are left", told, left)
		}
		s.c.complete(Completion{ID: recvID, Op: OpRecvWriteImm, Imm: creditBase + 1000})
		synctest.Wait()
		if err := s.c.over(); err == nil {
			t.Error("a peer returns what it was not given")
		}
	})
}

// returnsCredits is the end of a batch of completions.
func (c *Channel) returnsCredits(told *uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	dev := c.adapter.dev.(*fakeDevice)
	c.returnCredits()
	any := false
	for _, wr := range dev.posted {
		if wr.Imm > creditBase && wr.Imm < immAck {
			*told += wr.Imm - creditBase
			any = true
		}
	}
	dev.posted = nil
	return any
}

// TestStrangersAreRefused: the first message of a peer that said hello has to repeat
// what that was told, and there is one.
func TestStrangersAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		ping func(*Channel) string
		ok   bool
	}{
		"the nonce":         {func(c *Channel) string { return pingText + string(c.nonce[:]) }, true},
		"another nonce":     {func(c *Channel) string { return pingText + "0123456789abcdef" }, false},
		"half of it":        {func(c *Channel) string { return pingText + string(c.nonce[:8]) }, false},
		"no nonce":          {func(c *Channel) string { return pingText }, false},
		"TensorFlow's ping": {func(c *Channel) string { return "\x00\x00" }, false},
		"nothing":           {func(c *Channel) string { return "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				defer s.close()
				if err := s.c.connect(greeted(16), false); err != nil {
					t.Fatal(err)
				}
				s.c.complete(s.c.greet(c.ping(s.c)))
				s.settle()
				if err := s.c.over(); (err == nil) != c.ok {
					t.Errorf("a ping with %s: %v", name, err)
				}
				if !c.ok {
					return
				}
				s.c.complete(s.c.greet(""))
				if s.c.over() == nil {
					t.Error("a peer greets twice")
				}
			})
		})
	}
}

// TestOutsideTheArena: room that a peer gives outside of what it said to be its
// arena is refused, where the device would end the connection.
func TestOutsideTheArena(t *testing.T) {
	h := hello{version: helloVersion, arena: remoteMR{1 << 20, 3}, arenaBytes: 4096}
	for _, c := range []struct {
		addr uint64
		rkey uint32
		n    int
		in   bool
	}{
		{1 << 20, 3, 4096, true}, {1 << 20, 3, 4097, false}, {1<<20 - 1, 3, 1, false}, {1<<20 + 4095, 3, 1, true}, {1<<20 + 4096, 3, 1, false},
		{1<<64 - 1, 3, 8, false}, {0, 3, 0, true}, {1<<64 - 1, 4, 8, true}, {1 << 20, 3, 1 << 40, false},
	} {
		if in := h.inArena(c.addr, c.rkey, c.n); in != c.in {
			t.Errorf("%d bytes at %#x with the key %d: in %v", c.n, c.addr, c.rkey, in)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		defer s.close()
		e := greeted(4)
		e.arena, e.arenaBytes = remoteMR{500, 7}, 504
		if err := s.c.connect(e, false); err != nil {
			t.Fatal(err)
		}
		s.c.complete(s.c.greet(pingText + string(s.c.nonce[:])))
		s.settle()
		s.happens = nil
		s.askedFor(1) // 8 bytes at 1000
		if want := "  > error 0 INVALID_ARGUMENT: 8 bytes at 0x3e8 are not in the memory in which the receiver takes tensors"; !slices.Contains(s.happens, want) {
			t.Errorf("%q, want %q", s.happens, want)
		}
	})
}

package verbs

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
)

// TestStagingIsBounded: however many tensors have to be copied, the copies that are
// posted at a time are bounded, and longer tensors than that go in pieces, of which
// the peer hears of the last one.
func TestStagingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, n = 64, 20
		s := newStageOf(t, 64)
		defer s.close()
		s.dev.copyBelow = 1 << 20
		s.c.staging.limit = limit
		if err := s.c.connect(endpoint{Address: Address{QPN: 7}}, false); err != nil {
			t.Fatal(err)
		}
		s.c.complete(s.c.greet(pingText))
		s.settle()
		s.manual = true
		for i := range n {
			s.c.complete(s.c.deliver(&message{typ: tensorRequest, index: uint32(i), key: "k", step: int64(i), meta: floats(sizes[i%3]), addr: 1000, rkey: 7}))
			s.settle()
			s.produce("k "+strconv.Itoa(i), []string{[]string{"float32[2]", "float32[10]", "float32[100]"}[i%3]})
			s.settle()
		}
		under, told := 0, 0
		for len(s.pending) > 0 {
			under = 0
			for _, wr := range s.pending {
				if wr.Imm < immAck {
					under += wr.Len()
				}
			}
			if under > limit || s.c.staging.used > limit {
				t.Fatalf("%d bytes of copies are posted, %d are counted, want %d at most", under, s.c.staging.used, limit)
			}
			if wr := s.pending[0]; wr.Op == OpWriteImm && wr.Imm < immAck {
				told++
			}
			s.act([]string{"complete"})
			s.settle()
		}
		if k := s.c.Stats(); told != n || k.Staged != n || k.RingFull == 0 || k.Bytes != k.StagedLen || s.c.staging.used != 0 {
			t.Errorf("%d of %d tensors were told: %+v", told, n, k)
		}
		if strings.Contains(strings.Join(s.happens, ""), "error") {
			t.Errorf("%q", s.happens)
		}
	})
}

// sizes of float32 tensors: with the limit of the test, several fit, one, and none.
var sizes = []int{2, 10, 100}

// TestStagedAreDropped: what waits to be copied ends with the channel.
func TestStagedAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStageOf(t, 64)
		s.dev.copyBelow = 1 << 20
		s.c.staging.limit = 16
		if err := s.c.connect(endpoint{Address: Address{QPN: 7}}, false); err != nil {
			t.Fatal(err)
		}
		s.c.complete(s.c.greet(pingText))
		s.settle()
		s.manual = true
		for i := range 10 {
			s.c.complete(s.c.deliver(&message{typ: tensorRequest, index: uint32(i), key: "k", step: int64(i), meta: floats(10), addr: 1000, rkey: 7}))
			s.settle()
			s.produce("k "+strconv.Itoa(i), []string{"float32[10]"})
			s.settle()
		}
		if len(s.c.staging.waiting) == 0 {
			t.Error("nothing waits")
		}
		s.close() // finds what is left of the arena
	})
}

package verbs

import (
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/internal/memory"
)

// TestHugePieces: the pieces of a tensor beyond 4 GiB follow each other without a
// gap, at the sender and at the receiver. No such memory is there: the device only
// notes what it is asked for.
func TestHugePieces(t *testing.T) {
	for _, c := range []struct{ most, n int }{{8 << 20, 5<<30 + 12345}, {1 << 31, 5 << 30}, {1 << 40, 9<<30 + 1}, {64 << 20, 64 << 20}, {64 << 20, 64<<20 + 1}} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t)
			s.dev.maxMessage = c.most
			defer s.close()
			s.c.out.free = 1 << 20 // all at once
			const from, to = 1 << 33, 1 << 34
			buf := memory.New(1)
			s.c.mu.Lock()
			s.c.writeOut(&response{index: 7, addr: to, rkey: 9}, segment{buf: buf, addr: from, mr: &fakeRegion{dev: s.dev}}, c.n)
			s.c.mu.Unlock()
			off := 0
			for i, wr := range s.dev.posted {
				last := i == len(s.dev.posted)-1
				if wr.Local.Addr != uint64(from+off) || wr.RemoteAddr != uint64(to+off) || wr.Len() > min(c.most, maxPiece) || wr.Len() == 0 || (wr.Op == OpWriteImm) != last {
					t.Fatalf("piece %d of %d bytes: %+v", i, c.n, wr)
				}
				off += wr.Len()
			}
			if off != c.n {
				t.Errorf("the pieces have %d bytes, want %d", off, c.n)
			}
			s.dev.posted = nil
		})
	}
}

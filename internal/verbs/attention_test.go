package verbs

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A watchedQueue counts how often it is polled.
type watchedQueue struct {
	fakeQueue
	polls *atomic.Int64
}

func (q watchedQueue) Poll(wc []Completion) (int, error) {
	q.polls.Add(1)
	return q.fakeQueue.Poll(wc)
}

type watchedDevice struct {
	*fakeDevice
	polls atomic.Int64
}

func (d *watchedDevice) CreateCQ(int) (CompletionQueue, error) {
	return watchedQueue{fakeQueue{d.closed}, &d.polls}, nil
}

// TestIdle: a task to which nothing happens polls as often as it was told to, then
// sleeps: in an hour it does nothing more.
func TestIdle(t *testing.T) {
	for _, c := range []struct{ busy, want int }{{7, 9}, {-1, 2}} { // one before, and one after the queue is armed
		synctest.Test(t, func(t *testing.T) {
			d := &watchedDevice{fakeDevice: newFakeDevice()}
			a, err := NewAdapter(d, Config{BusyPoll: c.busy, QueueDepth: 16, ArenaBytes: 1 << 12})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour) // of the bubble
			synctest.Wait()
			if n := d.polls.Load(); n != int64(c.want) {
				t.Errorf("an idle adapter that polls %d times looks %d times, want %d", c.busy, n, c.want)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOneCallForABatch: what completions at hand lead to is posted in one call for
// sends and one for receives.
func TestOneCallForABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := counted(t, 16)
		defer s.close()
		s.askedFor(40)                                        // more than there are credits for
		over := uint32(s.c.credits.spent - s.c.credits.limit) // acknowledgements used up more
		s.c.complete(Completion{ID: recvID, Op: OpRecvWriteImm, Imm: creditBase + over})
		s.settle()
		sends, recvs, before := s.dev.sendCalls, s.dev.recvCalls, s.c.Stats()
		qpn := s.c.qp.Num()
		var wc []Completion
		for range 8 {
			wc = append(wc, Completion{ID: recvID + uint64(len(wc)), Op: OpRecvWriteImm, Imm: creditBase + 1, QPN: qpn})
		}
		s.adapter.dispatch(wc)
		after := s.c.Stats()
		if s.dev.sendCalls != sends+1 || s.dev.recvCalls != recvs+1 || after.Batches != before.Batches+1 || after.Writes < before.Writes+8 {
			t.Errorf("eight completions led to %d calls that post %d tensors, %d are counted, and to %d calls that post receives, want one of each",
				s.dev.sendCalls-sends, after.Writes-before.Writes, after.Batches-before.Batches, s.dev.recvCalls-recvs)
		}
		s.settle()
	})
}

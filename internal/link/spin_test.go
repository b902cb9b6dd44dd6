package link

import (
	"bufio"
	"context"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A scripted peer answers every call with its own body, in the pieces that cut
// makes of a reply.
func scripted(t *testing.T, cut func(call int, reply []byte) [][]byte) *Client {
	t.Helper()
	a, b := pair(t)
	var peer sync.WaitGroup
	peer.Go(func() {
		defer b.Close()
		r := bufio.NewReader(b)
		if readPreface(r) != nil || writePreface(b) != nil {
			return
		}
		for k := 0; ; k++ {
			h, _, err := readHead(r)
			if err != nil {
				return
			}
			body := make([]byte, h.body)
			if _, err := io.ReadFull(r, body); err != nil {
				return
			}
			head := (&outcome{}).append(nil)
			reply := append(header{kindReply, h.call, len(head), len(body)}.append(nil), append(head, body...)...)
			for _, piece := range cut(k, reply) {
				if _, err := b.Write(piece); err != nil {
					return
				}
				for begin := time.Now(); time.Since(begin) < 20*time.Microsecond; {
					runtime.Gosched()
				}
			}
		}
	})
	c, err := NewClient(a, plain{}, Keepalive{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		peer.Wait()
	})
	return c
}

// lookOut makes the next caller look out.
func (c *Client) lookOut() {
	c.spinPolicy.blockedMean.Store(int64(spinLimit))
	c.spinPolicy.spunMean.Store(1)
	c.spinPolicy.calls.Store(0)
}

// TestHabit: callers look out where that is the faster way, and find out when it
// no longer is.
func TestHabit(t *testing.T) {
	var h spinPolicy
	const µs = time.Microsecond
	for _, phase := range []struct {
		name        string
		slept, spun time.Duration
		least, most int // of the last 320 of 640 calls
	}{
		{"polling pays", 150 * µs, 80 * µs, 300, 319},
		{"polling costs", 14 * µs, 88 * µs, 1, 20},
		{"nothing comes soon", 900 * µs, 850 * µs, 0, 0},
		{"polling pays again", 150 * µs, 80 * µs, 300, 319},
		{"it is the same", 100 * µs, 100 * µs, 1, 319},
	} {
		polls := 0
		for i := range 640 {
			spun := h.shouldSpin()
			if spun && i >= 320 {
				polls++
			}
			h.record(spun, map[bool]time.Duration{false: phase.slept, true: phase.spun}[spun])
		}
		if polls < phase.least || polls > phase.most {
			t.Errorf("%s: %d of 320 callers poll, want %d to %d", phase.name, polls, phase.least, phase.most)
		}
	}
}

// TestSpin: a caller that polls for its reply gets it, wherever the
// pieces end in which it comes, and so does the next one.
func TestSpin(t *testing.T) {
	const body = "what is asked for"
	whole := headerSize + 4 + len(body)
	c := scripted(t, func(k int, reply []byte) [][]byte {
		at := k % len(reply)
		return [][]byte{reply[:at], reply[at:]}
	})
	for range 20 * whole {
		c.lookOut()
		if got, err := ask(t.Context(), c, "Echo", body); got != body || err != nil {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	if canPoll && min(runtime.GOMAXPROCS(0), runtime.NumCPU()) > 1 && c.queueSignal == nil {
		t.Error("no caller has polled")
	}
}

// TestSpinnersTogether: whoever polls takes the replies of all.
func TestSpinnersTogether(t *testing.T) {
	c := scripted(t, func(_ int, reply []byte) [][]byte { return [][]byte{reply[:22], reply[22:]} })
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for k := range 200 {
				body := strings.Repeat("x", 20*k)
				c.lookOut()
				if got, err := ask(t.Context(), c, "Echo", body); got != body || err != nil {
					t.Errorf("got %d bytes, %v; want %d", len(got), err, len(body))
					return
				}
			}
		})
	}
	callers.Wait()
}

// TestSpinMeetsNonsense: a poller ends the link as the reader does.
func TestSpinMeetsNonsense(t *testing.T) {
	for _, nonsense := range []string{strings.Repeat("\xff", 64), string(header{kindCall, 1, 0, 0}.append(nil))} {
		c := scripted(t, func(k int, reply []byte) [][]byte {
			if k == 1 {
				return [][]byte{[]byte(nonsense)}
			}
			return [][]byte{reply}
		})
		if _, err := ask(t.Context(), c, "Echo", "x"); err != nil {
			t.Fatal(err)
		}
		c.lookOut()
		if _, err := ask(t.Context(), c, "Echo", "x"); status.Code(err) != codes.Unavailable {
			t.Errorf("after %q: %v, want UNAVAILABLE", nonsense[:4], err)
		}
	}
}

// TestSpinEnds: a caller that is not answered soon sleeps, and wakes when its
// context ends.
func TestSpinEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := scripted(t, func(k int, reply []byte) [][]byte {
		if k > 0 {
			time.Sleep(2 * spinLimit) // since the call was made
			cancel()
			return nil
		}
		return [][]byte{reply}
	})
	if _, err := ask(t.Context(), c, "Echo", "x"); err != nil {
		t.Fatal(err)
	}
	c.lookOut()
	if _, err := ask(ctx, c, "Echo", "x"); status.Code(err) != codes.Canceled {
		t.Errorf("%v, want CANCELLED", err)
	}
	if c.spinPolicy.shouldSpin() {
		t.Error("the next caller is to look out after one who did so in vain")
	}
}

// TestWhole: a frame is taken in only as a whole.
func TestWhole(t *testing.T) {
	f := newFrame(kindReply, 7, []byte("head"), nil).front
	for n := range len(f) {
		if got := completeFrame(f[:n]); got != 0 {
			t.Errorf("the first %d bytes of %d: %d", n, len(f), got)
		}
	}
	for _, more := range []int{0, 1, 100} {
		if got := completeFrame(append(f[:len(f):len(f)], make([]byte, more)...)); got != len(f) {
			t.Errorf("%d bytes more: %d, want %d", more, got, len(f))
		}
	}
}

// TestLookoutLeavesAProcessor: polling callers leave a processor to others.
func TestLookoutLeavesAProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for n := 1; n <= 4; n++ {
		runtime.GOMAXPROCS(n)
		may := 0
		for range 2 * n {
			if acquireSpinner() {
				may++
			}
		}
		spinners.Add(-int32(may))
		if want := min(n, runtime.NumCPU()) - 1; may != want {
			t.Errorf("%d callers may look out on %d processors, want %d", may, n, want)
		}
	}
	if n := spinners.Load(); n != 0 {
		t.Errorf("%d callers are left", n)
	}
}

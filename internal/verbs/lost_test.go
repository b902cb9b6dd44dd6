package verbs_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/verbstest"
	"github.com/gorge-tf/gorge/tf/core"
)

// once matches the first completion that something holds for.
func once(match func(verbs.Completion) bool) func(verbs.Completion) bool {
	var done atomic.Bool
	return func(w verbs.Completion) bool { return match(w) && done.CompareAndSwap(false, true) }
}

// TestLostCompletions: a completion that gets lost, on either side, ends the
// connection: what waits fails, nothing gets a wrong value, and the next step works.
func TestLostCompletions(t *testing.T) {
	arrived := func(w verbs.Completion) bool { return w.Op == verbs.OpRecvWriteImm && w.Imm < 0xFFFF0000 }
	sent := func(w verbs.Completion) bool { return w.Op == verbs.OpWriteImm && w.Len > 1000 }
	for _, c := range []struct {
		name  string
		match func(verbs.Completion) bool
	}{{"arrived", arrived}, {"sent", sent}} {
		t.Run(c.name, func(t *testing.T) {
			cl := newCluster()
			cl.config.Pulse, cl.config.Patience = 10*time.Millisecond, 200*time.Millisecond
			var devices []*verbstest.Faulty
			cl.wrap = func(d verbs.Device) verbs.Device {
				f := verbstest.Wrap(d)
				devices = append(devices, f)
				return f
			}
			p := cl.pair(t)
			begin(t, p, 1).works(full(5000, 1))
			match := once(c.match)
			for _, d := range devices {
				d.Lose(match)
			}
			s := begin(t, p, 2)
			var got []<-chan outcome
			for i := range 3 { // what comes later tells that something is missing
				s.send(edgeName(i), full(5000, byte(i)))
				got = append(got, s.recv(edgeName(i)))
			}
			for i, g := range got {
				o := <-g
				if o.err == nil && o.t.Buffer().Bytes()[0] != byte(i) || o.err != nil && core.CodeOf(o.err) != core.Unavailable {
					t.Errorf("tensor %d is %v, %v", i, o.t, o.err)
				}
				if o.err == nil {
					o.t.Release()
				}
			}
			begin(t, p, 3).eventually()
		})
	}
}

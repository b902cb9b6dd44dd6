package worker

import (
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestSessionClosesItsPool: what comes back to the pool of a session that has ended is not kept.
func TestSessionClosesItsPool(t *testing.T) {
	s, err := newWorker(t).newSession(&pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	if err != nil {
		t.Fatal(err)
	}
	late := s.rt.Pool.Get(1000)
	s.rt.Pool.Get(2000).Unref()
	s.close(core.Errorf(core.Aborted, "over"))
	late.Unref()
	if st := s.rt.Pool.Stats(); st.Idle != 0 {
		t.Errorf("the pool of a session that has ended keeps %+v", st)
	}
}

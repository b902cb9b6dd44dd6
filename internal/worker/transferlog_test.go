package worker

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// echo is a transport that has every value at once: a vector of four floats.
type echo struct{}

func (echo) Recv(_ context.Context, _ string, _ int64, key string, _ rendezvous.Alloc, done func(rendezvous.Result)) {
	if key == "lost" {
		done(rendezvous.Result{Err: core.Errorf(core.Unavailable, "lost")})
		return
	}
	x, err := core.FromSlice([]float32{1, 2, 3, 4})
	done(rendezvous.Result{Tensor: x, Err: err})
}

func TestLogging(t *testing.T) {
	w := New(Env{Task: task, Devices: device.CPUs("worker", 0, 1), Rendezvous: rendezvous.NewManager(0), Transport: echo{}})
	t.Cleanup(w.Close)
	log := func(req *pb.LoggingRequest) map[int64]int {
		t.Helper()
		resp, err := w.Logging(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		out := map[int64]int{}
		for _, s := range resp.GetStep() {
			for _, d := range s.GetStepStats().GetDevStats() {
				for _, n := range d.GetNodeStats() {
					out[s.GetStepId()] += int(n.GetOutput()[0].GetTensorDescription().GetAllocationDescription().GetRequestedBytes())
				}
			}
		}
		return out
	}
	recv := func(step int64, keys ...string) {
		for _, k := range keys {
			w.transfers.Recv(t.Context(), "other", step, k, nil, func(r rendezvous.Result) {
				if r.Tensor != nil {
					r.Tensor.Release()
				}
			})
		}
	}
	key := w.key("edge_1_x")
	recv(1, key) // nobody wants to know
	on, off := &pb.LoggingRequest{EnableRpcLogging: true}, &pb.LoggingRequest{}
	fetch := &pb.LoggingRequest{DisableRpcLogging: true, FetchStepId: []int64{1, 2, 3}}
	log(on)
	log(on) // another master
	recv(2, key, key, "lost", "no key")
	log(off)
	recv(3, key) // one of the two still wants to know
	if got := log(fetch); len(got) != 2 || got[2] != 32 || got[3] != 16 {
		t.Errorf("bytes received by step: %v, want 32 in step 2 and 16 in step 3", got)
	}
	recv(4, key)
	if got := log(&pb.LoggingRequest{FetchStepId: []int64{2, 4}}); len(got) != 0 {
		t.Errorf("fetched again, and after logging was switched off: %v", got)
	}
	log(on)
	recv(5, key)
	if got := log(&pb.LoggingRequest{Clear: true}); len(got) != 0 || len(w.transfers.steps) != 0 {
		t.Errorf("%v and %d steps are left after they were cleared", got, len(w.transfers.steps))
	}
	for i := range int64(3 * loggedSteps) {
		recv(i, key)
	}
	if n := len(w.transfers.steps); n > loggedSteps {
		t.Errorf("%d steps are kept, at most %d may be", n, loggedSteps)
	}
}

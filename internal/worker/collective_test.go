package worker

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A peer that wants collective operations hears what TensorFlow's workers say
// that have none.
func TestNoCollectives(t *testing.T) {
	w, ctx := newWorker(t), t.Context()
	_, group := w.CompleteGroup(ctx, &pb.CompleteGroupRequest{})
	_, instance := w.CompleteInstance(ctx, &pb.CompleteInstanceRequest{})
	_, steps := w.GetStepSequence(ctx, &pb.GetStepSequenceRequest{})
	_, buf := w.RecvBuf(ctx, &pb.RecvBufRequest{RequestId: 5})
	for name, err := range map[string]error{"CompleteGroup": group, "CompleteInstance": instance, "GetStepSequence": steps, "RecvBuf": buf} {
		if core.CodeOf(err) != core.Internal || core.AsError(err).Message() != "Runtime not initialized with CollectiveExecutorMgr" {
			t.Errorf("%s = %v", name, err)
		}
	}
	if _, err := w.RecvBuf(ctx, &pb.RecvBufRequest{RequestId: 5}); core.CodeOf(err) != core.Aborted {
		t.Errorf("the same request = %v, want Aborted", err)
	}
	if _, err := w.Tracing(ctx, &pb.TracingRequest{}); core.CodeOf(err) != core.Unimplemented {
		t.Errorf("Tracing = %v, want Unimplemented", err)
	}
}

// A worker that closes ends what other tasks wait for at it.
func TestCloseEndsCollectives(t *testing.T) {
	w := New(Env{Task: task, Devices: device.CPUs("worker", 0, 1), Rendezvous: rendezvous.NewManager(0), Collectives: collective.New(collective.Env{})})
	member := &pb.DeviceAttributes{Name: "/job:worker/replica:0/task:1/device:CPU:0", DeviceType: "CPU", Incarnation: 1}
	waiting := make(chan error, 1)
	go func() {
		_, err := w.CompleteGroup(t.Context(), &pb.CompleteGroupRequest{GroupKey: 1, GroupSize: 2, DeviceType: "CPU", DeviceAttributes: member})
		waiting <- err
	}()
	steps, err := w.GetStepSequence(t.Context(), &pb.GetStepSequenceRequest{GraphKey: []int64{3, 4, 3}})
	if s := steps.GetStepSequence(); err != nil || len(s) != 3 || s[0].GetNextStepId() != s[2].GetNextStepId() || s[0].GetNextStepId() == s[1].GetNextStepId() {
		t.Errorf("steps of two graphs are %v, %v", s, err)
	}
	if _, err := w.RecvBuf(t.Context(), &pb.RecvBufRequest{SrcDevice: "/job:worker/replica:0/task:7/device:CPU:0"}); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("a value of a device that is not here: %v", err)
	}
	w.Close()
	if err := <-waiting; err == nil {
		t.Error("a group is complete without its second member")
	}
}

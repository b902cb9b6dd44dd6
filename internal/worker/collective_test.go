package worker

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
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
		if tf.CodeOf(err) != tf.Internal || tf.AsError(err).Message() != "Runtime not initialized with CollectiveExecutorMgr" {
			t.Errorf("%s = %v", name, err)
		}
	}
	if _, err := w.RecvBuf(ctx, &pb.RecvBufRequest{RequestId: 5}); tf.CodeOf(err) != tf.Aborted {
		t.Errorf("the same request = %v, want Aborted", err)
	}
	if _, err := w.Tracing(ctx, &pb.TracingRequest{}); tf.CodeOf(err) != tf.Unimplemented {
		t.Errorf("Tracing = %v, want Unimplemented", err)
	}
}

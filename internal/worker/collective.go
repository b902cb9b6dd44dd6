package worker

import (
	"context"

	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

// What belongs to collective operations is answered as a worker of TensorFlow
// does that was started without them, so that masters and peers see why.

func noCollectives() error {
	return tf.Errorf(tf.Internal, "Runtime not initialized with CollectiveExecutorMgr")
}

// CompleteGroup says that there are no collective operations here.
func (w *Worker) CompleteGroup(context.Context, *pb.CompleteGroupRequest) (*pb.CompleteGroupResponse, error) {
	return nil, noCollectives()
}

// CompleteInstance says that there are no collective operations here.
func (w *Worker) CompleteInstance(context.Context, *pb.CompleteInstanceRequest) (*pb.CompleteInstanceResponse, error) {
	return nil, noCollectives()
}

// GetStepSequence says that there are no collective operations here.
func (w *Worker) GetStepSequence(context.Context, *pb.GetStepSequenceRequest) (*pb.GetStepSequenceResponse, error) {
	return nil, noCollectives()
}

// RecvBuf says that there are no collective operations here.
func (w *Worker) RecvBuf(_ context.Context, req *pb.RecvBufRequest) (*pb.RecvBufResponse, error) {
	if err := w.recent.Track(req.GetRequestId(), "RecvBuf (GrpcWorker)"); err != nil {
		return nil, err
	}
	return nil, noCollectives()
}

// Tracing is not implemented, as in TensorFlow: steps are traced by RunOptions.
func (w *Worker) Tracing(context.Context, *pb.TracingRequest) (*pb.TracingResponse, error) {
	return nil, tf.Errorf(tf.Unimplemented, "Tracing")
}

package session

import (
	"context"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// RunOptions says more about how one step is run. The zero value is how Run
// runs it.
type RunOptions struct {
	// Trace makes the step report when its nodes ran and what they made.
	Trace TraceLevel
	// Timeout bounds the step; 0: only the session's own limit does.
	Timeout time.Duration
	// InterOpPool chooses one of Config.InterOpPools; -1: one operation is
	// computed after the other.
	InterOpPool int
	// PartitionGraphs makes the step report the graphs that were run, by
	// device.
	PartitionGraphs bool
	// ReportAllocationsUponOOM makes the error of a step that runs out of
	// memory list what was allocated, where the device can tell.
	ReportAllocationsUponOOM bool
}

// TraceLevel is how much of a step is traced.
type TraceLevel int

// The levels of TensorFlow. A session in this process traces the same at all
// but NoTrace; a cluster's traces at FullTrace only.
const (
	NoTrace       = TraceLevel(pb.RunOptions_NO_TRACE)
	SoftwareTrace = TraceLevel(pb.RunOptions_SOFTWARE_TRACE)
	HardwareTrace = TraceLevel(pb.RunOptions_HARDWARE_TRACE)
	FullTrace     = TraceLevel(pb.RunOptions_FULL_TRACE)
)

// RunMetadata is what a step reports beside its results: TensorFlow's message,
// which proto.Marshal turns into what TensorFlow's tools read. Package
// timeline draws its StepStats.
type RunMetadata = pb.RunMetadata

// RunWithOptions is Run as o says, and returns what the step reports.
func (s *Session) RunWithOptions(ctx context.Context, o RunOptions, feeds Feeds, fetches ...tf.Fetchable) ([]*tf.Tensor, *RunMetadata, error) {
	p, err := o.proto()
	if err != nil {
		return nil, nil, err
	}
	s.tell(o)
	return s.runPlanned(ctx, p, feeds, fetches, nil)
}

func (o *RunOptions) proto() (*pb.RunOptions, error) {
	if pb.RunOptions_TraceLevel_name[int32(o.Trace)] == "" {
		return nil, tf.Errorf(tf.InvalidArgument, "a trace level must be one of %d to %d, got %d", NoTrace, FullTrace, o.Trace)
	}
	if o.Timeout < 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "a step's timeout must not be negative, got %v", o.Timeout)
	}
	return &pb.RunOptions{
		TraceLevel: pb.RunOptions_TraceLevel(o.Trace), TimeoutInMs: millis(o.Timeout), InterOpThreadPool: int32(o.InterOpPool),
		OutputPartitionGraphs: o.PartitionGraphs, ReportTensorAllocationsUponOom: o.ReportAllocationsUponOOM,
	}, nil
}

// millis rounds up: 0 would be no limit at all.
func millis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

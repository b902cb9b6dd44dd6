// Package timeline draws what a step was doing when: it turns the statistics of
// a traced step into a trace that Chrome (chrome://tracing) and Perfetto show,
// with a row for whatever ran at the same time on each device, arrows along
// which tensors went, and the memory that they took.
//
//	_, meta, err := sess.RunWithOptions(ctx, session.RunOptions{Trace: session.FullTrace}, feeds, loss)
//	...
//	err = timeline.Write(file, meta, timeline.Options{})
package timeline

import (
	"io"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// Options says what a timeline shows.
type Options struct {
	// HideDataflow leaves out the arrows from producers to consumers.
	HideDataflow bool
	// Memory adds the life of each tensor and the memory in use.
	Memory bool
	// OpTime says which time of an op is drawn: that of its scheduling, of
	// its kernels on a GPU, or from the first to the last of either.
	OpTime OpTime
}

// OpTime is the time of an op that a timeline draws.
type OpTime int

// The times that a timeline can draw. Where nothing ran on a GPU they are the
// same.
const (
	Schedule OpTime = iota
	GPU
	All
)

// A Maximum is the most memory that was in use from one allocator, when that
// was, and whose it was.
type Maximum struct {
	Micros  int64 // since 1970
	Bytes   int64
	Tensors []string // sorted
}

// Write draws the step that m tells of. m must have step statistics, those of
// package session or of TensorFlow.
func Write(w io.Writer, m *session.RunMetadata, o Options) error {
	if w == nil {
		return tf.Errorf(tf.InvalidArgument, "a timeline is written to a writer, got nil")
	}
	a, err := analyze(m.GetStepStats(), o)
	if err != nil {
		return err
	}
	return a.trace.write(w)
}

// Maximums returns the most memory in use during the step that m tells of, by
// allocator.
func Maximums(m *session.RunMetadata) (map[string]Maximum, error) {
	a, err := analyze(m.GetStepStats(), Options{Memory: true})
	if err != nil {
		return nil, err
	}
	return a.maximums, nil
}

func analyze(s *pb.StepStats, o Options) (*analysis, error) {
	switch {
	case s == nil:
		return nil, tf.Errorf(tf.InvalidArgument, "a timeline needs the statistics of a step: run it with RunOptions.Trace")
	case o.OpTime < Schedule || o.OpTime > All:
		return nil, tf.Errorf(tf.InvalidArgument, "OpTime must be Schedule, GPU or All, got %d", o.OpTime)
	}
	a := newAnalysis(s, o)
	a.nameProcesses()
	a.assignLanes()
	a.makeTensors()
	a.showOps()
	if o.Memory {
		a.showMemory()
	}
	return a, nil
}

// Package batch joins requests that come at the same time to batches, which run
// once, and gives each request its part of the results.
package batch

import (
	"math"
	"runtime"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// Params say how requests are joined. The zero value is adaptive, see Timeout.
type Params struct {
	// MaxSize bounds the rows of a request and of a batch; 0: 1000.
	MaxSize int
	// Timeout is how long the first request of a batch waits for others while
	// another batch could run; 0: not at all. Requests are then joined only while
	// they wait for a thread, so that nothing is slower when little is to do.
	Timeout time.Duration
	// MaxBatches bounds what waits, in batches of the largest size; 0: 10. Requests
	// above it fail with Unavailable.
	MaxBatches int
	// Threads is how many batches run at once, of all signatures and models of a server
	// together; 0: one for each CPU. Signatures get threads in turn. In the file of a
	// single model it bounds the batches of each signature of that model besides.
	Threads int
	// Sizes are those that batches are rounded up to, increasing, the last one the
	// largest size of a batch; nil: every size.
	Sizes []int
	// Pad makes tensors equal that differ in other dimensions than the first by
	// adding zeros at the ends. Without it they are not joined.
	Pad bool
	// Split lets a request be run in several batches. Batches then have MaxRun rows
	// at most, 0: MaxSize.
	Split  bool
	MaxRun int
}

// maxMicros is the longest timeout that a time.Duration holds.
const maxMicros = int64(math.MaxInt64 / time.Microsecond)

// FromProto reads the message of a batching parameters file. Errors are
// InvalidArgument.
func FromProto(p *servingpb.BatchingParameters) (*Params, error) {
	out := &Params{
		MaxSize: int(p.GetMaxBatchSize().GetValue()), Timeout: time.Duration(p.GetBatchTimeoutMicros().GetValue()) * time.Microsecond,
		MaxBatches: int(p.GetMaxEnqueuedBatches().GetValue()), Threads: int(p.GetNumBatchThreads().GetValue()),
		Pad: p.GetPadVariableLengthInputs(), Split: p.GetEnableLargeBatchSplitting().GetValue(), MaxRun: int(p.GetMaxExecutionBatchSize().GetValue()),
	}
	for _, s := range p.GetAllowedBatchSizes() {
		out.Sizes = append(out.Sizes, int(s))
	}
	if v := p.GetMaxBatchSize(); v != nil && v.GetValue() <= 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "max_batch_size must be positive, got %d", v.GetValue())
	}
	if v := p.GetBatchTimeoutMicros().GetValue(); v < 0 || v > maxMicros {
		return nil, tf.Errorf(tf.InvalidArgument, "batch_timeout_micros must be from 0 to %d, got %d", maxMicros, v)
	}
	if v := p.GetNumBatchThreads(); v != nil && v.GetValue() <= 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "num_batch_threads must be positive, got %d", v.GetValue())
	}
	return out, out.Check()
}

// Check refuses parameters that contradict each other, with InvalidArgument.
func (p Params) Check() error {
	for _, v := range []struct {
		name string
		n    int64
	}{
		{"max_batch_size", int64(p.MaxSize)}, {"batch_timeout_micros", p.Timeout.Microseconds()}, {"max_enqueued_batches", int64(p.MaxBatches)},
		{"num_batch_threads", int64(p.Threads)}, {"max_execution_batch_size", int64(p.MaxRun)},
	} {
		if v.n < 0 {
			return tf.Errorf(tf.InvalidArgument, "%s must not be negative, got %d", v.name, v.n)
		}
	}
	last := 0
	for _, s := range p.Sizes {
		if s <= last {
			return tf.Errorf(tf.InvalidArgument, "allowed_batch_sizes entries must be monotonically increasing, got %v", p.Sizes)
		}
		last = s
	}
	q := p.withDefaults()
	if last != 0 && last != q.MaxRun {
		return tf.Errorf(tf.InvalidArgument, "final entry in allowed_batch_sizes must equal max_batch_size, or max_execution_batch_size if enable_large_batch_splitting is set; %d is not %d", last, q.MaxRun)
	}
	if q.MaxRun > q.MaxSize {
		return tf.Errorf(tf.InvalidArgument, "max_execution_batch_size must not be larger than max_batch_size, %d is larger than %d", q.MaxRun, q.MaxSize)
	}
	return nil
}

// withDefaults returns p with values for what is not set.
func (p Params) withDefaults() Params {
	if p.MaxSize == 0 {
		p.MaxSize = 1000
	}
	if p.MaxBatches == 0 {
		p.MaxBatches = 10
	}
	if p.Threads == 0 {
		p.Threads = runtime.GOMAXPROCS(0)
	}
	if !p.Split || p.MaxRun == 0 {
		p.MaxRun = p.MaxSize
	}
	return p
}

// rounded returns the size that a batch of n rows is rounded up to.
func (p Params) rounded(n int) int {
	for _, s := range p.Sizes {
		if s >= n {
			return s
		}
	}
	return n
}

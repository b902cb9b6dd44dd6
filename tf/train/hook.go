package train

import (
	"context"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// A Hook takes part in the steps of a [MonitoredSession]. The methods are called
// in this order, those of all hooks one after the other:
//
//	Begin               once, while the graph may still grow
//	AfterCreateSession  for each session, also those that replace a lost one
//	BeforeRun, AfterRun around each step
//	End                 once, if training ended without an error, whatever End of others returns
//
// An error of a hook is one of the call that it is part of. Embed [BaseHook] to
// write those methods only that do something. A hook with a method Close() error
// has it called when the session is closed, whatever ended it.
type Hook interface {
	Begin(g *tf.Graph) error
	AfterCreateSession(ctx context.Context, s *session.Session, c *Coordinator) error
	// BeforeRun returns what to fetch and feed beside what the program asks for.
	BeforeRun(ctx context.Context, r *RunContext) (RunArgs, error)
	// AfterRun gets the values of what BeforeRun asked for. It is not called for
	// a step that failed.
	AfterRun(ctx context.Context, r *RunContext, v RunValues) error
	End(ctx context.Context, s *session.Session) error
}

// A BaseHook is a Hook that does nothing.
type BaseHook struct{}

// Begin does nothing.
func (BaseHook) Begin(*tf.Graph) error { return nil }

// AfterCreateSession does nothing.
func (BaseHook) AfterCreateSession(context.Context, *session.Session, *Coordinator) error { return nil }

// BeforeRun asks for nothing.
func (BaseHook) BeforeRun(context.Context, *RunContext) (RunArgs, error) { return RunArgs{}, nil }

// AfterRun does nothing.
func (BaseHook) AfterRun(context.Context, *RunContext, RunValues) error { return nil }

// End does nothing.
func (BaseHook) End(context.Context, *session.Session) error { return nil }

// RunArgs are what a step fetches and feeds.
type RunArgs struct {
	Fetches []tf.Fetchable
	Feeds   session.Feeds
	// Options say more about how to run the step. Of the options of all hooks and
	// the program the most far-reaching count.
	Options session.RunOptions
}

// RunValues are what a step gave.
type RunValues struct {
	Results  []*tf.Tensor // of RunArgs.Fetches, in their order
	Options  session.RunOptions
	Metadata *session.RunMetadata // nil for a step without options
}

// A RunContext says what step hooks are called for.
type RunContext struct {
	// Original is what the program asks for.
	Original RunArgs
	// Session runs other steps, without hooks.
	Session *session.Session
	stop    bool
}

// RequestStop ends training: ShouldStop is true after this step.
func (r *RunContext) RequestStop() { r.stop = true }

// StopRequested reports whether a hook has asked to stop in this step.
func (r *RunContext) StopRequested() bool { return r.stop }

// union takes from both what reaches further.
func union(a, b session.RunOptions) session.RunOptions {
	a.Trace = max(a.Trace, b.Trace)
	a.Timeout = max(a.Timeout, b.Timeout)
	a.InterOpPool = max(a.InterOpPool, b.InterOpPool)
	a.PartitionGraphs = a.PartitionGraphs || b.PartitionGraphs
	a.ReportAllocationsUponOOM = a.ReportAllocationsUponOOM || b.ReportAllocationsUponOOM
	return a
}

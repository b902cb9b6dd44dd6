package direct

import (
	"context"
	"math"
	"time"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/internal/stepstats"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// RunOptions is Run as o says. It reports what o asks for.
func (s *Session) RunOptions(ctx context.Context, sig pass.Signature, args []*core.Tensor, o *pb.RunOptions) ([]*core.Tensor, *pb.RunMetadata, error) {
	if err := s.begin(); err != nil {
		return nil, nil, err
	}
	defer s.steps.Done()
	bound, err := s.interOp(o.GetInterOpThreadPool())
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := limit(ctx, o.GetTimeoutInMs())
	defer cancel()
	g, err := s.prepare(ctx, sig, args)
	if err != nil {
		return nil, nil, err
	}
	r := report{graph: g, options: o, costs: s.countCosts()}
	out, err := s.runInFrame(ctx, g, args, sig.Fetches, step.Args{Tracer: r.tracer(), InterOp: bound}, nil)
	if err != nil {
		return nil, nil, err
	}
	meta, err := r.metadata()
	return out, meta, err
}

// limit applies a step's own time limit.
func limit(ctx context.Context, ms int64) (context.Context, context.CancelFunc) {
	if ms <= 0 || ms > math.MaxInt64/int64(time.Millisecond) { // longer than a Duration: none
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
}

// interOp returns how many operations may be computed at once in a step that
// has chosen a pool; -1 chooses the caller's thread alone.
func (s *Session) interOp(pool int32) (int, error) {
	switch {
	case pool == -1:
		return 1, nil
	case pool < 0 || int(pool) >= max(1, len(s.cfg.Pools)):
		return 0, core.Errorf(core.InvalidArgument, "Invalid inter_op_thread_pool: %d", pool)
	case len(s.cfg.Pools) == 0:
		return 0, nil
	}
	return s.cfg.Pools[pool], nil
}

// countCosts counts a step and reports whether it is one whose costs are
// wanted.
func (s *Session) countCosts() bool {
	every := s.cfg.CostModelEvery
	return every > 0 && s.reported.Add(1)%every == 0
}

// report is what a step is to tell of itself.
type report struct {
	graph   *step.Graph
	options *pb.RunOptions
	costs   bool
	stats   *stepstats.Collector
}

// tracer returns the observer of the step's nodes, nil if there is none.
func (r *report) tracer() core.Tracer {
	if !r.costs && r.options.GetTraceLevel() == pb.RunOptions_NO_TRACE {
		return nil
	}
	r.stats = stepstats.New()
	return r.stats
}

func (r *report) metadata() (*pb.RunMetadata, error) {
	m := &pb.RunMetadata{}
	if r.stats != nil {
		m.StepStats = r.stats.Proto()
	}
	if r.costs {
		m.CostGraph = stepstats.CostGraph(r.graph.Partitions(), m.StepStats)
	}
	if !r.options.GetOutputPartitionGraphs() {
		return m, nil
	}
	for _, part := range r.graph.Partitions() {
		def, err := part.Proto()
		if err != nil {
			return nil, err
		}
		m.PartitionGraphs = append(m.PartitionGraphs, def)
	}
	return m, nil
}

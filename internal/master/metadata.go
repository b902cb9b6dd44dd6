package master

import (
	"context"
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/tf/pb"
)

// traced reports whether the client wants a timeline of the step.
func (r *stepRun) traced() bool {
	return r.call.options.GetTraceLevel() == pb.RunOptions_FULL_TRACE && !r.partial
}

// trace runs the parts while workers record what they receive.
func (r *stepRun) trace(ctx context.Context) ([]*pb.RunGraphResponse, error) {
	if !r.traced() {
		return r.runParts(ctx)
	}
	r.log(ctx, &pb.LoggingRequest{EnableRpcLogging: true})
	answers, err := r.runParts(ctx)
	got := r.log(context.WithoutCancel(ctx), &pb.LoggingRequest{DisableRpcLogging: true, FetchStepId: []int64{r.id}})
	r.transfers = got
	return answers, err
}

// log sends a Logging request to all workers of the step, and returns what they
// have recorded. A worker that cannot leaves a gap in the timeline.
func (r *stepRun) log(ctx context.Context, req *pb.LoggingRequest) (out []*pb.DeviceStepStats) {
	ctx, cancel := context.WithTimeout(ctx, cleanupTimeout)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range r.parts {
		p := &r.parts[i]
		wg.Go(func() {
			resp, err := p.worker.Logging(ctx, req)
			if err != nil {
				r.s.log.Debug("a worker does not record transfers", "worker", p.task, "error", err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, s := range resp.GetStep() {
				out = append(out, s.GetStepStats().GetDevStats()...)
			}
		})
	}
	wg.Wait()
	return out
}

// metadata collects what the client wants to know of how the step has run; nil
// if that is nothing.
func (r *stepRun) metadata(answers []*pb.RunGraphResponse) *pb.RunMetadata {
	graphs := r.call.options.GetOutputPartitionGraphs()
	if !r.traced() && !graphs && !r.costs {
		return nil
	}
	m := &pb.RunMetadata{}
	if r.traced() {
		m.StepStats = &pb.StepStats{DevStats: slices.Clone(r.transfers)}
	}
	for _, a := range answers {
		if r.traced() {
			m.StepStats.DevStats = append(m.StepStats.DevStats, a.GetStepStats().GetDevStats()...)
		}
		if r.costs {
			addCosts(m, a.GetCostGraph())
		}
		if graphs {
			m.PartitionGraphs = append(m.PartitionGraphs, a.GetPartitionGraph()...)
		}
	}
	return m
}

// addCosts adds the costs of one task.
func addCosts(m *pb.RunMetadata, g *pb.CostGraphDef) {
	if m.CostGraph == nil {
		m.CostGraph = &pb.CostGraphDef{}
	}
	m.CostGraph.Node = append(m.CostGraph.Node, g.GetNode()...)
}

// costsDue reports whether the run of a graph, the count-th from 0, is one that
// the session's configuration has measured.
func costsDue(o *pb.GraphOptions, count int64) bool {
	every := o.GetBuildCostModel()
	return every > 0 && (count+1-o.GetBuildCostModelAfter())%every == 0
}

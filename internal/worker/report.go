package worker

import (
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/internal/stepstats"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// collectorFor returns what gathers a step's statistics, nil if the master does
// not want to know.
func collectorFor(o *pb.ExecutorOpts) *stepstats.Collector {
	if !o.GetRecordTimeline() && !o.GetRecordCosts() {
		return nil
	}
	return stepstats.New()
}

// tracer keeps a nil collector from becoming a Tracer that is not nil.
func tracer(c *stepstats.Collector) core.Tracer {
	if c == nil {
		return nil
	}
	return c
}

// report adds what the master wants to know of how the step has run.
func report(resp *pb.RunGraphResponse, g *step.Graph, o *pb.ExecutorOpts, c *stepstats.Collector) error {
	if c != nil {
		stats := c.Proto()
		if o.GetRecordCosts() {
			resp.CostGraph = stepstats.CostGraph(g.Partitions(), stats)
		}
		if o.GetRecordTimeline() {
			resp.StepStats = stats
		}
	}
	if !o.GetRecordPartitionGraphs() {
		return nil
	}
	for _, part := range g.Partitions() {
		def, err := part.Proto()
		if err != nil {
			return err
		}
		resp.PartitionGraph = append(resp.PartitionGraph, def)
	}
	return nil
}

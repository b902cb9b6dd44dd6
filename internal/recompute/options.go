package recompute

import (
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Asked returns what a session's options ask for. That nothing is to be computed again is
// said by pass.DisabledBy. Nodes that a program has marked are computed again by default,
// too, unlike in TensorFlow, where the default is for devices with little memory.
func Asked(o *pb.GraphOptions) Options {
	rw := o.GetRewriteOptions()
	out := Options{Scope: rw.GetMemoryOptimizerTargetNodeNameScope()}
	switch rw.GetMemoryOptimization() {
	case pb.RewriterConfig_RECOMPUTATION_HEURISTICS:
		out.Mode = Heuristics
	case pb.RewriterConfig_HEURISTICS:
		out.Mode = Blocks
	}
	return out
}

// SavesMemory returns what a session that prefers less memory asks for, where some passes are
// disabled.
func SavesMemory(disabled []string) Options {
	if pass.Enabled(pass.RowBlocks, disabled) {
		return Options{Mode: Blocks}
	}
	return Options{Mode: Heuristics}
}

// Ask writes o to options of a session, in which Asked finds it, unless these say that
// nothing is computed again.
func (o Options) Ask(g *pb.GraphOptions) {
	if o == (Options{}) {
		return
	}
	if g.RewriteOptions == nil {
		g.RewriteOptions = &pb.RewriterConfig{}
	}
	g.RewriteOptions.MemoryOptimizerTargetNodeNameScope = o.Scope
	if g.RewriteOptions.MemoryOptimization == pb.RewriterConfig_NO_MEM_OPT {
		return
	}
	switch o.Mode {
	case Heuristics:
		g.RewriteOptions.MemoryOptimization = pb.RewriterConfig_RECOMPUTATION_HEURISTICS
	case Blocks:
		g.RewriteOptions.MemoryOptimization = pb.RewriterConfig_HEURISTICS
	}
}

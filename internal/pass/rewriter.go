package pass

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/pb"
)

// DisabledBy returns the names of the passes that a session's options switch
// off. What TensorFlow does in two places, in the rewriter and again where graphs
// are run, is one pass here, which either switch turns off.
func DisabledBy(o *pb.GraphOptions) []string {
	rw := o.GetRewriteOptions()
	l0 := o.GetOptimizerOptions().GetOptLevel() == pb.OptimizerOptions_L0
	if l0 && rw.GetDisableMetaOptimizer() {
		return []string{allPasses}
	}
	var out []string
	for _, s := range switches {
		if s.graph && l0 || s.rewriter && rw.GetDisableMetaOptimizer() || rw != nil && *s.toggle(rw) == pb.RewriterConfig_OFF {
			out = append(out, s.pass)
		}
	}
	if o.GetOptimizerOptions().GetGlobalJitLevel() == pb.OptimizerOptions_OFF && !slices.Contains(out, Fusion) {
		out = append(out, Fusion)
	}
	if rw.GetMemoryOptimization() == pb.RewriterConfig_NO_MEM_OPT || rw.GetDisableMetaOptimizer() {
		out = append(out, Recomputation)
	}
	return out
}

// DisabledFor returns the names of the passes before placement that do not serve
// a kind of executor: some of TensorFlow's take no Switches.
func DisabledFor(executor string) []string {
	if executor == "SINGLE_THREADED_EXECUTOR" || executor == "TFRT" {
		return []string{lowerPass}
	}
	return nil
}

// OptionsWithout returns options of a session that does without the passes
// named disabled, in the form in which they reach other tasks; nil if it uses
// all. DisabledBy gives the names again.
func OptionsWithout(disabled []string) *pb.GraphOptions {
	switch {
	case len(disabled) == 0:
		return nil
	case slices.Contains(disabled, allPasses):
		return &pb.GraphOptions{
			OptimizerOptions: &pb.OptimizerOptions{OptLevel: pb.OptimizerOptions_L0},
			RewriteOptions:   &pb.RewriterConfig{DisableMetaOptimizer: true},
		}
	}
	rw := &pb.RewriterConfig{}
	for _, s := range switches {
		if slices.Contains(disabled, s.pass) {
			*s.toggle(rw) = pb.RewriterConfig_OFF
		}
	}
	if slices.Contains(disabled, Recomputation) {
		rw.MemoryOptimization = pb.RewriterConfig_NO_MEM_OPT
	}
	return &pb.GraphOptions{RewriteOptions: rw}
}

// switches says by what each pass is turned off: its own toggle, the level of
// the optimizer of graphs, or the one that turns off the whole rewriter.
var switches = []struct {
	pass            string
	toggle          func(*pb.RewriterConfig) *pb.RewriterConfig_Toggle
	graph, rewriter bool
}{
	{"shape_inference", func(c *pb.RewriterConfig) *pb.RewriterConfig_Toggle { return &c.ShapeOptimization }, false, false},
	{"constant_folding", func(c *pb.RewriterConfig) *pb.RewriterConfig_Toggle { return &c.ConstantFolding }, true, false},
	{"common_subgraph_elimination", func(c *pb.RewriterConfig) *pb.RewriterConfig_Toggle { return &c.CommonSubgraphElimination }, true, false},
	{"arithmetic_optimization", func(c *pb.RewriterConfig) *pb.RewriterConfig_Toggle { return &c.ArithmeticOptimization }, false, true},
	{"dead_branch_removal", func(c *pb.RewriterConfig) *pb.RewriterConfig_Toggle { return &c.LoopOptimization }, false, true},
	{"dependency_optimization", func(c *pb.RewriterConfig) *pb.RewriterConfig_Toggle { return &c.DependencyOptimization }, false, true},
	{Fusion, func(c *pb.RewriterConfig) *pb.RewriterConfig_Toggle { return &c.Remapping }, true, true},
}

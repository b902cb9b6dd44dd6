package pass

import "github.com/gorge-tf/gorge/internal/wire/pb"

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
		if s.graph && l0 || s.rewriter && rw.GetDisableMetaOptimizer() || s.toggle(rw) == pb.RewriterConfig_OFF {
			out = append(out, s.pass)
		}
	}
	return out
}

// switches says by what each pass is turned off: its own toggle, the level of
// the optimizer of graphs, or the one that turns off the whole rewriter.
var switches = []struct {
	pass            string
	toggle          func(*pb.RewriterConfig) pb.RewriterConfig_Toggle
	graph, rewriter bool
}{
	{"shape_inference", (*pb.RewriterConfig).GetShapeOptimization, false, false},
	{"constant_folding", (*pb.RewriterConfig).GetConstantFolding, true, false},
	{"common_subgraph_elimination", (*pb.RewriterConfig).GetCommonSubgraphElimination, true, false},
	{"arithmetic_optimization", (*pb.RewriterConfig).GetArithmeticOptimization, false, true},
	{"dead_branch_removal", (*pb.RewriterConfig).GetLoopOptimization, false, true},
	{"dependency_optimization", (*pb.RewriterConfig).GetDependencyOptimization, false, true},
}

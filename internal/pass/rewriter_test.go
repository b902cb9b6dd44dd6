package pass

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf/pb"
)

func TestDisabledBy(t *testing.T) {
	off := pb.RewriterConfig_OFF
	l0 := &pb.OptimizerOptions{OptLevel: pb.OptimizerOptions_L0}
	for name, c := range map[string]struct {
		o    *pb.GraphOptions
		want []string
	}{
		"nothing said": {nil, nil},
		"L0":           {&pb.GraphOptions{OptimizerOptions: l0}, []string{"constant_folding", "common_subgraph_elimination", Fusion}},
		"no rewriter": {&pb.GraphOptions{RewriteOptions: &pb.RewriterConfig{DisableMetaOptimizer: true}},
			[]string{"arithmetic_optimization", "dead_branch_removal", "dependency_optimization", Fusion, Recomputation}},
		"no recomputation": {&pb.GraphOptions{RewriteOptions: &pb.RewriterConfig{MemoryOptimization: pb.RewriterConfig_NO_MEM_OPT}}, []string{Recomputation}},
		"no remapping":     {&pb.GraphOptions{RewriteOptions: &pb.RewriterConfig{Remapping: off}}, []string{Fusion}},
		"no compiler":      {&pb.GraphOptions{OptimizerOptions: &pb.OptimizerOptions{GlobalJitLevel: pb.OptimizerOptions_OFF}}, []string{Fusion}},
		"neither":          {&pb.GraphOptions{OptimizerOptions: l0, RewriteOptions: &pb.RewriterConfig{DisableMetaOptimizer: true}}, []string{"all"}},
		"toggles": {&pb.GraphOptions{RewriteOptions: &pb.RewriterConfig{ConstantFolding: off, ArithmeticOptimization: off, DependencyOptimization: pb.RewriterConfig_ON}},
			[]string{"constant_folding", "arithmetic_optimization"}},
	} {
		if got := DisabledBy(c.o); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
		if err := CheckPassNames(DisabledBy(c.o)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	names := []string{Recomputation} // whose switch is no toggle
	for _, s := range switches {
		names = append(names, s.pass)
	}
	for _, pass := range optimizations() {
		if !slices.Contains(names, pass) {
			t.Errorf("pass %s has no switch", pass)
		}
	}
}

// optimizations are the passes that options of sessions switch off one by one.
func optimizations() []string {
	out := []string{Fusion, Recomputation}
	for i := range optimizers {
		out = append(out, optimizers[i].name)
	}
	return out
}

// TestOptionsWithout: what a session does without, its tasks do without.
func TestOptionsWithout(t *testing.T) {
	if o := OptionsWithout(nil); o != nil {
		t.Errorf("nothing is switched off by %v", o)
	}
	all := []string{allPasses}
	if got := DisabledBy(OptionsWithout(all)); !slices.Equal(got, all) {
		t.Errorf("all became %v", got)
	}
	for _, pass := range optimizations() {
		one := []string{pass}
		if got := DisabledBy(OptionsWithout(one)); !slices.Equal(got, one) {
			t.Errorf("%v became %v", one, got)
		}
	}
}

func TestDisabledFor(t *testing.T) {
	for executor, want := range map[string][]string{"": nil, "SINGLE_THREADED_EXECUTOR": {"lower_functional_ops"}} {
		if got := DisabledFor(executor); !slices.Equal(got, want) {
			t.Errorf("%q does without %v, want %v", executor, got, want)
		}
	}
}

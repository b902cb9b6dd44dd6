package pass

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// Options says how a graph is optimized.
type Options struct {
	// Disabled are the names of passes to leave out; "all" is all of them.
	Disabled []string
	// Eval computes a node on the CPU; nil: nothing is computed in advance.
	Eval Eval
	// Preserve, by name, are nodes that must stay as they are, besides those
	// with effects, those without users, and targets, which a step is run for.
	Preserve map[string]bool
	// MaxFolded bounds the bytes of a constant that is computed in advance;
	// 0: TensorFlow's limit.
	MaxFolded int
	// FoldNorms computes batch normalizations with constant parameters in advance, as
	// parts of the weights before them. Results differ in the last digits.
	FoldNorms bool
	// Spare is how many bytes constants may take, all together, that are computed in
	// advance while what they are computed from stays in memory; it goes down by what
	// they take. nil: any number.
	Spare *int
}

// Eval computes a node on the CPU.
type Eval func(n *core.Node, in []*core.Tensor) ([]*core.Tensor, error)

const maxFolded = 10 << 20

// A rewrite changes a graph and reports whether it did.
type rewrite func(*editor) (bool, error)

// optimizer is one pass.
type optimizer struct {
	name  string
	after []string // passes that must come before this one
	run   rewrite
}

// optimizers lists the passes in order. Each leaves a graph that computes the
// same, bit for bit, with the same effects.
var optimizers = []optimizer{
	{name: "shape_inference", run: inferShapes},
	{name: "constant_folding", after: []string{"shape_inference"}, run: foldConstants},
	{name: "common_subgraph_elimination", after: []string{"constant_folding"}, run: mergeEqual},
	{name: "arithmetic_optimization", after: []string{"shape_inference", "constant_folding"}, run: rewriteArithmetic},
	{name: "dead_branch_removal", after: []string{"constant_folding"}, run: dropDeadBranches},
	{name: "dependency_optimization", after: []string{"common_subgraph_elimination", "arithmetic_optimization", "dead_branch_removal"}, run: dropDetours},
}

// normFolding is the pass that Options.FoldNorms asks for. What comes of it is not the
// same bit for bit, so that it is none of the optimizers.
var normFolding = optimizer{name: "norm_folding", run: foldNorms}

const allPasses = "all"

// Fusion is the name of the pass that joins elementwise nodes when executors are made,
// of package fuse.
const Fusion = "fusion"

// Recomputation is the name of the pass that computes values again for gradients, of
// package recompute.
const Recomputation = "recomputation"

// RowBlocks is the name of the pass that runs what computes row by row for some rows at a
// time, of package rowblocks. Only options that prefer less memory ask for it.
const RowBlocks = "row_blocks"

// maxRounds bounds how often the passes are repeated; most graphs need two.
const maxRounds = 10

// PassNames returns the names of the optimizations, in the order in which they
// run.
func PassNames() []string {
	out := []string{lowerPass, inlinePass}
	for i := range optimizers {
		out = append(out, optimizers[i].name)
	}
	return append(out, RowBlocks, Recomputation, Fusion)
}

// Enabled reports whether a pass runs where some are disabled.
func Enabled(name string, disabled []string) bool {
	return !slices.Contains(disabled, name) && !slices.Contains(disabled, allPasses)
}

// CheckPassNames reports names that no optimization has.
func CheckPassNames(names []string) error {
	for _, n := range names {
		if n != allPasses && !slices.Contains(PassNames(), n) {
			return core.Errorf(core.InvalidArgument, "a pass to disable must be %q or one of %q, got %q", allPasses, PassNames(), n)
		}
	}
	return nil
}

// Optimize rewrites g, which is placed, until nothing is left to improve. The
// graph is checked after each pass.
func Optimize(g *graph.Graph, o Options) (err error) {
	defer core.Recover(&err, "the optimization of a graph")
	if slices.Contains(o.Disabled, allPasses) {
		return nil
	}
	if err := CheckPlaced(g); err != nil {
		return err
	}
	if _, err := g.Sorted(); err != nil {
		return err
	}
	e := newEditor(g, o)
	passes := e.passes()
	idle := 0 // passes in a row that had nothing to do
	for range maxRounds {
		for _, p := range passes {
			did, err := e.apply(p)
			if err != nil {
				return err
			}
			if idle++; did {
				idle = 0
			}
			if idle == len(passes) {
				return nil
			}
		}
	}
	return nil
}

// passes returns those of a round.
func (e *editor) passes() (out []*optimizer) {
	for i := range optimizers {
		if !slices.Contains(e.Disabled, optimizers[i].name) {
			out = append(out, &optimizers[i])
		}
	}
	if e.FoldNorms {
		out = append(out, &normFolding)
	}
	return out
}

// apply runs one pass, drops what is not needed after it, and checks the result.
func (e *editor) apply(p *optimizer) (bool, error) {
	changed, err := p.run(e)
	if err == nil && changed {
		e.sweep()
		err = e.check()
	}
	if stop := e.Budget.Visit(0); stop != nil {
		return false, stop
	}
	if err != nil {
		return false, core.Errorf(core.Internal, "pass %s (it can be disabled) failed: %s", p.name, core.AsError(err).Message())
	}
	return changed, nil
}

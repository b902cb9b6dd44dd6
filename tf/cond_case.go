package tf

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// A CaseBranch is one of several ways to go on: what Then returns if Pred, a
// scalar, is true.
type CaseBranch struct {
	Pred Output
	Then func() []Output
}

// Case returns what the first branch whose predicate is true returns, or what
// other returns if there is none. Without other, it is an error at run time if
// no predicate is true. See Cond.
func Case(branches []CaseBranch, other func() []Output, opts ...Option) []Output {
	preds := make([]Output, len(branches))
	for i, b := range branches {
		preds[i] = b.Pred
	}
	g, bad := graphOf(nil, preds)
	switch {
	case len(branches) == 0:
		return failed(g, "case", Errorf(InvalidArgument, "pred_fn_pairs must be a non-empty list or dictionary of callables"), (&countedBranch{build: other}).results())
	case bad != nil: // one of preds
		return failed(g, "case", bad.err, (&countedBranch{build: branches[0].Then}).results())
	case slices.ContainsFunc(branches, func(b CaseBranch) bool { return b.Then == nil }):
		return failed(g, "case", Errorf(InvalidArgument, "Case needs a function for each branch: got nil"), (&countedBranch{build: branches[0].Then}).results())
	}
	spec := g.newSpec("case", opts)
	var out []Output
	g.Scope(spec.Name, func() {
		if other == nil {
			last := branches[len(branches)-1]
			branches = branches[:len(branches)-1]
			other = func() []Output { return asserted(last, preds) }
		}
		out = caseFrom(branches, other)()
	})
	return out
}

// caseFrom nests conditionals, the first outermost.
func caseFrom(branches []CaseBranch, other func() []Output) func() []Output {
	if len(branches) == 0 {
		return other
	}
	b := branches[0]
	return func() []Output { return Cond(b.Pred, b.Then, caseFrom(branches[1:], other)) }
}

// asserted returns what the last branch returns, whose predicate must be true.
func asserted(b CaseBranch, preds []Output) (out []Output) {
	g := b.Pred.Graph()
	const text = "None of conditions evaluated as True. Conditions: "
	data := append([]Output{constant(g, core.Scalar(text))}, preds...)
	check := Apply(g, "Assert", append([]Output{b.Pred}, data...), Attr("summarize", len(preds)))
	if check.err != nil {
		return []Output{check.Output(0)}
	}
	g.ControlDependencies([]*Operation{check}, func() {
		for _, x := range b.Then() {
			out = append(out, identity(x))
		}
	})
	return out
}

package tf

import (
	"cmp"

	"github.com/gorge-tf/gorge/tf/core"
)

// CondContexts is the collection of the contexts of conditionals that are in
// no other context.
const CondContexts = "cond_context"

// Cond returns what onTrue returns if pred, a scalar, is true, else what
// onFalse returns. Both are called, once, to add their operations to the
// graph; of those only the ones of the branch taken are computed. They must
// return equally many outputs of the same types. In an eager graph only one of
// them is called.
func Cond(pred Output, onTrue, onFalse func() []Output, opts ...Option) []Output {
	g := pred.Graph()
	yes := &countedBranch{build: onTrue}
	if g == nil || pred.Err() != nil {
		return failed(g, "cond", pred.Err(), yes.results())
	}
	if onTrue == nil || onFalse == nil {
		return failed(g, "cond", Errorf(InvalidArgument, "Cond needs two functions, one for each branch: got nil"), yes.results())
	}
	if g.IsEager() {
		return condNow(pred, onTrue, onFalse)
	}
	g = g.current()
	spec := g.newSpec("cond", opts)
	if g.functions.body != nil {
		return condInFunction(g, pred, yes, onFalse, spec.Name)
	}
	var out []Output
	var err error
	g.Scope(spec.Name, func() {
		g.held(func() { out, err = buildCond(pred, yes.run, onFalse) })
	})
	if err != nil {
		return failed(g, spec.Name, err, yes.results())
	}
	return out
}

// A countedBranch knows how many results a branch has, for programs that index the
// results of a conditional that could not be built.
type countedBranch struct {
	build func() []Output
	n     int // 0: it has not been built
}

func (b *countedBranch) run() []Output {
	out := b.build()
	b.n = len(out)
	return out
}

// results builds the branch only if that has not been done, so that the time for
// conditionals within one another stays linear. What that adds does not count any
// more: the graph has failed.
func (b *countedBranch) results() int {
	if b.n == 0 && b.build != nil {
		b.run()
	}
	return max(b.n, 1)
}

// failed returns an output that carries err, which g keeps: as many times as results
// are expected, if that is known, because programs index them.
func failed(g *Graph, name string, err error, results ...int) []Output {
	out := []Output{Failed(g, name, err).Output(0)}
	for len(results) > 0 && len(out) < results[0] {
		out = append(out, out[0])
	}
	return out
}

func condNow(pred Output, onTrue, onFalse func() []Output) []Output {
	v, err := pred.computed()
	if err == nil && (v.DType() != Bool || v.Len() != 1) {
		err = Errorf(InvalidArgument, "the predicate of a conditional must be a scalar of type bool, got %v", pred)
	}
	switch {
	case err != nil:
		return failed(pred.Graph(), "cond", err, (&countedBranch{build: onTrue}).results())
	case core.Data[bool](v)[0]:
		return onTrue()
	}
	return onFalse()
}

// condInFunction makes functions of the branches.
func condInFunction(g *Graph, pred Output, onTrue *countedBranch, onFalse func() []Output, name string) []Output {
	branch := func(part string, f func() []Output) *Function {
		return g.trace(g.functionName(name, part), nil, func([]Output) []Output { return f() })
	}
	yes, no := branch("true", onTrue.run), branch("false", onFalse)
	if err := cmp.Or(yes.err, no.err); err != nil {
		return failed(g, name, err, onTrue.results())
	}
	if err := checkBranches(yes.rets, no.rets); err != nil {
		return failed(g, name, err, onTrue.results())
	}
	return callBranch("If", pred, nil, []*Function{yes, no}, Name(name))
}

func buildCond(pred Output, onTrue, onFalse func() []Output) ([]Output, error) {
	if pred.DType() != Bool {
		return nil, Errorf(InvalidArgument, "pred must be a bool, got %v", pred)
	}
	sides := switchPlain(pred, pred)
	onT, onF := identity(sides[1], Name("switch_t")), identity(sides[0], Name("switch_f"))
	pred = identity(pred, Name("pred_id"))
	if err := pred.Err(); err != nil {
		return nil, err
	}
	yes, inTrue, err := buildBranch(condBranch{pred, onT, 1}, "onTrue", onTrue)
	if err != nil {
		return nil, err
	}
	no, inFalse, err := buildBranch(condBranch{pred, onF, 0}, "onFalse", onFalse)
	if err != nil {
		return nil, err
	}
	if err := checkBranches(yes, no); err != nil {
		return nil, err
	}
	out := make([]Output, len(yes))
	for i := range out {
		out[i] = merge([]Output{no[i], yes[i]})
	}
	if g := pred.Graph(); inTrue.outer == nil {
		g.AddToCollection(CondContexts, inTrue)
		g.AddToCollection(CondContexts, inFalse)
	}
	return out, nil
}

// buildBranch adds what f adds in a context of its own.
func buildBranch(b condBranch, who string, f func() []Output) (out []Output, c *ControlFlowContext, err error) {
	g := b.pred.Graph()
	c = g.newContext("cond_text")
	c.cond = &b
	c.values[b.pred], c.external[b.pred], c.values[b.pivot] = true, b.pred, true
	b.pivot.op.flow = c
	g.within(c, func() {
		out = f()
		for i, x := range out {
			if err = x.Err(); err == nil {
				err = c.reach(x.op, c.name, "result")
			}
			if err == nil {
				out[i] = c.result(x)
				err = out[i].Err()
			}
			if err != nil {
				return
			}
		}
	})
	if out == nil && err == nil {
		err = Errorf(InvalidArgument, "'%s' must have a return value.", who)
	}
	c.exitResult(out...)
	return out, c, err
}

// result returns what stands in c for x, which a branch returned and which may
// be from outside.
func (c *ControlFlowContext) result(x Output) Output {
	if c.values[x] {
		if y, ok := c.external[x]; ok {
			return y
		}
		return x
	}
	c.values[x] = true
	y := switchBy(c.captureAround(x), c.cond.pred)[c.cond.branch]
	c.external[x] = y
	return y
}

func checkBranches(yes, no []Output) error {
	if len(yes) != len(no) {
		return Errorf(InvalidArgument, "Incompatible return values of 'onTrue' and 'onFalse': The two structures don't have the same number of elements: %d from 'onTrue' and %d from 'onFalse'.", len(yes), len(no))
	}
	if len(yes) == 0 {
		return Errorf(InvalidArgument, "'onTrue' and 'onFalse' must return at least one result.")
	}
	for i := range yes {
		if t, f := yes[i].DType().Base(), no[i].DType().Base(); t != f {
			return Errorf(InvalidArgument, "Outputs of 'onTrue' and 'onFalse' must have the same type(s). Received %s from 'onTrue' and %s from 'onFalse'.", t, f)
		}
	}
	return nil
}

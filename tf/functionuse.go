package tf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// Operations that call functions which were traced: PartitionedCall and the
// functional forms of control flow. Package ops has a Go function for each.

// lowerable lets a graph put Switch, Merge and loops in the place of an
// operation that chooses among functions.
var lowerable = Attr("_lower_using_switch_merge", true)

// Call adds an operation that calls f.
func (f *Function) Call(args []Output, opts ...Option) []Output {
	if f != nil && f.err == nil && f.outer.eager.tapes > 0 && f.outer.functions.inner == nil {
		return f.callTaped(args, opts)
	}
	op := "PartitionedCall"
	if f != nil && f.err == nil && stateful(f.body.published.all()) {
		op = "StatefulPartitionedCall"
	}
	return f.CallBy(op, args, opts...)
}

// CallBy is Call by the given op, which is PartitionedCall or
// StatefulPartitionedCall.
func (f *Function) CallBy(op string, args []Output, opts ...Option) []Output {
	u := use{op: op, outer: graphAround([]*Function{f}), args: args, fs: []*Function{f}, opts: opts}
	return u.add(func(b []*binding) { u.set("f", core.Func{Name: b[0].name}, "Tout", types(f.rets)) })
}

// CallOn adds an operation RemoteCall, which calls f on the device that target
// names.
func (f *Function) CallOn(target Output, args []Output, opts ...Option) []Output {
	u := use{op: "RemoteCall", outer: graphAround([]*Function{f}), first: []Output{target}, args: args, fs: []*Function{f}, opts: opts}
	return u.add(func(b []*binding) { u.set("f", core.Func{Name: b[0].name}, "Tout", types(f.rets)) })
}

// callBranch adds an operation that chooses by selector among functions that
// take args: "If", whose then branch is the first, or "Case", in the stateless
// form if that serves, or a stateless form. What one function captures, all get.
func callBranch(op string, selector Output, args []Output, branches []*Function, opts ...Option) []Output {
	u := use{op: op, outer: graphAround(branches), first: []Output{selector}, args: args, fs: branches, opts: opts}
	u.check = u.sameResults
	return u.add(func(b []*binding) {
		u.preferStateless(b)
		funcs := make([]core.Func, len(b))
		for i := range b {
			funcs[i] = core.Func{Name: b[i].name}
		}
		u.set("Tout", types(branches[0].rets), "output_shapes", u.shapes)
		u.opts = Join(u.opts, lowerable)
		if strings.HasSuffix(op, "Case") {
			u.set("branches", funcs)
			return
		}
		u.set("then_branch", funcs[0], "else_branch", funcs[1])
	})
}

// callLoop adds an operation "While", in its stateless form if that serves, or
// "StatelessWhile": it calls body with what body returned, vars the first time,
// as long as cond of the same returns true. What the two capture is the same
// in all iterations.
func callLoop(op string, vars []Output, cond, body *Function, opts ...Option) []Output {
	fs := []*Function{cond, body}
	u := use{op: op, outer: graphAround(fs), args: vars, fs: fs, opts: opts, loop: true}
	u.check = u.goesAround
	return u.add(func(b []*binding) {
		u.preferStateless(b)
		u.set("cond", core.Func{Name: b[0].name}, "body", core.Func{Name: b[1].name}, "output_shapes", u.shapes, "_num_original_outputs", len(u.shapes))
		u.opts = Join(u.opts, lowerable)
	})
}

// graphAround returns the graph that an operation which calls fs is added to.
func graphAround(fs []*Function) *Graph {
	if len(fs) == 0 || fs[0] == nil {
		return NewGraph()
	}
	return fs[0].outer.current()
}

func types(xs []Output) []DType {
	out := make([]DType, len(xs))
	for i, x := range xs {
		out[i] = x.DType().Base()
	}
	return out
}

// use is an operation that calls functions and is about to be added.
type use struct {
	op       string
	outer    *Graph
	first    []Output // inputs that are no arguments
	args     []Output
	captured []Output
	fs       []*Function
	loop     bool
	check    func() error // whether the functions fit each other
	shapes   []Shape      // of the results
	opts     []Option
}

func (u *use) set(attrs ...any) {
	for i := 0; i < len(attrs); i += 2 {
		u.opts = Join(u.opts, Attr(attrs[i].(string), attrs[i+1]))
	}
}

// add adds the operation, with the attributes that finish sets.
func (u *use) add(finish func([]*binding)) []Output {
	plain := u.op
	name := u.outer.newSpec(plain, u.opts).Name
	bound, err := u.bind()
	if err != nil {
		return failed(u.outer, name, err)
	}
	finish(bound)
	if name == plain { // the stateless form has the name of the other
		u.opts = Join(u.opts, Name(plain))
	}
	op := Apply(u.outer, u.op, slices.Concat(u.first, u.args, u.captured), u.opts...)
	results := u.results()
	if op.err != nil {
		return slices.Repeat([]Output{op.Output(0)}, max(len(results), 1))
	}
	n := len(results)
	if u.loop {
		results = append(slices.Clone(results), u.captured...)
	}
	op.describe(results, u.shapes)
	return op.Outputs()[:n]
}

// preferStateless makes the operation one without effects if no function has any.
func (u *use) preferStateless(b []*binding) {
	const stateless = "Stateless"
	if !strings.HasPrefix(u.op, stateless) && !slices.ContainsFunc(b, func(b *binding) bool { return b.stateful }) {
		u.op = stateless + u.op
	}
}

// bind checks the functions and puts them in the library.
func (u *use) bind() ([]*binding, error) {
	for _, f := range u.fs {
		if f == nil {
			return nil, Errorf(InvalidArgument, "%s needs functions, got none", u.op)
		}
		if f.err != nil {
			return nil, f.err
		}
	}
	for _, x := range slices.Concat(u.first, u.args) {
		if err := x.Err(); err != nil {
			return nil, err
		}
	}
	for _, f := range u.fs {
		if err := f.takes(u.args); err != nil {
			return nil, err
		}
	}
	if u.check != nil {
		if err := u.check(); err != nil {
			return nil, err
		}
	}
	u.merge()
	return u.define()
}

func (u *use) define() ([]*binding, error) {
	bound := make([]*binding, len(u.fs))
	for i, f := range u.fs {
		b, err := f.bind(u.captured, u.loop && i > 0)
		if err != nil {
			return nil, err
		}
		bound[i] = b
		u.opts = Join(u.opts, After(f.control...))
	}
	return bound, nil
}

// merge collects what the functions capture.
func (u *use) merge() {
	for _, f := range u.fs {
		for _, x := range f.captured {
			if !slices.Contains(u.captured, x) {
				u.captured = append(u.captured, x)
			}
		}
	}
	if u.shapes == nil {
		for _, x := range u.results() {
			u.shapes = append(u.shapes, x.Shape())
		}
	}
	if u.loop {
		for _, x := range u.captured {
			u.shapes = append(u.shapes, x.Shape())
		}
	}
}

// results returns the results in the body that tells their types.
func (u *use) results() []Output { return u.fs[len(u.fs)-1].rets }

// takes reports why f cannot be called with args.
func (f *Function) takes(args []Output) error {
	fits := func(a, x Output) bool { return a.DType() == x.DType().Base() && a.Shape().Compatible(x.Shape()) }
	if slices.EqualFunc(f.own, args, fits) {
		return nil
	}
	return Errorf(InvalidArgument, "a function must be given what it takes: %s takes (%s), got (%s)", f.name, typesText(f.own), typesText(args))
}

// sameResults reports branches that differ in what they return, and notes the
// shapes that all results have.
func (u *use) sameResults() error {
	if len(u.fs) == 0 {
		return Errorf(InvalidArgument, "%s needs at least one branch, got none", u.op)
	}
	first := u.fs[0]
	u.shapes = make([]Shape, len(first.rets))
	for k, x := range first.rets {
		u.shapes[k] = x.Shape()
	}
	for i, f := range u.fs[1:] {
		if !slices.Equal(types(f.rets), types(first.rets)) {
			return Errorf(InvalidArgument, "branches must return the same types: branch 0, %s, returns (%s), branch %d, %s, returns (%s)",
				first.name, typesText(first.rets), i+1, f.name, typesText(f.rets))
		}
		for k, x := range f.rets {
			u.shapes[k] = commonShape(u.shapes[k], x.Shape())
		}
	}
	return nil
}

// commonShape returns what is true of both shapes.
func commonShape(s, t Shape) Shape {
	if s == nil || t == nil || len(s) != len(t) {
		return nil
	}
	out := s.Clone()
	for i := range out {
		if out[i] != t[i] {
			out[i] = -1
		}
	}
	return out
}

// goesAround reports why the functions are no condition and body of a loop.
func (u *use) goesAround() error {
	cond, body := u.fs[0], u.fs[1]
	if len(cond.rets) != 1 || cond.rets[0].DType().Base() != Bool || len(cond.rets[0].Shape()) != 0 {
		return Errorf(InvalidArgument, "the condition of a loop must return one scalar of type bool, %s returns (%s)", cond.name, typesText(cond.rets))
	}
	if !slices.Equal(types(body.rets), types(u.args)) {
		return Errorf(InvalidArgument, "the body of a loop must return what it takes: %s takes (%s), returns (%s)", body.name, typesText(body.own), typesText(body.rets))
	}
	for k, x := range body.rets {
		if s := body.own[k].Shape(); !admits(s, x.Shape()) {
			return Errorf(InvalidArgument, "Input tensor '%s' enters the loop with shape %v, but has shape %v after one iteration. To allow the shape to vary across iterations, give a less specific shape in WhileOpts.ShapeInvariants.",
				u.args[k].Name(), s, x.Shape())
		}
		u.shapes = append(u.shapes, body.own[k].Shape())
	}
	return nil
}

// describe notes what is known of op's outputs: their shapes and what lies
// behind those that are handles.
func (op *Operation) describe(like []Output, shapes []Shape) {
	for k, s := range shapes {
		op.Output(k).SetShape(s)
	}
	handles := make([]core.HandleInfo, len(op.OutTypes))
	for k, x := range like {
		if x.DType().Base() == Resource {
			handles[k] = x.handleInfo()
		}
	}
	if op.vals == nil {
		op.handles = handles
	}
}

// functionName returns a name for a function that stands for part of an
// operation: "cond_true_7".
func (g *Graph) functionName(scope, part string) string {
	return argName(scope) + fmt.Sprintf("_%s_%d", part, g.nextTraced())
}

package tf

import (
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// The gradient of While. The loop pushes the values of its body that the
// gradient needs to lists, which it hands out; a loop of as many iterations
// takes them off again, and carries the gradients backwards.
//
//	While(vars)                    body ─ kept: TensorListPushBack ─┐
//	   │ extend: + lists, trips                                     ▼
//	   ▼                                                          lists
//	While(vars, lists, trips) ──── lists, trips, dy ──▶ While: gradient of body,
//	                                                   find: TensorListPopBack
//
// The steps of run are in this order because each needs the one before: begin chooses
// the variables with gradients, countTrips and differentiate add variables to cond and
// body (carry), extend defines both functions anew with them, add calls the second loop
// with outputs that only the extended operation has.

// loopGradients is the gradient function of While.
func loopGradients(op *Operation, dy []Output) []Gradient {
	l := &loopGradient{op: op, popped: map[Output]Output{}, in: slices.Clone(op.in), first: len(op.in)}
	if op.g.IsEager() || op.g.functions.symbolic {
		return failedGradients(op, noGradient(op))
	}
	grads, err := l.run(dy)
	if err != nil {
		return failedGradients(op, err)
	}
	return append(grads, make([]Gradient, len(op.in)-len(grads))...) // op may have got inputs
}

// loopGradient computes the gradients of one While.
type loopGradient struct {
	op         *Operation
	cond, body *binding
	rets       []Output // of body, with lists
	in         []Output // of op, with what lists begin as
	fn         *Function
	first      int               // how many inputs op had
	trips      int               // which result of the loop is the number of iterations
	dys        []Output          // gradients that the loop begins with
	which      []int             // of which result of op each is
	next       map[Output]Output // by argument that is captured: what the next iteration takes
	popped     map[Output]Output
}

func (l *loopGradient) run(dy []Output) ([]Gradient, error) {
	var err error
	if l.cond, err = l.op.g.callee(l.op.FuncAttr("cond"), l.op.in); err != nil {
		return nil, err
	}
	if l.body, err = l.op.g.callee(l.op.FuncAttr("body"), l.op.in); err != nil {
		return nil, err
	}
	if l.body.oldFlow() || len(l.body.rets) != len(l.op.in) {
		return nil, noGradient(l.op)
	}
	l.rets = slices.Clone(l.body.rets)
	l.begin(dy)
	l.countTrips()
	if err := l.differentiate(); err != nil {
		return nil, err
	}
	if err := l.extend(); err != nil {
		return nil, err
	}
	return l.add()
}

// begin finds the gradients of the results, zeros where there are none: what
// is carried around may depend on all.
func (l *loopGradient) begin(dy []Output) {
	n := len(l.op.in)
	if v, ok := l.op.Attrs["_num_original_outputs"].(int64); ok && int(v) < n {
		n = int(v)
	}
	for k := range n {
		if !carriesGradient(l.op.in[k], l.body.rets[k]) {
			continue
		}
		if dy[k].IsZero() {
			dy[k] = zerosLike(l.op.Output(k))
			if l.op.in[k].DType().Base() == Resource {
				dy[k] = zerosLike(l.op.in[k])
			}
		}
		l.dys, l.which = append(l.dys, dy[k]), append(l.which, k)
	}
}

// carriesGradient reports whether what a loop takes as x and makes ret has
// gradients. Lists of what has none have none.
func carriesGradient(x, ret Output) bool {
	if ret.op.is("TensorListPopBack") && ret.k == 0 {
		return trainable(ret.op.Type("element_dtype"))
	}
	return hasGradient(x)
}

// countTrips makes the number of iterations a result of the loop. Loops of
// TensorFlow have it as the first.
func (l *loopGradient) countTrips() {
	for k, x := range l.body.rets {
		if x.op.is("AddV2", "Add") && x.op.in[0] == l.body.args[k] && x.DType() == Int32 && isScalar(x.op.in[1], 1) && isScalar(l.op.in[k], 0) {
			l.trips = k
			return
		}
	}
	l.trips = len(l.rets)
	var zero Output
	l.outside(func() { zero = constant(l.op.g, core.Scalar(int32(0))) })
	l.carry(zero, "trips", func(n Output) Output {
		return Apply(nil, "AddV2", []Output{n, constant(n.op.g, core.Scalar(int32(1)))}).Output(0)
	})
}

func isScalar(x Output, v int) bool {
	t := constValue(x)
	if t == nil || t.Rank() != 0 {
		return false
	}
	n, err := t.Ints()
	return err == nil && n[0] == v
}

// outside calls add where the loop is, before it.
func (l *loopGradient) outside(add func()) {
	l.op.g.directly(func() { l.op.g.outside(l.op.flow, add) })
}

// carry adds a variable to the loop, which begins as first; next makes of it,
// in the body, what the next iteration gets. It returns that.
func (l *loopGradient) carry(first Output, name string, next func(x Output) Output) (out Output) {
	a := SpecOf(first)[0]
	a.Name = name
	x := l.body.f.addArg(a)
	l.body = &binding{f: l.body.f, args: append(slices.Clip(l.body.args), x), rets: l.body.rets}
	l.cond = &binding{f: l.cond.f, args: append(slices.Clip(l.cond.args), l.cond.f.addArg(a)), rets: l.cond.rets}
	l.in = append(l.in, first)
	l.body.f.body.directly(func() { out = next(x) })
	l.rets = append(l.rets, out)
	return out
}

// differentiate traces the body of the loop that goes back. Its variables are
// the number of the iteration, that of all, the gradients, and what it captures.
func (l *loopGradient) differentiate() (err error) {
	l.fn = newFunction(l.body.f.body, l.op.g.functionName("gradients_"+l.body.f.name, "grad"))
	l.fn.intercept, l.fn.hoist = l.forward, true
	l.next = map[Output]Output{}
	n := len(l.op.in)
	i, trips := l.fn.addArg(ArgSpec{Name: "grad_counter", DType: Int32, Shape: Shape{}}), l.fn.addArg(ArgSpec{Name: "trips", DType: Int32, Shape: Shape{}})
	l.fn.own = []Output{i, trips}
	o := GradientOptions{ZeroUnconnected: true}
	for j, k := range l.which {
		a := SpecOf(l.dys[j])[0]
		a.Name, a.Shape = "dy", commonShape(a.Shape, l.in[k].Shape())
		x := l.fn.addArg(a)
		l.fn.own = append(l.fn.own, x)
		o.Ys, o.Xs, o.GradYs = append(o.Ys, l.rets[k]), append(o.Xs, l.body.args[:n][k]), append(o.GradYs, x)
	}
	l.fn.within(func() {
		var grads []Gradient
		if grads, err = Differentiate(o); err != nil {
			return
		}
		one := constant(l.fn.body, core.Scalar(int32(1)))
		rets := []Output{Apply(nil, "AddV2", []Output{i, one}).Output(0), trips}
		for _, g := range grads {
			rets = append(rets, g.Output())
		}
		l.fn.returns(rets)
	})
	if err == nil {
		l.fn.orderEffects()
		err = l.fn.err
	}
	return err
}

// forward returns what stands in the gradient's body for x, a value of the
// loop's.
func (l *loopGradient) forward(x Output) Output {
	for x.op.Def.Has(core.Passthrough) {
		x = x.op.in[0]
	}
	if y, ok := l.popped[x]; ok {
		return y
	}
	y := l.find(x)
	l.popped[x] = y
	return y
}

func (l *loopGradient) find(x Output) Output {
	switch k := l.invariant(x); {
	case k >= 0:
		y := l.fn.capturePlain(l.body.args[k])
		l.next[y] = y
		return y
	case x.op.Role() == core.Constant:
		return constant(l.fn.body, x.op.TensorAttr("value"))
	case x.DType().Base() == Resource:
		return Failed(l.fn.body, "While", Errorf(InvalidArgument, "Resource tensors must be loop invariants %s", x.Name())).Output(0)
	}
	list := l.kept(x)
	y := l.fn.capturePlain(list)
	pop := Apply(l.fn.body, "TensorListPopBack", []Output{y, elementShape(l.fn.body, x)}, Attr("element_dtype", x.DType().Base()))
	if pop.err != nil {
		return pop.Output(0)
	}
	l.next[y] = pop.Output(0)
	pop.Output(1).SetShape(x.Shape())
	return pop.Output(1)
}

// invariant returns which argument of the body x is, if it is one that all
// iterations get alike, else -1.
func (l *loopGradient) invariant(x Output) int {
	for k, y := range l.rets {
		for y.op.Def.Has(core.Passthrough) {
			y = y.op.in[0]
		}
		if y == x && l.body.args[k] == x {
			return k
		}
	}
	return -1
}

// kept returns the list in the body that has had x pushed, of which the last is
// a result of the loop.
func (l *loopGradient) kept(x Output) Output {
	for k, y := range l.rets {
		if y.op.is("TensorListPushBack") && y.op.in[0] == l.body.args[k] && y.op.in[1] == x {
			return y
		}
	}
	var empty Output
	l.outside(func() {
		g := l.op.g
		empty = Apply(g, "EmptyTensorList", []Output{elementShape(g, x), constant(g, core.Scalar(int32(-1)))}, Attr("element_dtype", x.DType().Base()), Name("accumulator")).Output(0)
	})
	return l.carry(empty, "accumulator", func(list Output) Output {
		return Apply(nil, "TensorListPushBack", []Output{list, x}).Output(0)
	})
}

// elementShape returns the shape of x as lists take it.
func elementShape(g *Graph, x Output) Output {
	if s := x.Shape(); s != nil {
		return shapeVector(g, s)
	}
	return constant(g, core.Scalar(int32(-1)))
}

// extend makes the loop hand out the lists.
func (l *loopGradient) extend() error {
	if len(l.rets) == len(l.body.rets) {
		return nil
	}
	more := l.rets[len(l.body.rets):]
	l.body = &binding{f: l.body.f, args: l.body.args, rets: l.rets}
	var err error
	if l.cond, err = l.cond.define(); err != nil {
		return err
	}
	if l.body, err = l.body.define(); err != nil {
		return err
	}
	attrs := maps.Clone(l.op.Attrs)
	attrs["T"], attrs["cond"], attrs["body"] = types(l.in), core.Func{Name: l.cond.name}, core.Func{Name: l.body.name}
	attrs["_num_original_outputs"] = int64(len(l.in))
	if shapes, _ := attrs["output_shapes"].([]Shape); len(shapes) > 0 {
		attrs["output_shapes"] = shapesOf(slices.Concat(l.op.Outputs(), more))
	}
	l.op, err = l.op.extended(l.op.OpName(), attrs, l.in, more)
	return err
}

func shapesOf(xs []Output) []Shape {
	out := make([]Shape, len(xs))
	for i, x := range xs {
		out[i] = x.Shape()
	}
	return out
}

// add adds the loop that goes back.
func (l *loopGradient) add() ([]Gradient, error) {
	for _, x := range l.fn.inner {
		l.fn.rets = append(l.fn.rets, l.next[x])
	}
	l.fn.own = append(l.fn.own, l.fn.inner...)
	zero := constant(l.op.g, core.Scalar(int32(0)))
	vars := append([]Output{zero, l.op.Output(l.trips)}, l.dys...)
	for _, x := range l.fn.captured {
		if k := slices.Index(l.body.args, x); k >= 0 {
			vars = append(vars, l.in[k])
		} else {
			vars = append(vars, l.op.Output(slices.Index(l.rets, x)))
		}
	}
	l.fn.captured, l.fn.inner, l.fn.outer = nil, nil, l.op.g
	g := l.op.g.current()
	cond := g.trace(g.functionName("gradients_"+l.cond.f.name, "grad"), l.specs(), func(v []Output) []Output {
		return []Output{Apply(nil, "Less", v[:2]).Output(0)}
	})
	out := callLoop("While", vars, cond, l.fn, Attr("parallel_iterations", l.op.Int("parallel_iterations")))
	if err := out[0].Err(); err != nil {
		return nil, err
	}
	grads := make([]Gradient, l.first)
	for j, k := range l.which {
		grads[k] = Dense(identity(out[2+j]))
	}
	return grads, nil
}

// specs tells the arguments of the loop that goes back.
func (l *loopGradient) specs() []ArgSpec {
	args := SpecOf(l.fn.own...)
	for i, x := range l.fn.own {
		args[i].Name = x.op.Name
	}
	return args
}

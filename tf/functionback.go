package tf

import (
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// Gradients of operations that call functions. As in TensorFlow, the gradient
// of a function is a function that captures what it needs of the other's
// values; the operation that has called the other is changed to hand those out.

// backward is the gradient of one function that an operation calls.
type backward struct {
	of   *binding
	fn   *Function  // around it is the body of the other
	dxs  []Gradient // by argument of the other, in the body of fn
	more []Output   // results that the other has to have in addition
}

// newBackward differentiates b: the results that dys has gradients of. A value
// that the gradient needs goes through wrap, if that is given, before the other
// returns it; unwrap does the opposite in the gradient.
func newBackward(b *binding, dys []Output, wrap func(x Output) Output, unwrap func(x, wrapped Output) Output) (*backward, error) {
	w := &backward{of: b, fn: newFunction(b.f.body, b.f.body.functionName("gradients_"+b.name, "grad"))}
	w.fn.intercept = func(x Output) Output {
		switch {
		case slices.Contains(b.args, x):
			return w.fn.capturePlain(x)
		case x.op.Role() == core.Constant:
			return constant(w.fn.body, x.op.TensorAttr("value"))
		case slices.Contains(b.rets, x):
			return w.fn.capturePlain(x)
		case wrap == nil:
			w.more = append(w.more, x)
			return w.fn.capturePlain(x)
		}
		var wrapped Output
		b.f.body.directly(func() { wrapped = wrap(x) })
		w.more = append(w.more, wrapped)
		return unwrap(x, w.fn.capturePlain(wrapped))
	}
	return w, w.differentiate(dys)
}

func (w *backward) differentiate(dys []Output) (err error) {
	o := GradientOptions{}
	for k, dy := range dys {
		if dy.IsZero() {
			continue
		}
		a := SpecOf(dy)[0]
		a.Name = "dy"
		x := w.fn.addArg(a)
		w.fn.own = append(w.fn.own, x)
		o.Ys, o.GradYs = append(o.Ys, w.of.rets[k]), append(o.GradYs, x)
	}
	w.dxs = make([]Gradient, len(w.of.args))
	for _, x := range w.of.args {
		if hasGradient(x) {
			o.Xs = append(o.Xs, x)
		}
	}
	if len(o.Ys) == 0 || len(o.Xs) == 0 {
		return nil
	}
	w.fn.within(func() {
		var grads []Gradient
		if grads, err = Differentiate(o); err != nil {
			return
		}
		for i, x := range w.of.args {
			if hasGradient(x) {
				w.dxs[i], grads = grads[0], grads[1:]
			}
		}
	})
	return err
}

// hasGradient reports whether gradients of x are of use: x is of a type that
// has them, or the handle of a variable of such a type.
func hasGradient(x Output) bool {
	if x.DType().Base() == Resource {
		h := x.handleInfo()
		return h.DType.IsFloat() || h.DType.IsComplex()
	}
	return trainable(x.DType())
}

// finish makes the gradients the results of the function, in the forms given,
// zeros where it has none.
func (w *backward) finish(forms []gradientForm) {
	w.fn.within(func() {
		for i, f := range forms {
			w.fn.returns(f.results(w.dxs[i], w.of.args[i]))
		}
	})
	w.fn.orderEffects()
}

// moveOut changes what the function captures: values of the body of the function that
// it differentiates become outputs, given by value, of the graph around both.
func (f *Function) moveOut(to *Graph, value func(x Output) Output) {
	f.outer = to
	inside := map[Output]Output{}
	for i, x := range f.captured {
		y := value(x)
		if _, twice := inside[y]; twice { // an argument stands for one output
			y = identity(y)
		}
		f.captured[i], inside[y] = y, f.inner[i]
	}
	f.inside, f.intercept = inside, nil
}

// callGradients is the gradient function of operations that call the function
// in attribute f with all of their inputs.
func callGradients(op *Operation, dy []Output) []Gradient {
	return functionGradients(op, op.in, []core.Func{op.FuncAttr("f")}, dy)
}

// branchGradients is the gradient function of operations that choose by their
// first input among branches.
func branchGradients(op *Operation, branches []core.Func, dy []Output) []Gradient {
	return append([]Gradient{{}}, functionGradients(op, op.in[1:], branches, dy)...)
}

// functionGradients returns nil if the functions are of a kind that
// SymbolicGradient serves.
func functionGradients(op *Operation, args []Output, fs []core.Func, dy []Output) []Gradient {
	c := &callGradient{op: op, args: args, dy: dy}
	if op.g.IsEager() || op.g.functions.symbolic {
		return nil
	}
	grads, err := c.run(fs)
	if err != nil {
		return failedGradients(&Operation{Node: op.Node, g: op.g, in: args}, err)
	}
	return grads
}

// callGradient computes the gradients of one operation that calls functions.
type callGradient struct {
	op        *Operation
	args, dy  []Output
	backwards []*backward
	forms     []gradientForm // by argument
}

func (c *callGradient) run(fs []core.Func) ([]Gradient, error) {
	branching := len(c.args) < len(c.op.in)
	library, _ := c.op.g.Library()
	c.forms = make([]gradientForm, len(c.args))
	for _, f := range fs {
		b, err := c.op.g.callee(f, c.args)
		if err != nil {
			return nil, err
		}
		if b.oldFlow() || library.Gradient(f.Name) != "" {
			return nil, nil
		}
		if err := c.differentiate(b, branching); err != nil {
			return nil, err
		}
	}
	if !anyGradient(c.forms) {
		return make([]Gradient, len(c.args)), nil
	}
	if err := c.extend(branching); err != nil {
		return nil, err
	}
	return c.call(branching), nil
}

func (c *callGradient) differentiate(b *binding, branching bool) error {
	wrap, unwrap := inOptional, fromOptional
	if !branching {
		wrap = nil
	}
	w, err := newBackward(b, c.dy, wrap, unwrap)
	if err != nil {
		return err
	}
	for i, dx := range w.dxs {
		f := dx.form()
		if branching && f == slicesForm {
			f = slicesForm64
		}
		c.forms[i] = max(c.forms[i], f)
	}
	c.backwards = append(c.backwards, w)
	return nil
}

// inOptional makes x, which only one branch computes, something that others can
// return too.
func inOptional(x Output) Output { return applyOne("OptionalFromValue", x) }

func fromOptional(x, optional Output) Output {
	y := applyOne("OptionalGetValue", optional, Attr("output_types", types([]Output{x})), Attr("output_shapes", []Shape{x.Shape()}))
	if y.Err() == nil && x.DType().Base() == Resource {
		y.op.handles = []core.HandleInfo{x.handleInfo()}
	}
	return y
}

// extend makes the operation hand out what the gradients need.
func (c *callGradient) extend(branching bool) error {
	var like []Output
	for _, w := range c.backwards {
		w.finish(c.forms)
		if w.fn.err != nil {
			return w.fn.err
		}
		like = append(like, w.more...)
	}
	if len(like) == 0 {
		return nil
	}
	names := make([]core.Func, len(c.backwards))
	for i, w := range c.backwards {
		b := &binding{f: w.of.f, args: w.of.args, rets: slices.Concat(w.of.rets, c.outputsOf(i))}
		b, err := b.define()
		if err != nil {
			return err
		}
		names[i] = core.Func{Name: b.name}
	}
	op, attrs := c.rewritten(names, types(append(slices.Clone(c.backwards[0].of.rets), like...)), branching)
	var err error
	c.op, err = c.op.extended(op, attrs, c.op.in, like)
	return err
}

// outputsOf returns what branch i returns in addition: its own values, and
// nothing for those of the others.
func (c *callGradient) outputsOf(i int) (out []Output) {
	for j, w := range c.backwards {
		if j == i {
			out = append(out, w.more...)
			continue
		}
		body := c.backwards[i].of.f.body
		body.directly(func() {
			for range w.more {
				out = append(out, Apply(body, "OptionalNone", nil).Output(0))
			}
		})
	}
	return out
}

// rewritten returns op and attributes of the operation that calls fs instead.
func (c *callGradient) rewritten(fs []core.Func, tout []DType, branching bool) (string, core.Attrs) {
	op, attrs := c.op.OpName(), maps.Clone(c.op.Attrs)
	attrs["Tout"] = tout
	switch {
	case !branching:
		if attrs["f"] == nil { // a call by name
			op, attrs = "PartitionedCall", core.Attrs{"Tin": types(c.args), "Tout": tout}
			if c.op.Def.Stateful {
				op = "StatefulPartitionedCall"
			}
		}
		attrs["f"] = fs[0]
	case attrs["branches"] != nil:
		attrs["branches"] = fs
	default:
		attrs["then_branch"], attrs["else_branch"] = fs[0], fs[1]
	}
	delete(attrs, "_output_shapes")
	if _, ok := attrs["output_shapes"]; ok {
		attrs["output_shapes"] = []Shape{}
	}
	return op, attrs
}

// call adds the operation that calls the gradients.
func (c *callGradient) call(branching bool) []Gradient {
	first := len(c.backwards[0].of.rets)
	fns := make([]*Function, len(c.backwards))
	for i, w := range c.backwards {
		w.fn.moveOut(c.op.g, func(x Output) Output {
			if k := slices.Index(w.of.args, x); k >= 0 {
				return c.args[k]
			}
			if k := slices.Index(w.of.rets, x); k >= 0 {
				return c.op.Output(k)
			}
			return c.op.Output(first + slices.Index(w.more, x))
		})
		first += len(w.more)
		fns[i] = w.fn
	}
	var dys, out []Output
	for _, dy := range c.dy {
		if !dy.IsZero() {
			dys = append(dys, dy)
		}
	}
	switch op := strings.TrimPrefix(c.op.OpName(), "Stateless"); {
	case branching:
		out = callBranch(op, c.op.in[0], dys, fns)
	default:
		out = fns[0].Call(dys)
	}
	return c.results(out)
}

func (c *callGradient) results(out []Output) []Gradient {
	grads := make([]Gradient, len(c.args))
	if err := out[0].Err(); err != nil {
		grads[0] = Dense(out[0])
		return grads
	}
	for i, f := range c.forms {
		grads[i], out = f.take(out)
	}
	return grads
}

// extended returns op as one that takes in and has more outputs. An operation that no
// session has seen is changed in place. Otherwise it is another operation, which computes
// the same again: a session may have planned with op (published.shown), and does not look
// at it again. That would repeat effects, so a stateful op is refused then.
func (op *Operation) extended(name string, attrs core.Attrs, in, more []Output) (out *Operation, err error) {
	g := op.g
	if g.published.isShown(op) {
		if op.Def.Stateful {
			return nil, Errorf(FailedPrecondition, "Operation '%s' was changed by adding outputs for its gradient after it was run by a session. Either take gradients before running it or create a new session on a new graph.", op.Name)
		}
		g.directly(func() {
			g.outside(op.flow, func() { out = Apply(g, name, in, Name(op.Name), attrsOption(attrs), OnDevice(op.Device)) })
		})
		out.describe(append(op.Outputs(), more...), nil)
		return out, out.err
	}
	n, err := core.NewNode(op.Name, name, attrs)
	if err != nil {
		return nil, err
	}
	n.Device = op.Device
	n.CopyPos(&op.Node)
	g.published.replace(op, n, in)
	op.grow(more)
	if op.flow != nil {
		op.flow.sees(op)
	}
	return op, nil
}

// attrsOption sets several attributes.
func attrsOption(attrs core.Attrs) Option {
	return optionFunc(func(s *Spec) {
		for name, v := range attrs {
			s.Set(name, v)
		}
	})
}

// grow notes what is known of outputs that op has got in addition.
func (op *Operation) grow(more []Output) {
	shapes, handles := slices.Clone(op.shapes), slices.Clone(op.handles)
	if handles == nil {
		handles = make([]core.HandleInfo, len(shapes))
	}
	for _, x := range more {
		shapes, handles = append(shapes, x.Shape()), append(handles, x.handleInfo())
	}
	op.g.published.setShapes(op, shapes)
	op.handles = handles
}

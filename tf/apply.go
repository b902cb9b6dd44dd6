package tf

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// An Option adjusts an operation that is about to be added: Name, OnDevice,
// After, Attr and the Opts types of package ops.
type Option interface{ Apply(*Spec) }

// A Spec is an operation about to be added.
type Spec struct {
	Name     string
	Attrs    core.Attrs
	Device   string
	Control  []*Operation
	Colocate []*Operation
	Err      error // why it cannot be added, as far as an Option knows

	grad GradFunc // instead of the op's
}

type optionFunc func(*Spec)

func (f optionFunc) Apply(s *Spec) { f(s) }

// Name sets the name of an operation; without it the name is the op's. A name
// that ends in "/" is taken as it is, outside of all scopes.
func Name(n string) Option {
	return optionFunc(func(s *Spec) { s.Name = cmp.Or(n, s.Name) })
}

// Attr sets one attribute. A Function, as the value, is put into the graph's library,
// and the attribute names it; what it uses from around it, [Function.Captures], the
// operation has to be given behind the function's own arguments.
func Attr(k string, v any) Option {
	return optionFunc(func(s *Spec) {
		if f, ok := v.(*Function); ok {
			v = s.function(f)
		}
		s.Set(k, v)
	})
}

// function makes f one that operations can name, which run after what f waits for.
func (s *Spec) function(f *Function) core.Func {
	if f == nil {
		s.Err = cmp.Or(s.Err, Errorf(InvalidArgument, "an attribute must be a function, got nil"))
		return core.Func{}
	}
	if f.err != nil {
		s.Err = cmp.Or(s.Err, f.err)
		return core.Func{}
	}
	b, err := f.bind(f.captured, false)
	if err != nil {
		s.Err = cmp.Or(s.Err, err)
		return core.Func{}
	}
	s.Control = append(s.Control, f.control...)
	return core.Func{Name: b.name}
}

// OnDevice asks for a device; it overrides the parts that device scopes set.
func OnDevice(spec string) Option { return optionFunc(func(s *Spec) { s.Device = spec }) }

// After makes the operation run after all of ops. One that is nil is refused with
// INVALID_ARGUMENT.
func After(ops ...*Operation) Option {
	return optionFunc(func(s *Spec) { s.Control = append(s.Control, ops...) })
}

// ColocateWith puts the operation on the device of another one.
func ColocateWith(op *Operation) Option {
	return optionFunc(func(s *Spec) { s.Colocate = append(s.Colocate, op) })
}

// Join returns what a function that adds operations asks for itself, own,
// followed by the options that its caller has given: options are applied in
// their order, so the caller's win. The list is a new one. append(given, ...)
// would be wrong twice: own options would win, and they might be written into
// spare memory of the caller's slice, over options of another call.
func Join(given []Option, own ...Option) []Option { return slices.Concat(own, given) }

// Set sets one attribute.
func (s *Spec) Set(k string, v any) {
	if s.Attrs == nil {
		s.Attrs = core.Attrs{}
	}
	s.Attrs[k] = core.NormalAttr(entered(v))
}

// entered returns what the graph keeps of an attribute's value: of tensors and lists
// of the program's copies.
func entered(v any) any {
	switch v := v.(type) {
	case Shape:
		return v.Clone()
	case []Shape:
		own := slices.Clone(v)
		for i, s := range own {
			own[i] = s.Clone()
		}
		return own
	case []DType:
		return slices.Clone(v)
	case []int64:
		return slices.Clone(v)
	case []string:
		return slices.Clone(v)
	case *Tensor:
		if v == nil {
			return (*core.Tensor)(nil)
		}
		return v.engine().Enter()
	case []*Tensor:
		own := make([]*core.Tensor, len(v))
		for i, t := range v {
			own[i], _ = entered(t).(*core.Tensor)
		}
		return own
	}
	return v
}

// Apply adds an operation to g, or to the graph of its inputs if g is nil. A
// mistake does not stop the program: it is kept by the graph (see Graph.Err)
// and by the outputs of the operation.
//
// Inputs are given flat. The lengths of list inputs follow from their number
// if there is one list; else the attributes that give them have to be set.
func Apply(g *Graph, op string, in []Output, opts ...Option) *Operation {
	o := &Operation{in: in}
	g, cause := graphOf(g, in)
	if cause == nil {
		g = g.hoisted(op, in)
	}
	o.g = g
	if !g.IsEager() || cause != nil {
		o.SetPos(caller())
	}
	spec := g.newSpec(op, opts)
	if cause != nil && cause.poisoned {
		o.Name, o.err, o.in = spec.Name, cause.err, nil
		return o // the cause is on record already
	}
	err := cmp.Or(g.checkOpen(), spec.Err)
	if cause != nil {
		err = cause.err
	}
	if err == nil && g.functions.body != nil {
		o.in, err = g.functions.body.captureAll(in)
	}
	if err == nil {
		err = o.build(op, spec)
	}
	if err != nil {
		o.refuse(op, spec.Name, err)
	}
	return o
}

// newSpec returns what opts ask for. Without options, an eager graph has the
// same one again and again.
func (g *Graph) newSpec(op string, opts []Option) *Spec {
	if len(opts) == 0 && g.IsEager() {
		g.eager.cache.spec = Spec{Name: op}
		return &g.eager.cache.spec
	}
	spec := &Spec{Name: op}
	for _, opt := range opts {
		if opt != nil {
			opt.Apply(spec)
		}
	}
	return spec
}

// refuse records that o could not be added.
func (o *Operation) refuse(op, name string, err error) {
	if o.Pos() == "" {
		o.SetPos(caller())
	}
	if o.Name == "" && !o.g.IsEager() {
		name = o.g.uniqueName(name)
	}
	o.Name, o.err = cmp.Or(o.Name, name), err
	if e := *AsError(err); e.Node == "" {
		if about := aboutHandles(o.in); about != "" && !takesResource(o.Def) && e.Code != FailedPrecondition {
			e.Msg = e.Message() + about
		}
		e.Node, e.Op, e.Pos, e.In = o.Name, op, o.Pos(), describe(o.in)
		o.err = &e
	}
	o.in, o.OutTypes = nil, nil
	o.g.fail(o.err)
}

// aboutHandles says what to use where the handle of a variable was given as if it
// were the value; "" if none was.
func aboutHandles(in []Output) string {
	for _, x := range in {
		if x.Err() == nil && x.op.Def.Has(core.HoldsVariable) && x.DType() == Resource {
			return fmt.Sprintf("; %s is the handle of a variable, not its value, which Variable.Value returns", x.Name())
		}
	}
	return ""
}

// takesResource reports whether an op works on a resource, such as a variable.
func takesResource(d *core.OpDef) bool {
	return d != nil && slices.ContainsFunc(d.Inputs, func(a core.ArgDef) bool { return a.Type == Resource })
}

type inputError struct {
	err      error
	poisoned bool
}

// graphOf finds the graph to add to and what is wrong with the inputs. While a
// function is traced, that is the graph of its body.
func graphOf(g *Graph, in []Output) (*Graph, *inputError) {
	for i := 0; g == nil && i < len(in); i++ {
		g = in[i].Graph()
	}
	if g == nil {
		g = NewGraph() // so that the error can be had from the Output
		if len(in) == 0 {
			return g, &inputError{err: Errorf(InvalidArgument, "an operation without inputs needs a graph, got nil: make one by tf.NewGraph")}
		}
	}
	g = g.current()
	var bad *inputError
	for i, x := range in {
		switch {
		case x.op == nil:
			bad = &inputError{err: Errorf(InvalidArgument, "input %d is the zero Output", i)}
		case x.op.err != nil:
			if x.op.g != g {
				g.fail(x.op.err)
			}
			return g, &inputError{x.op.err, true}
		case x.op.g.finished() || g.encloses(x.op.g):
			bad = &inputError{err: outOfScope(x.Name(), x.op)}
		case x.op.g != g && !x.op.g.encloses(g):
			bad = &inputError{err: Errorf(InvalidArgument, "inputs must belong to one graph: %v is of another", x)}
		case x.Err() != nil:
			bad = &inputError{err: x.none()}
		}
	}
	return g, bad
}

func describe(in []Output) []string {
	out := make([]string, len(in))
	for i, x := range in {
		out[i] = x.String()
	}
	return out
}

// Failed returns an operation that could not be added because of err, which
// its outputs carry and g keeps: for functions that build several operations.
func Failed(g *Graph, name string, err error) *Operation {
	if g == nil {
		g = NewGraph()
	}
	o := &Operation{g: g}
	o.SetPos(caller())
	o.refuse(name, name, err)
	return o
}

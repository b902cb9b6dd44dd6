package tf

import (
	"fmt"
	"maps"
	"strings"
)

// An Option adjusts an operation that is about to be added: Name, Device,
// After, Attr and the Opts types of package ops.
type Option interface{ Apply(*Spec) }

// A Spec is an operation about to be added.
type Spec struct {
	Name     string
	Attrs    Attrs
	Device   string
	Control  []*Operation
	Colocate []*Operation
	Err      error // why it cannot be added, as far as an Option knows
}

type optionFunc func(*Spec)

func (f optionFunc) Apply(s *Spec) { f(s) }

// Name sets the name of an operation; without it the name is the op's. A name
// that ends in "/" is taken as it is, outside of all scopes.
func Name(n string) Option { return optionFunc(func(s *Spec) { s.Name = n }) }

// Attr sets one attribute.
func Attr(k string, v any) Option { return optionFunc(func(s *Spec) { s.Set(k, v) }) }

// OnDevice asks for a device; it overrides the parts that device scopes set.
func OnDevice(spec string) Option { return optionFunc(func(s *Spec) { s.Device = spec }) }

// After makes the operation run after all of ops.
func After(ops ...*Operation) Option {
	return optionFunc(func(s *Spec) { s.Control = append(s.Control, ops...) })
}

// ColocateWith puts the operation on the device of another one.
func ColocateWith(op *Operation) Option {
	return optionFunc(func(s *Spec) { s.Colocate = append(s.Colocate, op) })
}

// Set sets one attribute.
func (s *Spec) Set(k string, v any) {
	if s.Attrs == nil {
		s.Attrs = Attrs{}
	}
	s.Attrs[k] = normalAttr(v)
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
	o.g = g
	if g.eval == nil || cause != nil {
		o.where = caller()
	}
	spec := Spec{Name: op}
	for _, opt := range opts {
		if opt != nil {
			opt.Apply(&spec)
		}
	}
	if cause != nil && cause.poisoned {
		o.Name, o.err = spec.Name, cause.err // the cause is on record already
		return o
	}
	err := spec.Err
	if cause != nil {
		err = cause.err
	}
	if err == nil {
		err = o.build(op, &spec)
	}
	if err != nil {
		o.refuse(op, spec.Name, err)
	}
	return o
}

// refuse records that o could not be added.
func (o *Operation) refuse(op, name string, err error) {
	if o.where == "" {
		o.where = caller()
	}
	o.Name = o.g.scope + name
	e := *AsError(err)
	e.Node, e.Op, e.Pos, e.In = o.Name, op, o.Pos(), describe(o.in)
	o.err = &e
	o.OutTypes, o.shapes = nil, nil
	if o.g.eval != nil {
		return // a failure poisons its Output, never an eager graph
	}
	o.g.fail(o.err)
}

type inputError struct {
	err      error
	poisoned bool
}

// graphOf finds the graph to add to and what is wrong with the inputs.
func graphOf(g *Graph, in []Output) (*Graph, *inputError) {
	var bad *inputError
	for i, x := range in {
		switch {
		case x.op == nil:
			bad = &inputError{err: Errorf(InvalidArgument, "input %d is the zero Output", i)}
			continue
		case g == nil:
			g = x.op.g
		}
		switch {
		case x.op.err != nil:
			return x.op.g, &inputError{x.op.err, true}
		case x.op.g != g:
			bad = &inputError{err: Errorf(InvalidArgument, "inputs must belong to one graph: %v is of another", x)}
		case x.Err() != nil:
			bad = &inputError{err: x.Err()}
		}
	}
	if g == nil {
		g = NewGraph() // so that the error can be had from the Output
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

// build completes o and adds it to its graph.
func (o *Operation) build(op string, spec *Spec) (err error) {
	if o.Def, err = LookupOp(op); err != nil {
		return err
	}
	o.Attrs = spec.Attrs
	if o.Attrs == nil {
		o.Attrs = Attrs{}
	}
	if err := o.inferAttrs(); err != nil {
		return err
	}
	if err := o.complete(); err != nil {
		return err
	}
	if err := o.checkInputs(); err != nil {
		return err
	}
	if err := o.inferShapes(); err != nil {
		return err
	}
	if o.g.eval != nil {
		return o.compute()
	}
	return o.place(spec)
}

// inferAttrs works out the type and length attrs that the inputs imply.
func (o *Operation) inferAttrs() error {
	given := o.in
	for i := range o.Def.Inputs {
		a := &o.Def.Inputs[i]
		n, err := o.argLen(a, len(given), o.Def.Inputs[i+1:])
		if err != nil {
			return err
		}
		if n > len(given) {
			return Errorf(InvalidArgument, "%s takes %s, got %d inputs", o.Def.Name, signature(o.Def.Inputs), len(o.in))
		}
		if err := o.bind(a, given[:n]); err != nil {
			return err
		}
		given = given[n:]
	}
	if len(given) > 0 {
		return Errorf(InvalidArgument, "%s takes %s, got %d inputs", o.Def.Name, signature(o.Def.Inputs), len(o.in))
	}
	return nil
}

func signature(args []ArgDef) string {
	if len(args) == 0 {
		return "no inputs"
	}
	names := make([]string, len(args))
	for i := range args {
		names[i] = args[i].Name
	}
	return "inputs (" + strings.Join(names, ", ") + ")"
}

// argLen returns how many of the left inputs argument a takes; rest are the
// arguments after it.
func (o *Operation) argLen(a *ArgDef, left int, rest []ArgDef) (int, error) {
	if !a.IsList() {
		return 1, nil
	}
	if v, ok := o.Attrs[a.NumAttr].(int64); ok {
		if v < 0 || v > int64(left) {
			return 0, Errorf(InvalidArgument, "attr %q is %d, but there are %d inputs for %s", a.NumAttr, v, left, a.Name)
		}
		return int(v), nil
	}
	if v, ok := o.Attrs[a.ListAttr].([]DType); ok {
		return len(v), nil
	}
	for i := range rest {
		switch {
		case !rest[i].IsList():
			left--
		case rest[i].NumAttr != "" && rest[i].NumAttr == a.NumAttr:
			return left / 2, nil
		default:
			n, err := o.argLen(&rest[i], left, nil)
			if err != nil {
				return 0, err
			}
			left -= n
		}
	}
	return max(left, 0), nil
}

// bind sets the attrs that argument a, given as xs, implies.
func (o *Operation) bind(a *ArgDef, xs []Output) error {
	if a.NumAttr != "" {
		o.Attrs[a.NumAttr] = int64(len(xs))
	}
	if a.ListAttr != "" {
		if o.Attrs[a.ListAttr] == nil {
			ts := make([]DType, len(xs))
			for i, x := range xs {
				ts[i] = x.DType().Base()
			}
			o.Attrs[a.ListAttr] = ts
		}
		return nil
	}
	if a.TypeAttr == "" || len(xs) == 0 {
		return nil
	}
	for _, x := range xs {
		t := x.DType().Base()
		if have, ok := o.Attrs[a.TypeAttr].(DType); ok && have != t {
			return Errorf(InvalidArgument, "inputs of type %s must agree: %s is %v, expected %v", a.TypeAttr, x.Name(), t, have)
		}
		o.Attrs[a.TypeAttr] = t
	}
	return nil
}

// checkInputs compares the inputs' types with what the signature asks for.
func (o *Operation) checkInputs() error {
	for i, want := range o.InTypes {
		got := o.in[i].DType()
		if want.IsRef() && !got.IsRef() || want.Base() != got.Base() {
			return Errorf(InvalidArgument, "input %d must be %v, got %v", i, want, o.in[i])
		}
	}
	return nil
}

func (o *Operation) inferShapes() error {
	c := Infer{Node: &o.Node, in: make([]Shape, len(o.in)), out: make([]Shape, len(o.OutTypes))}
	for i, x := range o.in {
		c.in[i] = x.Shape()
	}
	c.value = func(i int) *Tensor { return constValue(o.in[i]) }
	c.partial = func(i int) (Shape, bool) { return partialValue(o.in[i], 0) }
	c.handle = func(i int) handleInfo { return o.in[i].op.handleOf(o.in[i].k) }
	if err := o.Def.Shape(&c); err != nil {
		return err
	}
	o.shapes, o.handles = c.out, c.handles
	return nil
}

func (o *Operation) handleOf(k int) handleInfo {
	if o.handles == nil {
		return handleInfo{}
	}
	return o.handles[k]
}

// compute runs o at once, in an eager graph.
func (o *Operation) compute() (err error) {
	in := make([]*Tensor, len(o.in))
	for i, x := range o.in {
		in[i] = x.op.vals[x.k]
	}
	o.Name = o.Def.Name
	if o.vals, err = o.g.eval.Eval(&o.Node, in); err != nil {
		return err
	}
	for k, t := range o.vals {
		o.shapes[k] = t.Shape()
	}
	return o.record()
}

// place gives o its name, device and control inputs, and adds it to the graph.
func (o *Operation) place(spec *Spec) error {
	g := o.g
	dev, err := g.deviceFor(&o.Node, spec)
	if err != nil {
		return err
	}
	o.Device = dev
	o.control = uniqueOps(g.control, spec.Control)
	for _, c := range o.control {
		if c.err != nil {
			return c.err
		}
	}
	if len(spec.Colocate) > 0 {
		o.Attrs = maps.Clone(o.Attrs)
		o.Attrs["_class"] = colocation(spec.Colocate)
	}
	o.Name = g.UniqueName(spec.Name)
	if !validName(o.Name) {
		return Errorf(InvalidArgument, "'%s' is not a valid node name", o.Name)
	}
	g.add(o)
	return nil
}

func (g *Graph) deviceFor(n *Node, spec *Spec) (string, error) {
	d, err := ParseDevice(spec.Device)
	if err != nil {
		return "", err
	}
	d = g.device.Override(d)
	if g.devFunc != nil {
		n.Device = d.String()
		f, err := ParseDevice(g.devFunc(n))
		if err != nil {
			return "", err
		}
		d = f.Override(d)
	}
	return d.String(), nil
}

func uniqueOps(lists ...[]*Operation) (out []*Operation) {
	seen := map[*Operation]bool{}
	for _, l := range lists {
		for _, op := range l {
			if op != nil && !seen[op] {
				seen[op] = true
				out = append(out, op)
			}
		}
	}
	return out
}

func colocation(with []*Operation) []string {
	out := make([]string, len(with))
	for i, op := range with {
		out[i] = "loc:@" + op.Name
	}
	return out
}

// validName reports whether s is a node name by TensorFlow's rule:
// [A-Za-z0-9.][A-Za-z0-9_.\\/>-]*.
func validName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.'
		if !alnum && (i == 0 || !strings.ContainsRune(`_\/>-`, rune(c))) {
			return false
		}
	}
	return s != ""
}

// String formats op as `MatMul "layer1/MatMul"`.
func (op *Operation) String() string { return fmt.Sprintf("%s %q", op.OpName(), op.Name) }

// Failed returns an operation that could not be added because of err, which
// its outputs carry and g keeps: for functions that build several operations.
func Failed(g *Graph, name string, err error) *Operation {
	if g == nil {
		g = NewGraph()
	}
	o := &Operation{g: g, Node: Node{Name: name, where: caller()}}
	e := AsError(err)
	if e.Node == "" {
		o.refuse(name, name, err)
		return o
	}
	o.err = err
	g.fail(err)
	return o
}

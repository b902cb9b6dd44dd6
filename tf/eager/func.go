package eager

import (
	"reflect"
	"slices"

	"github.com/gorge-tf/gorge/tf"
)

// A Func is a Go function of tensors that is traced when it is called: its
// operations make a function of the graph's library, which runs as a whole,
// optimized and in parallel, and is called again and again. It is traced once
// for each signature: types and shapes of the arguments, of handles those of the
// variables, and the values of those that are no tensors. Gradients on a tape go through it.
type Func struct {
	g        *tf.Graph
	name     string
	body     func(args []tf.Output, static ...any) []tf.Output
	o        FuncOptions
	traces   []trace
	open     []trace // signatures that body is being called for
	frequent frequency
	err      error // of the last call
}

// FuncOptions adjust a [Func].
type FuncOptions struct {
	// Signature has the types and shapes of all arguments that are tensors, with -1 for
	// dimensions that may differ from call to call, a nil shape where all of it may: the function is
	// traced once for all arguments that fit, and called with no others.
	Signature []tf.ArgSpec
	// ReduceRetracing leaves open, when the function is traced again for arguments of other
	// shapes, what differs between the shapes that it was called with.
	ReduceRetracing bool
}

// trace is a Func for one signature.
type trace struct {
	types  string
	args   []argType
	static []any
	f      *tf.Function
}

// NewFunc returns body as a Func of g, an eager graph. When body is called, to
// trace it, args have no values: what it decides in Go it decides once. Tensors
// and variables from around it are arguments of every call, as they were when
// it was traced. static are the arguments of Call that are no tensors.
//
// A step of training may be in body as a whole: a tape, which Record of g makes, or Minimize.
// Layers, vars.Get and optimizers make their variables, in g, while the function is traced
// for the first time; a later trace must find all of them. tf.NewVariable is for outside.
// To be able to apply a layer in several functions, build it before.
//
// A trace takes time, and lasts as long as the graph: for arguments of many shapes there
// are [FuncOptions], which [Func.With] takes. A function that is traced too often says so in the log.
func NewFunc(g *tf.Graph, name string, body func(args []tf.Output, static ...any) []tf.Output) *Func {
	return &Func{g: g, name: name, body: body}
}

// With sets the options of f and returns it. It is called before f is.
func (f *Func) With(o FuncOptions) *Func {
	f.o = o
	return f
}

// Call calls the function with args and values that it depends on in Go, which
// have to be comparable. If it was not called with the like before, it is
// traced. Within another Func it becomes part of that. If the call fails, all results have
// the error; it is also that of Err, for functions without results.
func (f *Func) Call(args []tf.Output, static ...any) []tf.Output {
	out, n, err := f.call(args, static)
	f.err = err
	if err == nil && len(out) > 0 {
		f.err = out[0].Err()
	}
	if err != nil {
		out = []tf.Output{tf.Failed(f.g, f.name, err).Output(0)}
	}
	if f.err == nil || n < 0 {
		return out
	}
	return slices.Repeat(out[:1], n)
}

// Err returns why the last call has failed, nil if it has not.
func (f *Func) Err() error { return f.err }

// results returns how many results all traces have, -1 if that is not known.
func (f *Func) results() int {
	n := -1
	for i, t := range f.traces {
		k := len(t.f.Results())
		if i > 0 && k != n {
			return -1
		}
		n = k
	}
	return n
}

// call returns the results, and how many there would have been of a call that has failed; -1 if
// that is not known.
func (f *Func) call(args []tf.Output, static []any) ([]tf.Output, int, error) {
	if err := f.check(args, static); err != nil {
		return nil, f.results(), err
	}
	for _, x := range args {
		if x.Graph() != f.g {
			return f.run(args, static), -1, nil
		}
	}
	made, err := f.traced(args, static)
	if err != nil {
		return nil, f.results(), err
	}
	out := made.Call(args)
	if made.Err() != nil {
		return out, f.results(), nil
	}
	return out, len(made.Results()), nil
}

// check reports why the function cannot be called with these arguments.
func (f *Func) check(args []tf.Output, static []any) error {
	switch {
	case f.g == nil:
		return tf.Errorf(tf.InvalidArgument, "function %s needs a graph, got nil: make one by eager.New", f.name)
	case f.body == nil:
		return tf.Errorf(tf.InvalidArgument, "function %s needs a Go function that is its body, got nil", f.name)
	}
	for _, x := range args {
		if err := x.Err(); err != nil {
			return err
		}
	}
	for i, v := range static {
		if r := reflect.ValueOf(v); r.IsValid() && !r.Comparable() { // a type may be, and what it holds not
			return tf.Errorf(tf.InvalidArgument, "what a function depends on must be comparable: argument %d of %s is a %T", i, f.name, v)
		}
	}
	if err := f.fits(args); err != nil {
		return err
	}
	return f.checkOpen(signature(typesOf(args)), static)
}

// mostOpen is how often a function can be under way in itself: a trace of that depth
// does not end.
const mostOpen = 500

// checkOpen refuses a call of the function in itself that would be traced without end.
func (f *Func) checkOpen(types string, static []any) error {
	if len(f.open) >= mostOpen || slices.ContainsFunc(f.open, func(t trace) bool { return t.is(types, static) }) {
		return tf.Errorf(tf.InvalidArgument, "a function must not call itself with the types, shapes and values that it is being traced for, %s does: "+
			"loop by tf.While, or recur on a value of Call that ends it", f.name)
	}
	return nil
}

// run calls the body.
func (f *Func) run(args []tf.Output, static []any) []tf.Output {
	f.open = append(f.open, trace{types: signature(typesOf(args)), static: static})
	defer func() { f.open = f.open[:len(f.open)-1] }()
	return f.body(args, static...)
}

// is reports whether t is of a signature.
func (t trace) is(types string, static []any) bool {
	return t.types == types && slices.EqualFunc(t.static, static, alike)
}

// Traces returns how many signatures the function has been called with.
func (f *Func) Traces() int { return len(f.traces) }

// traced returns the function for a signature.
func (f *Func) traced(args []tf.Output, static []any) (*tf.Function, error) {
	called := f.declared(typesOf(args))
	types := signature(called)
	for _, t := range f.traces {
		if t.is(types, static) || f.o.ReduceRetracing && t.takes(called, static) {
			f.frequent.kept()
			return t.f, nil
		}
	}
	if f.o.ReduceRetracing {
		called = f.relaxed(called, static)
		types = signature(called)
	}
	before := f.variables()
	made := tf.NewFunction(f.g, f.name, specs(args, called), func(in []tf.Output) []tf.Output { return f.run(in, static) })
	if len(f.traces) > 0 && f.variables() > before {
		return nil, tf.Errorf(tf.InvalidArgument, "a function makes variables when it is first called only, %s makes some in trace %d: "+
			"make them before, or apply layers that are values, such as layers.NewDense returns", f.name, len(f.traces)+1)
	}
	if made.Err() == nil {
		f.traces = append(f.traces, trace{types, called, slices.Clone(static), made})
	}
	f.frequent.traced(f.name)
	return made, nil
}

// variables returns how many variables the graph has.
func (f *Func) variables() int {
	return len(tf.Variables(f.g, tf.GlobalVariables)) + len(tf.Variables(f.g, tf.LocalVariables))
}

// alike reports whether values are equal, NaN counting as equal to itself: else a
// function that depends on one would be traced at each call.
func alike(a, b any) bool {
	return a == b || a != a && b != b && alikeValues(reflect.ValueOf(a), reflect.ValueOf(b))
}

func alikeValues(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return a.IsValid() == b.IsValid() && !a.IsValid()
	}
	same := func(x, y float64) bool { return x == y || x != x && y != y }
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		return same(a.Float(), b.Float())
	case reflect.Complex64, reflect.Complex128:
		return same(real(a.Complex()), real(b.Complex())) && same(imag(a.Complex()), imag(b.Complex()))
	case reflect.Interface:
		return alikeValues(a.Elem(), b.Elem())
	case reflect.Array:
		return alikeParts(a.Len(), a.Index, b.Index)
	case reflect.Struct:
		return alikeParts(a.NumField(), a.Field, b.Field)
	}
	return a.Equal(b)
}

func alikeParts(n int, a, b func(int) reflect.Value) bool {
	for i := range n {
		if !alikeValues(a(i), b(i)) {
			return false
		}
	}
	return true
}

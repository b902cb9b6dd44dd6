package eager

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
)

// A Func is a Go function of tensors that is traced when it is called: its
// operations make a function of the graph's library, which runs as a whole,
// optimized and in parallel, and is called again and again. It is traced once
// for each signature: types and shapes of the arguments, of handles those of the
// variables, and the values of those that are no tensors. Gradients on a tape go through it.
type Func struct {
	g      *tf.Graph
	name   string
	body   func(args []tf.Output, static ...any) []tf.Output
	traces []trace
	open   []trace // signatures that body is being called for
}

// trace is a Func for one signature.
type trace struct {
	types  string
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
func NewFunc(g *tf.Graph, name string, body func(args []tf.Output, static ...any) []tf.Output) *Func {
	return &Func{g: g, name: name, body: body}
}

// Call calls the function with args and values that it depends on in Go, which
// have to be comparable. If it was not called with the like before, it is
// traced. Within another Func it becomes part of that.
func (f *Func) Call(args []tf.Output, static ...any) []tf.Output {
	if err := f.check(args, static); err != nil {
		return []tf.Output{tf.Failed(f.g, f.name, err).Output(0)}
	}
	for _, x := range args {
		if x.Graph() != f.g {
			return f.run(args, static)
		}
	}
	made, err := f.traced(args, static)
	if err != nil {
		return []tf.Output{tf.Failed(f.g, f.name, err).Output(0)}
	}
	return made.Call(args)
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
	return f.checkOpen(signature(args), static)
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
	f.open = append(f.open, trace{types: signature(args), static: static})
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
	types := signature(args)
	for _, t := range f.traces {
		if t.is(types, static) {
			return t.f, nil
		}
	}
	before := f.variables()
	made := tf.NewFunction(f.g, f.name, tf.SpecOf(args...), func(in []tf.Output) []tf.Output { return f.run(in, static) })
	if len(f.traces) > 0 && f.variables() > before {
		return nil, tf.Errorf(tf.InvalidArgument, "a function makes variables when it is first called only, %s makes some in trace %d: "+
			"make them before, or apply layers that are values, such as layers.NewDense returns", f.name, len(f.traces)+1)
	}
	if made.Err() == nil {
		f.traces = append(f.traces, trace{types, slices.Clone(static), made})
	}
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

func signature(args []tf.Output) string {
	var b strings.Builder
	for _, x := range args {
		fmt.Fprintf(&b, "%v%v;", x.DType(), x.Shape())
		if t, err := author.Computed(x); err == nil && x.DType() == tf.Resource {
			for _, h := range t.Handles() {
				fmt.Fprintf(&b, "%v%v;", h.DType, h.Shape)
			}
		}
	}
	return b.String()
}

package tf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// The life of a function:
//
//	NewFunction ─ trace: the Go function runs once, on the building goroutine
//	    │ within       operations go to body, not to outer (traceState.inner)
//	    │ capture      an output of a graph around becomes an argument
//	    │ returns      results that are made around are captured, too
//	    ▼ orderEffects control edges among uses of one resource; effects
//	Function, done: nothing can be added to its body any more (finished)
//	    │ bind         own arguments + captures, in the order of the caller
//	    │ define       the FunctionDef, once for each order: library, traceState.traced
//	    ▼
//	PartitionedCall, If, While, … with the name; the captures are inputs of the operation
//	    │ gradients
//	    ▼ newBackward  a function around which is body: it captures values of body
//	      extend       the operation gets another function, which returns those, too
//	      moveOut      the gradient takes them from the operation's outputs
//
// The body stays after the function is in the library: gradients differentiate it, and
// errors of steps look up the program's lines there.

// A Function is a function of the graph's library whose body a Go function has
// added: see NewFunction. Operations such as PartitionedCall, If and While
// call it.
type Function struct {
	name     string
	outer    *Graph // where calls of it are added
	body     *Graph
	own      []Output          // the arguments of the Go function, in body
	rets     []Output          // in body
	captured []Output          // outputs of outer that the body uses
	inner    []Output          // arguments that stand for them, in body
	inside   map[Output]Output // what stands in body for outputs from around it: an output is captured once
	effects  []*Operation      // of body: they run whatever is read
	control  []*Operation      // of outer: they run before each call
	bound    []binding
	// intercept, if there, says what stands in body for x in place of an
	// argument of its own.
	intercept func(x Output) Output
	hoist     bool   // operations that only read shapes of values around go there, so that the shape is captured and not the value
	tape      *taped // f for calls on a tape
	done      bool   // the program has added its body
	err       error
}

// An ArgSpec is the type of an argument of a Function.
type ArgSpec struct {
	Name   string // "x", "x_1", ... if empty
	DType  DType
	Shape  Shape // nil if nothing is known of it
	handle core.HandleInfo
}

// SpecOf returns the specification of arguments that are like xs, whose shapes
// they have.
func SpecOf(xs ...Output) []ArgSpec {
	out := make([]ArgSpec, len(xs))
	for i, x := range xs {
		out[i] = ArgSpec{DType: x.DType().Base(), Shape: x.Shape()}
		if x.Err() == nil {
			out[i].handle = x.handleInfo()
		}
	}
	return out
}

// handleInfo returns what is known of the value behind x, a resource handle.
func (x Output) handleInfo() core.HandleInfo {
	if x.op.vals != nil {
		if h := x.op.vals[x.k].Handles(); len(h) == 1 {
			return core.HandleInfo{DType: h[0].DType, Shape: h[0].Shape}
		}
		return core.HandleInfo{}
	}
	return x.op.handleOf(x.k)
}

// NewFunction adds a function to g's library: what body, which is called once,
// adds is its body, and what body returns are its results. Outputs of g that
// body uses become arguments of the function that follow those of args; every
// call takes them from where they are. Effects happen in the order in which
// body adds them, also those of which no result is read. What is wrong is in
// Err, and kept by g.
//
// The function is called "__inference_name_7" in the library.
func NewFunction(g *Graph, name string, args []ArgSpec, body func(args []Output) []Output) *Function {
	if g == nil {
		f := newFunction(NewGraph(), name)
		f.err = calling(Errorf(InvalidArgument, "function %s needs a graph, got nil: make one by tf.NewGraph", name))
		return f
	}
	g = g.current()
	return g.trace(fmt.Sprintf("__inference_%s_%d", name, g.nextTraced()), args, body)
}

// trace is NewFunction for a name that is unique.
func (g *Graph) trace(name string, args []ArgSpec, body func(args []Output) []Output) *Function {
	f := newFunction(g, name)
	if body == nil {
		f.err = calling(Errorf(InvalidArgument, "function %s needs a Go function that adds its body, got nil", name))
		g.fail(f.err)
		return f
	}
	for _, a := range args {
		if a.Name == "" {
			a.Name = "x"
		}
		f.own = append(f.own, f.addArg(a))
	}
	f.within(func() { f.returns(body(slices.Clone(f.own))) })
	f.orderEffects()
	f.done = true
	return f
}

// newFunction returns a function without arguments and results.
func newFunction(outer *Graph, name string) *Function {
	f := &Function{name: name, outer: outer, body: NewGraph(), inside: map[Output]Output{}}
	f.body.functions.body, f.body.scope.strict = f, outer.scope.strict
	return f
}

// addArg adds an argument. The graph that it belongs to need not be the one
// that operations are being added to.
func (f *Function) addArg(a ArgSpec) Output {
	a.Name = f.body.scope.names.unique(argName(a.Name))
	return f.addNamedArg(a)
}

// addNamedArg is addArg for a name that serves as it is.
func (f *Function) addNamedArg(a ArgSpec) Output {
	op := &Operation{g: f.body, shapes: []Shape{a.Shape.Clone()}, handles: []core.HandleInfo{a.handle}}
	n, err := core.NewNode("", "_Arg", core.Attrs{"T": a.DType.Base(), "index": int64(len(f.own) + len(f.inner))})
	if err != nil {
		return Failed(f.body, a.Name, Errorf(InvalidArgument, "argument %q of function %s must have a type, got %v", a.Name, f.name, a.DType)).Output(0)
	}
	op.Node, op.Name = *n, a.Name
	f.body.scope.names.take(a.Name)
	f.body.published.add(op)
	return op.Output(0)
}

// argName makes name one that arguments of functions may have.
func argName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
	if clean = strings.TrimLeft(clean, "_0123456789"); clean == "" {
		return "arg"
	}
	return clean
}

// captureAll returns what stands for xs in the body.
func (f *Function) captureAll(xs []Output) ([]Output, error) {
	out := xs
	for i, x := range xs {
		if x.op.g == f.body {
			continue
		}
		if &out[0] == &xs[0] {
			out = slices.Clone(xs)
		}
		if out[i] = f.capture(x); out[i].Err() != nil {
			return nil, out[i].Err()
		}
	}
	return out, nil
}

// capture returns what stands for x in the body: an argument that it gets for
// that, if it has none yet.
func (f *Function) capture(x Output) Output {
	if x.op.g == f.body {
		return x
	}
	if y, ok := f.inside[x]; ok {
		return y
	}
	var y Output
	switch {
	case x.op.g != f.outer:
		y = f.capture(f.outer.functions.body.capture(x))
	case f.intercept != nil:
		y = f.intercept(x)
	default:
		y = f.capturePlain(x)
	}
	f.inside[x] = y
	return y
}

// capturePlain adds an argument for x, an output of the graph around.
func (f *Function) capturePlain(x Output) Output {
	a := SpecOf(x)[0]
	a.Name = x.op.Name
	y := f.addArg(a)
	f.captured, f.inner = append(f.captured, x), append(f.inner, y)
	f.inside[x] = y
	return y
}

// hoisted returns the graph around g, if an operation that only looks at the
// shapes of values there had better be there, else g.
func (g *Graph) hoisted(op string, in []Output) *Graph {
	if f := g.functions.body; f != nil && f.hoist && takesShape(op) && !slices.ContainsFunc(in, func(x Output) bool { return x.op.g != f.outer }) {
		return f.outer
	}
	return g
}

func takesShape(op string) bool {
	return core.HasTrait(op, core.ReadsDescription|core.DescribesList)
}

// ownControl splits off those of ops that are around the function that g is the
// body of: they have to run before it is called.
func (g *Graph) ownControl(ops []*Operation) (own []*Operation) {
	for _, op := range ops {
		switch {
		case op.g == g:
			own = append(own, op)
		case op.g.encloses(g) && !slices.Contains(g.functions.body.control, op):
			g.functions.body.control = append(g.functions.body.control, op)
		}
	}
	return own
}

// returns notes the results.
func (f *Function) returns(rets []Output) {
	if f.err = f.body.Err(); f.err != nil {
		return
	}
	for i, x := range rets {
		err := x.Err()
		switch {
		case err != nil:
		case x.op.g == f.body:
		case x.op.g.encloses(f.body):
			x = f.capture(x)
			err = x.Err()
		default:
			err = Errorf(InvalidArgument, "results of a function must be made in it or around it, result %d of %s is %v of another graph", i, f.name, x)
		}
		if err != nil {
			f.err = err
			f.body.fail(err)
			return
		}
		f.rets = append(f.rets, x)
	}
}

// Name returns the function's name in the library.
func (f *Function) Name() string { return f.name }

// Err returns why there is no such function, if so.
func (f *Function) Err() error { return f.err }

// Args returns the arguments, without what is captured, as they are in the body.
func (f *Function) Args() []Output { return slices.Clone(f.own) }

// Results returns the results as they are in the body: calls give tensors of
// their types and shapes.
func (f *Function) Results() []Output { return slices.Clone(f.rets) }

// Captures returns the outputs around the function that its body uses.
func (f *Function) Captures() []Output { return slices.Clone(f.captured) }

// String formats the function's signature: "f(float32[2], int32[]) float32[2]".
func (f *Function) String() string {
	return fmt.Sprintf("%s(%s) (%s)", f.name, typesText(f.own), typesText(f.rets))
}

func typesText(xs []Output) string {
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = fmt.Sprintf("%v%v", x.DType(), x.Shape())
	}
	return strings.Join(out, ", ")
}

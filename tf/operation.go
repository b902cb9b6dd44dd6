package tf

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gorge-tf/gorge/tf/core"
)

// An Operation is one node of a graph.
type Operation struct {
	core.Node
	g       *Graph
	in      []Output
	control []*Operation
	flow    *ControlFlowContext // that op is in
	grad    GradFunc            // instead of the op's
	shapes  []Shape
	handles []core.HandleInfo
	err     error           // set if the operation could not be built (or computed, in an eager graph)
	vals    []*core.Tensor  // eager graphs only
	val1    [1]*core.Tensor // where vals lives for most
}

// An Output is the symbolic result of an operation: one of its outputs. The
// zero Output is none.
type Output struct {
	op *Operation
	k  int
}

// A Fetchable is what a session can be asked for: an Output or a *Variable, whose
// value comes back, or an *Operation, which is run.
type Fetchable interface{ Operation() *Operation }

// String formats op as `MatMul "layer1/MatMul"`.
func (op *Operation) String() string { return fmt.Sprintf("%s %q", op.OpName(), op.Name) }

// Operation returns op.
func (op *Operation) Operation() *Operation { return op }

// Graph returns the graph that op belongs to.
func (op *Operation) Graph() *Graph { return op.g }

// Err returns why op could not be built, if so.
func (op *Operation) Err() error { return op.err }

// Inputs returns the data inputs, which the caller must not change.
func (op *Operation) Inputs() []Output { return op.in }

// Input returns data input i.
func (op *Operation) Input(i int) Output { return op.in[i] }

// ControlInputs returns the operations that have to run before op.
func (op *Operation) ControlInputs() []*Operation { return op.control }

// Shapes returns what is known of the shapes of all outputs, which the caller
// must not change.
func (op *Operation) Shapes() []Shape {
	if op.vals != nil {
		out := make([]Shape, len(op.vals))
		for k, t := range op.vals {
			out[k] = t.Shape()
		}
		return out
	}
	return op.g.published.shapesOf(op)
}

// NumOutputs returns the number of outputs.
func (op *Operation) NumOutputs() int { return len(op.OutTypes) }

// Output returns output k. Outputs of an operation that could not be built
// carry its error.
func (op *Operation) Output(k int) Output { return Output{op, k} }

// Outputs returns all outputs.
func (op *Operation) Outputs() []Output {
	out := make([]Output, len(op.OutTypes))
	for k := range out {
		out[k] = Output{op, k}
	}
	return out
}

// Operation returns the operation that computes o, nil for the zero Output.
func (o Output) Operation() *Operation { return o.op }

// Index returns which output of its operation o is.
func (o Output) Index() int { return o.k }

// IsZero reports whether o is the zero Output, which is none.
func (o Output) IsZero() bool { return o.op == nil }

// Graph returns the graph that o belongs to, nil for the zero Output.
func (o Output) Graph() *Graph {
	if o.op == nil {
		return nil
	}
	return o.op.g
}

// Name returns TensorFlow's name of o: "layer1/MatMul:0".
func (o Output) Name() string {
	if o.op == nil {
		return ""
	}
	return o.op.Name + ":" + strconv.Itoa(o.k)
}

// Err returns the error that keeps o from being computed, if there is one.
func (o Output) Err() error {
	switch {
	case o.op == nil:
		return Errorf(InvalidArgument, "the zero Output has no value")
	case o.op.err != nil:
		return o.op.err
	case o.k < 0 || o.k >= len(o.op.OutTypes):
		return core.AtNode(o.none(), &o.op.Node, nil) // with a line, if not the one that asks
	}
	return nil
}

// none says that o, of an operation that is there, is not.
func (o Output) none() error {
	return Errorf(InvalidArgument, "%s has %d outputs, there is no output %d", o.op, len(o.op.OutTypes), o.k)
}

// DType returns the element type of o, Invalid if o could not be built.
func (o Output) DType() DType {
	if o.Err() != nil {
		return Invalid
	}
	return o.op.OutTypes[o.k]
}

// Shape returns what is known of the shape of o, which the caller must not
// change.
func (o Output) Shape() Shape {
	if o.Err() != nil {
		return nil
	}
	if o.op.vals != nil {
		return o.op.vals[o.k].Shape()
	}
	shapes := o.op.g.published.shapesOf(o.op)
	if shapes == nil {
		return nil
	}
	return shapes[o.k]
}

// SetShape adds to what is known of the shape of o. Sessions may run meanwhile.
func (o Output) SetShape(s Shape) {
	if o.Err() != nil {
		return
	}
	merged, ok := o.Shape().Merge(s.Clone()) // s is the caller's
	if !ok {
		o.op.g.fail(Errorf(InvalidArgument, "SetShape must agree with what is known: %s, got %v", o, s))
		return
	}
	if o.op.vals != nil {
		return // a value has all the shape there is
	}
	shapes := slices.Clone(o.op.shapes) // sessions may be reading the old ones
	shapes[o.k] = merged
	o.op.g.published.setShapes(o.op, shapes)
}

// Value returns a copy of the tensor that an eager graph has computed for o.
func (o Output) Value() (*Tensor, error) {
	t, err := o.computed()
	if err != nil {
		return nil, err
	}
	return (*Tensor)(t.Clone()), nil
}

// computed returns the tensor that an eager graph has computed for o, which
// stays the graph's. Programs use Value.
func (o Output) computed() (*core.Tensor, error) {
	if err := o.Err(); err != nil {
		return nil, err
	}
	if o.op.vals == nil {
		return nil, Errorf(FailedPrecondition, "%s has no value yet: only eager graphs compute as they are built; use a session", o)
	}
	return o.op.vals[o.k], nil
}

// String formats o as "x:0 float32[?,784]".
func (o Output) String() string {
	if o.op == nil {
		return "<no output>"
	}
	return fmt.Sprintf("%s %v%v", o.Name(), o.DType(), o.Shape())
}

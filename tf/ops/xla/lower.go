package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
)

// A rule adds the nodes that compute what op computes from in, one output for each
// operand that is a tensor; it is zero for tokens. It returns an output for each result.
type rule func(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error)

// rules has the rule of each operation. Each family of operations adds its own while
// the program starts.
var rules = map[string]rule{}

// add adds the rules of a family.
func add(family map[string]rule) {
	for name, r := range family {
		rules[name] = r
	}
}

// maxOps bounds the operations of a module, those of a function counted for each of
// its calls.
const maxOps = 1 << 18

// maxNodes bounds the nodes of a body: some operations come to thousands.
const maxNodes = 1 << 18

// maxCalls bounds how deep functions call each other: each call under way takes stack.
const maxCalls = 1 << 10

// A lowering puts the operations of a block into a graph.
type lowering struct {
	module *stablehlo.Module
	g      *tf.Graph
	values map[*stablehlo.Value]tf.Output
	// thin has values that are broadcast from smaller ones, as long as nothing needs
	// them whole.
	thin   map[*stablehlo.Value]thin
	tuples map[*stablehlo.Value][]tf.Output
	ranges map[*stablehlo.Value]interval // of the arguments of blocks under way
	calls  []*stablehlo.Func             // under way, of which each is called by the one before
	checks []*tf.Operation               // assertions, which run whatever is read
	inner  []*tf.Operation               // assertions of the loop or branch under construction, for which its results wait
	nested int                           // loops and branches around the block
	// loose is set while the body of a reduction is applied to many elements at once:
	// values have more dimensions than their types.
	loose  bool
	ops    int // added so far
	nodes  int // of the graph, counted so far
	visit  func(nodes int) error
	copied int // bytes of large constants that are copies
}

func newLowering(m *stablehlo.Module, g *tf.Graph, visit func(int) error) *lowering {
	return &lowering{module: m, g: g, visit: visit, values: map[*stablehlo.Value]tf.Output{}, thin: map[*stablehlo.Value]thin{}, tuples: map[*stablehlo.Value][]tf.Output{},
		ranges: map[*stablehlo.Value]interval{}}
}

// block adds the operations of a block, whose arguments are in, and returns what its
// last operation returns.
func (l *lowering) block(b *stablehlo.Block, in []tf.Output) ([]tf.Output, error) {
	if len(in) != len(b.Args) {
		return nil, tf.Errorf(tf.InvalidArgument, "a block of StableHLO takes %d arguments, got %d", len(b.Args), len(in))
	}
	if len(b.Ops) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "a block of StableHLO must end with an operation that returns, it has none")
	}
	for i, a := range b.Args {
		l.set(a, in[i])
	}
	for _, op := range b.Ops {
		if err := l.count(); err != nil {
			return nil, err
		}
		if op == b.Terminator() {
			return l.operands(op)
		}
		if err := l.add(op); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// set says what stands for a value.
func (l *lowering) set(v *stablehlo.Value, x tf.Output) {
	delete(l.thin, v)
	l.values[v] = x
}

// operands returns the operands of an operation, whole.
func (l *lowering) operands(op *stablehlo.Op) ([]tf.Output, error) {
	in := make([]tf.Output, len(op.Operands))
	for i, v := range op.Operands {
		var err error
		if in[i], err = l.whole(op, v); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// whole returns what stands for a value, in the value's shape.
func (l *lowering) whole(op *stablehlo.Op, v *stablehlo.Value) (tf.Output, error) {
	if t, ok := l.thin[v]; ok {
		x := t.whole(l)
		if err := x.Err(); err != nil {
			return x, named(op, err)
		}
		if l.nested == t.nested {
			l.set(v, x)
		}
		return x, nil
	}
	x, ok := l.values[v]
	if !ok && v.Type.Kind != stablehlo.Token && v.Type.Kind != stablehlo.Tuple {
		return x, refused(op, "an operand must come before it")
	}
	return x, nil
}

// add adds one operation.
func (l *lowering) add(op *stablehlo.Op) error {
	if l.keepsThin(op) {
		return l.addThin(op)
	}
	r, ok := rules[op.Name]
	if !ok {
		return unsupported(op, "it is not supported")
	}
	in, err := l.operands(op)
	if err != nil {
		return err
	}
	out, err := r(l, op, in)
	if err != nil {
		return err
	}
	return l.results(op, out)
}

// count counts an operation, and the nodes that those before have added, against the
// limits and the budget of the planning.
func (l *lowering) count() error {
	nodes := len(l.g.Operations())
	added := nodes - l.nodes
	l.ops, l.nodes = l.ops+1, nodes
	switch {
	case l.ops > maxOps:
		return tf.Errorf(tf.ResourceExhausted, "a module of StableHLO must come to at most %d operations, with those of a function for each of its calls", maxOps)
	case nodes > maxNodes:
		return tf.Errorf(tf.ResourceExhausted, "a module of StableHLO must come to at most %d nodes of a graph, with those of a function for each of its calls", maxNodes)
	}
	return l.visit(1 + added)
}

// crowded reports whether no more nodes may be added: rules that add very many stop, and
// the next operation is refused.
func (l *lowering) crowded() bool { return len(l.g.Operations()) > maxNodes }

// results notes the results of an operation, which must be of the types that it says.
func (l *lowering) results(op *stablehlo.Op, out []tf.Output) error {
	if len(out) != len(op.Results) {
		return refused(op, "it has %d results, got %d", len(out), len(op.Results))
	}
	for i, v := range op.Results {
		if v.Type.Kind == stablehlo.Tensor {
			if err := l.checkResult(op, out[i], v.Type); err != nil {
				return err
			}
		}
		l.set(v, out[i])
	}
	return nil
}

// checkResult compares a result with its type, of which it takes the sizes.
func (l *lowering) checkResult(op *stablehlo.Op, x tf.Output, t stablehlo.Type) error {
	if x.IsZero() {
		return refused(op, "its result must be a tensor")
	}
	if err := x.Err(); err != nil {
		return named(op, err)
	}
	d, err := typeOf(op, t)
	switch {
	case err != nil:
		return err
	case x.DType().Base() != d:
		return refused(op, "a result must have elements of type %v, got %v", d, x.DType())
	case l.loose:
		return nil
	case !fits(x.Shape(), t.Shape):
		return refused(op, "a result must be of shape %v, got %v", t.Shape, x.Shape())
	}
	x.SetShape(shapeOf(t))
	return nil
}

// call adds the body of a function.
func (l *lowering) call(op *stablehlo.Op, name string, in []tf.Output) ([]tf.Output, error) {
	f := l.module.Func(name)
	switch {
	case f == nil || f.Body == nil:
		return nil, refused(op, "the module has no function %q", name)
	case slices.Contains(l.calls, f):
		return nil, refused(op, "functions must not call themselves, %q does", name)
	case len(l.calls) > maxCalls:
		return nil, tf.Errorf(tf.ResourceExhausted, "StableHLO's operation %s: functions must call each other at most %d deep", op.Name, maxCalls)
	}
	l.calls = append(l.calls, f)
	defer func() { l.calls = l.calls[:len(l.calls)-1] }()
	for i, a := range f.Body.Args {
		if i < len(op.Operands) && !sameType(a.Type, op.Operands[i].Type) {
			return nil, refused(op, "function %q takes other types", name)
		}
	}
	defer l.knowArgs(f.Body.Args, func(i int) (interval, bool) {
		if i >= len(op.Operands) {
			return interval{}, false
		}
		return l.rangeOf(op.Operands[i])
	})()
	return l.block(f.Body, in)
}

func sameType(a, b stablehlo.Type) bool {
	return a.Kind == b.Kind && a.Elem == b.Elem && len(a.Shape) == len(b.Shape)
}

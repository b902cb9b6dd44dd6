package xla

import (
	"math"
	"strings"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// JAX saved functions without modules before it had those: as graphs in which operations
// of XLA are nodes by themselves, XlaDotV2, XlaGather and others. Their rules are those
// of the operations of modules, to whose form a node is brought first. What the rules
// need beside attributes comes from the node's inputs: ranks, and the values of inputs
// such as paddings, which XLA wants to know when it compiles.

// A graphOp says how a node of an operation of XLA is put in terms of TensorFlow's.
type graphOp struct {
	// statics are the inputs whose values have to be known, from the end if negative.
	statics []int
	// hints are scalar inputs whose values are of use if they are known.
	hints []int
	lower func(c *graphCall) []tf.Output
}

// graphOps has the operations by name.
var graphOps = map[string]graphOp{}

// A graphCall is a node under translation. It keeps the first error.
type graphCall struct {
	*lowering
	n       *core.Node
	library *core.Library
	in      []tf.Output
	values  []*stablehlo.Value // of inputs, as operands
	known   []*core.Tensor     // values of inputs, as far as they are known
	err     error
}

func (c *graphCall) fail(format string, args ...any) {
	if c.err == nil {
		c.err = tf.Errorf(tf.InvalidArgument, format, args...)
	}
}

// elems has StableHLO's names of types.
var elems = func() map[tf.DType]stablehlo.Elem {
	out := map[tf.DType]stablehlo.Elem{}
	for e, d := range dtypes {
		out[d] = e
	}
	return out
}()

// tensorType returns a type of unknown sizes.
func (c *graphCall) tensorType(d tf.DType, rank int) stablehlo.Type {
	e, ok := elems[d.Base()]
	if !ok {
		c.err = cmpErr(c.err, tf.Errorf(tf.Unimplemented, "elements of type %v are not supported", d))
	}
	t := stablehlo.Type{Kind: stablehlo.Tensor, Elem: e, Shape: make([]int64, max(rank, 0))}
	for i := range t.Shape {
		t.Shape[i] = stablehlo.Dynamic
	}
	return t
}

// cmpErr returns the first error of two.
func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// rank returns the rank of an input.
func (c *graphCall) rank(i int) int { return len(c.values[i].Type.Shape) }

// ints returns the integers of an input that is known, a vector or a scalar, n of them
// unless n is negative.
func (c *graphCall) ints(i, n int) []int {
	t := c.known[i]
	if t == nil {
		c.fail("input %d must be known", i)
		return make([]int, max(n, 0))
	}
	v, err := t.Ints()
	if err != nil {
		c.fail("input %d must be integers, got %v", i, t.DType())
	}
	if n >= 0 && (len(v) != n || t.Rank() > 1 && n > 0 && t.Dim(0)*t.Dim(1) != n) {
		c.fail("input %d must have %d elements, got shape %v", i, n, t.Shape())
		return make([]int, n)
	}
	for _, x := range v {
		if x > math.MaxInt32 || x < -math.MaxInt32 {
			c.fail("input %d must have elements that int32 holds, got %d", i, x)
			return make([]int, len(v))
		}
	}
	return v
}

// vector is ints of an input that must be a vector of n elements.
func (c *graphCall) vector(i, n int) []int {
	if t := c.known[i]; t != nil && t.Rank() != 1 {
		c.fail("input %d must be a vector of %d elements, got shape %v", i, n, t.Shape())
		return make([]int, n)
	}
	return c.ints(i, n)
}

// pairs returns the paddings before and after n dimensions, as an attribute has them.
func (c *graphCall) pairs(i, n int) []int {
	if t := c.known[i]; t != nil && (t.Rank() != 2 || t.Dim(0) != n || t.Dim(1) != 2) {
		c.fail("input %d must be of shape [%d,2], got %v", i, n, t.Shape())
		return make([]int, 2*n)
	}
	return c.ints(i, 2*n)
}

// scalar is an input that must be one integer.
func (c *graphCall) scalar(i int) int {
	v := c.ints(i, -1)
	if t := c.known[i]; len(v) != 1 || t != nil && t.Rank() > 0 {
		c.fail("input %d must be a scalar", i)
		return 0
	}
	return v[0]
}

// numbers reads the attribute dimension_numbers.
func (c *graphCall) numbers(f protoFields) map[string]stablehlo.Attr {
	attrs, err := f.read(c.n.Str("dimension_numbers"))
	if err != nil {
		c.err = cmpErr(c.err, err)
		return map[string]stablehlo.Attr{}
	}
	return attrs
}

// apply adds an operation of StableHLO and returns its results.
func (c *graphCall) apply(name string, attrs map[string]stablehlo.Attr, operands []*stablehlo.Value, regions []*stablehlo.Block, results ...stablehlo.Type) []tf.Output {
	if c.err != nil {
		return nil
	}
	op := &stablehlo.Op{Name: name, Attrs: attrs, Operands: operands, Regions: regions}
	for i, t := range results {
		op.Results = append(op.Results, &stablehlo.Value{Type: t, Def: op, Index: i})
	}
	if c.err = c.add(op); c.err != nil {
		return nil
	}
	out := make([]tf.Output, len(results))
	for i, v := range op.Results {
		if out[i], c.err = c.whole(op, v); c.err != nil {
			return nil
		}
	}
	return out
}

// operand returns what stands for a tensor as an operand.
func (c *graphCall) operand(x tf.Output) *stablehlo.Value {
	v := &stablehlo.Value{Type: c.tensorType(x.DType(), len(x.Shape()))}
	for i, d := range x.Shape() {
		v.Type.Shape[i] = int64(d)
	}
	c.set(v, x)
	return v
}

// constantValue returns a tensor that is known as the result of a constant.
func (c *graphCall) constantValue(t *core.Tensor) *stablehlo.Value {
	v := c.operand(ops.ConstValue(c.g, t))
	v.Def = constantOp(v.Type, t)
	v.Def.Results = []*stablehlo.Value{v}
	return v
}

// constantOp returns the operation that a constant is.
func constantOp(t stablehlo.Type, x *core.Tensor) *stablehlo.Op {
	data := core.TensorProto(x).TensorContent
	return &stablehlo.Op{Name: "constant", Attrs: map[string]stablehlo.Attr{"value": stablehlo.Dense{Type: t, Data: data}}}
}

// region reads a function that the node has as an attribute.
func (c *graphCall) region(attr string) *stablehlo.Block {
	b, err := regionOf(c.library, c.n.FuncAttr(attr))
	if err != nil {
		c.err = cmpErr(c.err, tf.Errorf(tf.CodeOf(err), "%s %s: %s", attr, c.n.FuncAttr(attr).Name, tf.AsError(err).Message()))
		return nil
	}
	return b
}

// typesOf returns the types of inputs, of other ranks.
func (c *graphCall) typesOf(inputs []*stablehlo.Value, rank int) []stablehlo.Type {
	out := make([]stablehlo.Type, len(inputs))
	for i, v := range inputs {
		out[i] = c.tensorType(dtypes[v.Type.Elem], rank)
	}
	return out
}

// arguments describes what the inputs of a node are known to be. A shape that is nil is
// of unknown rank.
type arguments struct {
	shapes  []tf.Shape
	known   func(i int) *core.Tensor
	library *core.Library
}

// graphBody makes the function that a node of an operation of XLA calls.
func graphBody(n *core.Node, a arguments, visit func(int) error) (b *core.FunctionBody, err error) {
	defer core.Recover(&err, "the translation of "+n.OpName())
	w := &builder{n: n, l: newLowering(&stablehlo.Module{}, tf.NewGraph(), visit)}
	w.body.Name, w.body.ArgTypes, w.body.RetTypes = strings.ToLower(n.OpName()), n.InTypes, n.OutTypes
	c := &graphCall{lowering: w.l, n: n, library: a.library}
	for i, d := range n.InTypes {
		x := w.argument(d.Base())
		x.SetShape(a.shapes[i])
		c.in = append(c.in, x)
		c.known = append(c.known, nil)
		c.values = append(c.values, c.operand(x))
	}
	if err := c.learn(graphOps[n.OpName()], a.known); err != nil {
		return nil, err
	}
	out := graphOps[n.OpName()].lower(c)
	if c.err == nil {
		c.err = w.returnAll(out)
	}
	if c.err == nil {
		c.err = w.l.g.Err()
	}
	if c.err == nil {
		c.err = w.graph()
	}
	if c.err != nil {
		return nil, tf.Errorf(tf.CodeOf(c.err), "%s: %s", n.OpName(), tf.AsError(c.err).Message())
	}
	return &w.body, nil
}

// learn takes the values of inputs that the operation looks at.
func (c *graphCall) learn(op graphOp, known func(int) *core.Tensor) error {
	for _, i := range op.staticInputs(c.n) {
		if c.known[i] = known(i); c.known[i] == nil {
			return tf.Errorf(tf.InvalidArgument, "%s: input %d must be known", c.n.OpName(), i)
		}
		if c.known[i].Len() > most {
			return tf.Errorf(tf.InvalidArgument, "%s: input %d must have at most %d elements, got %d", c.n.OpName(), i, most, c.known[i].Len())
		}
	}
	for _, i := range op.hintInputs(c.n) {
		if t := known(i); t != nil && t.Rank() == 0 && elems[t.DType()] != "" {
			c.known[i], c.values[i] = t, c.constantValue(t)
		}
	}
	return nil
}

func (o graphOp) staticInputs(n *core.Node) []int { return inputsOf(o.statics, n) }

func (o graphOp) hintInputs(n *core.Node) []int { return inputsOf(o.hints, n) }

func inputsOf(list []int, n *core.Node) (out []int) {
	for _, i := range list {
		if i < 0 {
			i += len(n.InTypes)
		}
		if i >= 0 && i < len(n.InTypes) {
			out = append(out, i)
		}
	}
	return out
}

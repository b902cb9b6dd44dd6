package xla

import (
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// regionOf reads a function of TensorFlow's operations on scalars as a region of
// StableHLO's: what combines, selects or compares elements.
func regionOf(l *core.Library, f core.Func) (*stablehlo.Block, error) {
	r := &regionReader{library: l, block: &stablehlo.Block{}}
	body, err := r.body(f)
	if err != nil {
		return nil, err
	}
	for i, d := range body.ArgTypes {
		e, ok := elems[d.Base()]
		if !ok {
			return nil, tf.Errorf(tf.Unimplemented, "an argument of type %v is not supported", d)
		}
		r.block.Args = append(r.block.Args, &stablehlo.Value{Type: stablehlo.Type{Kind: stablehlo.Tensor, Elem: e}, Index: i})
	}
	out, err := r.call(body, r.block.Args)
	if err != nil {
		return nil, err
	}
	r.block.Ops = append(r.block.Ops, &stablehlo.Op{Name: "return", Operands: out})
	return r.block, nil
}

// A regionReader reads the functions that a region is made of.
type regionReader struct {
	library *core.Library
	block   *stablehlo.Block
	depth   int
	visited int
	read    int // nodes of all functions, whether results need them or not
}

// Bounds of what a region may come to.
const (
	maxRegionDepth = 256
	maxRegionNodes = 1 << 12
	maxRegionRead  = 1 << 18
)

func (r *regionReader) body(f core.Func) (*core.FunctionBody, error) {
	if r.library == nil {
		return nil, tf.Errorf(tf.NotFound, "there is no library of functions")
	}
	b, err := r.library.Body(f)
	if err != nil {
		return nil, err
	}
	if r.read += len(b.Graph.GetNode()); r.read > maxRegionRead {
		return nil, tf.Errorf(tf.Unimplemented, "functions of more than %d nodes, counted for each of their calls, are not supported here", maxRegionRead)
	}
	return b, nil
}

// A callReader reads one function, given its arguments.
type callReader struct {
	*regionReader
	nodes  map[string]*pb.NodeDef
	values map[string][]*stablehlo.Value
}

// call adds what the results of a function need.
func (r *regionReader) call(b *core.FunctionBody, args []*stablehlo.Value) ([]*stablehlo.Value, error) {
	if len(args) != len(b.Args) {
		return nil, tf.Errorf(tf.InvalidArgument, "a function takes %d arguments, got %d", len(b.Args), len(args))
	}
	c := &callReader{regionReader: r, nodes: map[string]*pb.NodeDef{}, values: map[string][]*stablehlo.Value{}}
	for _, n := range b.Graph.GetNode() {
		c.nodes[n.GetName()] = n
		if t := b.Constants[n.GetName()]; t != nil {
			return nil, tf.Errorf(tf.Unimplemented, "large constants are not supported")
		}
	}
	for i, name := range b.Args {
		c.values[name] = args[i : i+1]
	}
	out := make([]*stablehlo.Value, len(b.Rets))
	for i, name := range b.Rets {
		ret := c.nodes[name]
		if len(ret.GetInput()) == 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "a result of a function must have an input")
		}
		var err error
		if out[i], err = c.input(ret.GetInput()[0]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// input returns the value of an input of a node.
func (c *callReader) input(ref string) (*stablehlo.Value, error) {
	name, number, _ := strings.Cut(ref, ":")
	k, _ := strconv.Atoi(number)
	values, ok := c.values[name]
	if !ok {
		var err error
		if values, err = c.node(name); err != nil {
			return nil, err
		}
		c.values[name] = values
	}
	if k < 0 || k >= len(values) {
		return nil, tf.Errorf(tf.InvalidArgument, "node %q of a function has %d outputs, there is none of number %d", name, len(values), k)
	}
	return values[k], nil
}

// node reads a node.
func (c *callReader) node(name string) ([]*stablehlo.Value, error) {
	def := c.nodes[name]
	if def == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "a function must have the nodes that it uses, it has no %q", name)
	}
	c.depth++
	defer func() { c.depth-- }()
	if c.visited++; c.depth > maxRegionDepth || c.visited > maxRegionNodes {
		return nil, tf.Errorf(tf.Unimplemented, "a function of more than %d nodes, or %d deep, is not supported here", maxRegionNodes, maxRegionDepth)
	}
	n, err := readNode(def)
	if err != nil {
		return nil, err
	}
	if n.Role() == core.Constant {
		return c.constant(n)
	}
	if f := n.FuncAttr("f"); strings.HasSuffix(n.OpName(), "PartitionedCall") {
		return c.called(def, f)
	}
	return c.operation(n, def)
}

func readNode(def *pb.NodeDef) (*core.Node, error) {
	d, err := core.LookupOp(def.GetOp())
	if err != nil {
		return nil, err
	}
	attrs, err := core.AttrsFromProto(def.GetAttr(), d)
	if err != nil {
		return nil, err
	}
	return core.NewNode(def.GetName(), def.GetOp(), attrs)
}

// inputs returns the values that a node takes.
func (c *callReader) inputs(def *pb.NodeDef) (out []*stablehlo.Value, err error) {
	for _, ref := range def.GetInput() {
		if strings.HasPrefix(ref, "^") {
			continue
		}
		v, err := c.input(ref)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (c *callReader) constant(n *core.Node) ([]*stablehlo.Value, error) {
	t := n.TensorAttr("value")
	if t == nil || t.Rank() > 0 && t.Len() > 0 || elems[t.DType()] == "" {
		return nil, tf.Errorf(tf.Unimplemented, "a constant that is no scalar number is not supported here")
	}
	typ := stablehlo.Type{Kind: stablehlo.Tensor, Elem: elems[t.DType()]}
	for _, d := range t.Shape() {
		typ.Shape = append(typ.Shape, int64(d))
	}
	return c.add(constantOp(typ, t), typ), nil
}

// add adds an operation of one result.
func (c *callReader) add(op *stablehlo.Op, t stablehlo.Type) []*stablehlo.Value {
	op.Results = []*stablehlo.Value{{Type: t, Def: op}}
	c.block.Ops = append(c.block.Ops, op)
	return op.Results
}

// called reads a call of another function.
func (c *callReader) called(def *pb.NodeDef, f core.Func) ([]*stablehlo.Value, error) {
	in, err := c.inputs(def)
	if err != nil {
		return nil, err
	}
	body, err := c.body(f)
	if err != nil {
		return nil, err
	}
	return c.call(body, in)
}

// operation reads a node that computes a scalar of others.
func (c *callReader) operation(n *core.Node, def *pb.NodeDef) ([]*stablehlo.Value, error) {
	in, err := c.inputs(def)
	if err != nil {
		return nil, err
	}
	if scalarViews[n.OpName()] && len(in) > 0 {
		return in[:1], scalarsOnly(n, in)
	}
	name, attrs := scalarOp(n)
	if name == "" || len(n.OutTypes) != 1 || elems[n.OutTypes[0].Base()] == "" {
		return nil, tf.Errorf(tf.Unimplemented, "operation %s is not supported here", n.OpName())
	}
	for i, v := range in {
		if i < len(n.InTypes) && dtypes[v.Type.Elem] != n.InTypes[i].Base() || len(v.Type.Shape) > 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "input %d of operation %s must be a scalar of type %v, got %s of shape %v", i, n.OpName(), n.InTypes[i], v.Type.Elem, v.Type.Shape)
		}
	}
	t := stablehlo.Type{Kind: stablehlo.Tensor, Elem: elems[n.OutTypes[0].Base()]}
	return c.add(&stablehlo.Op{Name: name, Operands: in, Attrs: attrs}, t), nil
}

// scalarViews are the operations that leave a scalar as it is, if its new shape is none.
var scalarViews = map[string]bool{
	"Identity": true, "StopGradient": true, "PreventGradient": true, "Snapshot": true, "EnsureShape": true,
	"BroadcastTo": true, "Reshape": true,
}

// scalarsOnly refuses shapes of dimensions.
func scalarsOnly(n *core.Node, in []*stablehlo.Value) error {
	if len(in) > 1 && (len(in[1].Type.Shape) != 1 || in[1].Type.Shape[0] != 0) || len(in[0].Type.Shape) > 0 {
		return tf.Errorf(tf.Unimplemented, "operation %s of what is no scalar is not supported here", n.OpName())
	}
	return nil
}

// scalarOps has StableHLO's names of operations on scalars.
var scalarOps = map[string]string{
	"Add": "add", "AddV2": "add", "Sub": "subtract", "Mul": "multiply", "RealDiv": "divide", "Div": "divide", "TruncateDiv": "divide",
	"Maximum": "maximum", "Minimum": "minimum", "Pow": "power", "Atan2": "atan2",
	"LogicalAnd": "and", "BitwiseAnd": "and", "LogicalOr": "or", "BitwiseOr": "or", "BitwiseXor": "xor", "LogicalNot": "not", "Invert": "not",
	"Neg": "negate", "Abs": "abs", "Sign": "sign", "Exp": "exponential", "Expm1": "exponential_minus_one", "Log": "log", "Log1p": "log_plus_one",
	"Sqrt": "sqrt", "Rsqrt": "rsqrt", "Tanh": "tanh", "Sigmoid": "logistic", "Sin": "sine", "Cos": "cosine", "Floor": "floor", "Ceil": "ceil",
	"Real": "real", "Imag": "imag", "Complex": "complex", "Cast": "convert", "Bitcast": "bitcast_convert", "IsFinite": "is_finite",
	"Select": "select", "SelectV2": "select", "LeftShift": "shift_left",
}

var directions = map[string]stablehlo.Enum{"Equal": "EQ", "NotEqual": "NE", "Less": "LT", "LessEqual": "LE", "Greater": "GT", "GreaterEqual": "GE"}

// scalarOp returns the name and the attributes of StableHLO's operation.
func scalarOp(n *core.Node) (string, map[string]stablehlo.Attr) {
	if dir, ok := directions[n.OpName()]; ok {
		return "compare", map[string]stablehlo.Attr{"comparison_direction": dir}
	}
	if n.OpName() == "RightShift" {
		if isUnsigned(n.Type("T")) {
			return "shift_right_logical", nil
		}
		return "shift_right_arithmetic", nil
	}
	return scalarOps[n.OpName()], nil
}

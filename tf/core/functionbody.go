package core

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A FunctionBody is a function made concrete: a graph in which _Arg nodes give
// the arguments and _Retval nodes take the results, in order.
type FunctionBody struct {
	Name        string // of the function, or of the one of which it is the SymbolicGradient
	Graph       *pb.GraphDef
	Args, Rets  []string // names of the _Arg and _Retval nodes
	ControlRets []string // nodes that have to run though nothing may read them
	ArgTypes    []DType
	RetTypes    []DType
	Stateful    bool
	NoInline    bool
	// Constants are the values of constants by name of the node, which Graph leaves
	// out: they may be large.
	Constants map[string]*Tensor
}

// FuncOf returns the function of body, which no library has. Its name tells it from
// all others.
func FuncOf(body *FunctionBody) Func { return Func{Name: body.Name, body: body} }

// SymbolicGradient is the name of the function that is the gradient of another
// one, its attribute f.
const SymbolicGradient = "SymbolicGradient"

// GradientOf returns the function that computes the gradients of f's arguments
// from the arguments and the gradients of f's results.
func GradientOf(f Func) Func {
	return Func{Name: SymbolicGradient, Attrs: Attrs{"f": f}}
}

// gradientBody returns the body of the gradient of a function.
var gradientBody = func(_ *Library, f Func) (*FunctionBody, error) {
	return nil, Errorf(Unimplemented, "the gradient of function %s must be formed on graphs: import package tf", f.Name)
}

// RegisterGradientBody says how gradients of functions are formed, which takes
// graphs. Package tf calls it in its init.
func RegisterGradientBody(f func(*Library, Func) (*FunctionBody, error)) { gradientBody = f }

// Body returns the body of f with its attributes put in place of placeholders.
func (l *Library) Body(f Func) (*FunctionBody, error) {
	if f.body != nil {
		return f.body, nil
	}
	if of, ok := f.Attrs["f"].(Func); ok && f.Name == SymbolicGradient {
		return gradientBody(l, of)
	}
	def := l.Find(f.Name)
	if def == nil {
		return nil, Errorf(NotFound, "Function %s is not defined.", f.Name)
	}
	attrs, err := bodyAttrs(l.ops[f.Name], f)
	if err != nil {
		return nil, err
	}
	b := &bodyBuilder{l: l, def: def, op: l.ops[f.Name], attrs: attrs, outputs: map[string]*producer{}, numbers: map[string]int{}}
	b.body = &FunctionBody{Name: f.Name, Graph: &pb.GraphDef{Versions: &pb.VersionDef{Producer: ProducerVersion}}}
	if err := b.build(); err != nil {
		return nil, Errorf(CodeOf(err), "Instantiation of function %s failed: %s", f.Name, AsError(err).Message())
	}
	return b.body, nil
}

// bodyAttrs completes the attributes of a call by the defaults of the
// function's own.
func bodyAttrs(op *OpDef, f Func) (map[string]*pb.AttrValue, error) {
	all := maps.Clone(f.Attrs)
	if all == nil {
		all = Attrs{}
	}
	for i := range op.AttrDefs {
		a := &op.AttrDefs[i]
		if _, ok := all[a.Name]; ok {
			continue
		}
		if a.Default == nil {
			return nil, Errorf(InvalidArgument, "Attr %s is not found from %s", a.Name, op.Name)
		}
		all[a.Name] = a.Default
	}
	out, err := AttrsProto(all)
	for name, v := range all {
		if _, ok := v.(string); ok && err == nil {
			memory.Freeze(out[name].GetS()) // made here; each node that has it shares it
		}
	}
	return out, err
}

// producer is a node of a body, or an argument, as others refer to it.
type producer struct {
	node   string           // name prefix of what is referred to
	ranges map[string][]int // by output name: first output and number of outputs
	split  bool             // each tensor is a node of its own: a list argument
}

// bodyBuilder turns a FunctionDef into a GraphDef.
type bodyBuilder struct {
	l       *Library
	def     *pb.FunctionDef
	op      *OpDef
	attrs   map[string]*pb.AttrValue
	values  Attrs
	outputs map[string]*producer
	body    *FunctionBody
	numbers map[string]int // by name, the next one that may be free behind it
	funcs   int            // in values of attributes so far
}

func (b *bodyBuilder) build() (err error) {
	b.body.Stateful = b.op.Stateful
	b.body.NoInline = b.def.GetAttr()["_noinline"].GetB()
	if b.values, err = AttrsFromProto(b.attrs, b.op); err != nil {
		return err
	}
	for i := range b.op.Inputs {
		if err := b.arg(i); err != nil {
			return err
		}
	}
	if err := b.declare(); err != nil {
		return err
	}
	if err := b.connect(); err != nil {
		return err
	}
	for i := range b.op.Outputs {
		if err := b.ret(i); err != nil {
			return err
		}
	}
	return b.controlRets()
}

// arg adds a node for each tensor of argument i.
func (b *bodyBuilder) arg(i int) error {
	a := &b.op.Inputs[i]
	types, err := a.Types(b.values)
	if err != nil {
		return err
	}
	if b.outputs[a.Name] != nil {
		return Errorf(InvalidArgument, "Duplicated arg name: %s", a.Name)
	}
	b.outputs[a.Name] = &producer{node: a.Name, split: a.IsList(), ranges: map[string][]int{"": {0, len(types)}}}
	for k, t := range types {
		name := a.Name
		if a.IsList() {
			name = fmt.Sprintf("%s_%d", a.Name, k)
		}
		n := &pb.NodeDef{Name: name, Op: "_Arg", Attr: map[string]*pb.AttrValue{
			"T": {Value: &pb.AttrValue_Type{Type: pb.DataType(t)}}, "index": {Value: &pb.AttrValue_I{I: int64(len(b.body.Args))}}}}
		for key, v := range b.def.GetArgAttr()[uint32(i)].GetAttr() {
			if strings.HasPrefix(key, "_") {
				n.Attr[key] = v
			}
		}
		b.body.Args, b.body.ArgTypes = append(b.body.Args, name), append(b.body.ArgTypes, t)
		b.body.Graph.Node = append(b.body.Graph.Node, n)
	}
	return nil
}

// declare adds the nodes of the body, without inputs.
func (b *bodyBuilder) declare() error {
	for _, n := range b.def.GetNodeDef() {
		if b.outputs[n.GetName()] != nil {
			return Errorf(InvalidArgument, "Duplicated node name: %s", n.GetName())
		}
		c := &pb.NodeDef{Name: n.GetName(), Op: n.GetOp(), Device: n.GetDevice(), Attr: make(map[string]*pb.AttrValue, len(n.GetAttr()))}
		for key, v := range n.GetAttr() {
			w, err := b.substitute(v)
			if err != nil {
				return Errorf(CodeOf(err), "node %s: %s", n.GetName(), AsError(err).Message())
			}
			c.Attr[key] = w
		}
		p, err := b.producer(c)
		if err != nil {
			return Errorf(CodeOf(err), "node %s: %s", n.GetName(), AsError(err).Message())
		}
		b.outputs[n.GetName()] = p
		b.body.Graph.Node = append(b.body.Graph.Node, c)
	}
	return nil
}

// producer finds out which outputs of n have which name.
func (b *bodyBuilder) producer(n *pb.NodeDef) (*producer, error) {
	def, err := b.l.LookupOp(n.GetOp())
	if err != nil {
		return nil, err
	}
	attrs, err := AttrsFromProto(n.GetAttr(), def)
	if err != nil {
		return nil, err
	}
	for i := range def.AttrDefs {
		if a := &def.AttrDefs[i]; attrs[a.Name] == nil && a.Default != nil {
			attrs[a.Name] = a.Default
		}
	}
	p, first := &producer{node: n.GetName(), ranges: map[string][]int{}}, 0
	for i := range def.Outputs {
		types, err := def.Outputs[i].Types(attrs)
		if err != nil {
			return nil, err
		}
		p.ranges[def.Outputs[i].Name] = []int{first, len(types)}
		first += len(types)
	}
	return p, nil
}

// connect gives the nodes their inputs.
func (b *bodyBuilder) connect() error {
	nodes := b.body.Graph.Node[len(b.body.Args):]
	for i, n := range b.def.GetNodeDef() {
		for _, in := range n.GetInput() {
			to, err := b.input(in)
			if err != nil {
				return Errorf(CodeOf(err), "input %s of node %s: %s", in, n.GetName(), AsError(err).Message())
			}
			nodes[i].Input = append(nodes[i].Input, to...)
		}
	}
	return nil
}

// input returns what "x", "node:out:1", "node:out" or "^node" in a FunctionDef
// is called in a GraphDef. A name of a list stands for all of it.
func (b *bodyBuilder) input(in string) ([]string, error) {
	if name, ok := strings.CutPrefix(in, "^"); ok {
		p := b.outputs[name]
		if p == nil {
			return nil, Errorf(InvalidArgument, "there is no such node")
		}
		if p.split {
			return nil, Errorf(InvalidArgument, "a list of arguments is no node")
		}
		return []string{in}, nil
	}
	parts := strings.Split(in, ":")
	p := b.outputs[parts[0]]
	if p == nil {
		return nil, Errorf(InvalidArgument, "there is no such node or argument")
	}
	rest := parts[1:]
	name := ""
	if p.ranges[""] == nil && len(rest) > 0 {
		name, rest = rest[0], rest[1:]
	}
	r := p.ranges[name]
	if r == nil && name == "" && len(p.ranges) == 1 { // "node" of one output
		for _, r = range p.ranges {
		}
	}
	return p.refs(r, rest)
}

// inputSize is about what the name of an input takes. A function names all tensors of a list
// by one, and may do so for each of its nodes.
const inputSize = 32

// refs returns the tensors of range r, or the one that index names.
func (p *producer) refs(r []int, index []string) ([]string, error) {
	if r == nil || len(index) > 1 {
		return nil, Errorf(InvalidArgument, "there is no such output")
	}
	lo, hi := r[0], r[0]+r[1]
	if len(index) == 1 {
		k, err := strconv.Atoi(index[0])
		if err != nil || k < 0 || k >= r[1] {
			return nil, Errorf(InvalidArgument, "there is no such output")
		}
		lo, hi = r[0]+k, r[0]+k+1
	}
	if n := hi - lo; n > 1 {
		if err := memory.TryRoom(n * inputSize); err != nil {
			return nil, err
		}
	}
	out := make([]string, 0, hi-lo)
	for k := lo; k < hi; k++ {
		if p.split {
			out = append(out, fmt.Sprintf("%s_%d", p.node, k))
			continue
		}
		out = append(out, InputName(p.node, k))
	}
	return out, nil
}

// ret adds a node for each tensor of result i.
func (b *bodyBuilder) ret(i int) error {
	a := &b.op.Outputs[i]
	types, err := a.Types(b.values)
	if err != nil {
		return err
	}
	from, ok := b.def.GetRet()[a.Name]
	if !ok {
		return Errorf(InvalidArgument, "Return %s missing.", a.Name)
	}
	refs, err := b.input(from)
	if err != nil {
		return Errorf(CodeOf(err), "Return %s -> %s is not found: %s", a.Name, from, AsError(err).Message())
	}
	if len(refs) != len(types) {
		return Errorf(InvalidArgument, "Bad ret types: %s has %d tensors, the body gives %d", a.Name, len(types), len(refs))
	}
	for k, t := range types {
		name := b.unused(fmt.Sprintf("%s_RetVal", a.Name))
		n := &pb.NodeDef{Name: name, Op: "_Retval", Input: []string{refs[k]}, Attr: map[string]*pb.AttrValue{
			"T": {Value: &pb.AttrValue_Type{Type: pb.DataType(t)}}, "index": {Value: &pb.AttrValue_I{I: int64(len(b.body.Rets))}}}}
		b.outputs[name] = &producer{node: name}
		b.body.Rets, b.body.RetTypes = append(b.body.Rets, name), append(b.body.RetTypes, t)
		b.body.Graph.Node = append(b.body.Graph.Node, n)
	}
	return nil
}

// unused returns name, with a number behind it if it is taken: not one of those that have been
// tried before, since results of a list are many.
func (b *bodyBuilder) unused(name string) string {
	base, i := name, max(b.numbers[name], 1)
	for ; b.outputs[name] != nil; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	b.numbers[base] = i
	return name
}

func (b *bodyBuilder) controlRets() error {
	names := slices.Sorted(maps.Values(b.def.GetControlRet()))
	for _, name := range slices.Compact(names) {
		if b.outputs[name] == nil {
			return Errorf(InvalidArgument, "Control return %s is not found.", name)
		}
		b.body.ControlRets = append(b.body.ControlRets, name)
	}
	return nil
}

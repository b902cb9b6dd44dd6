package xla

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"weak"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// bodies has the bodies that something uses, by what they were made from, so that
// sessions of one model share them and their constants.
var bodies = struct {
	sync.Mutex
	of map[string]weak.Pointer[core.FunctionBody]
}{of: map[string]weak.Pointer[core.FunctionBody]{}}

// body makes the body of a node, or finds it.
func body(n *core.Node, visit func(nodes int) error) (b *core.FunctionBody, err error) {
	defer core.Recover(&err, "the reading of a module of StableHLO")
	key, err := keyOf(n)
	if err != nil {
		return nil, err
	}
	if b := kept(key); b != nil {
		return b, nil
	}
	if b, err = newBody(n, visit); err != nil {
		return nil, err
	}
	b.Name += "_" + key[:16]
	hold(key, b)
	return b, nil
}

// keyOf returns a digest of what the body of a node is made from.
func keyOf(n *core.Node) (string, error) {
	attrs := core.Attrs{}
	for name, v := range n.Attrs {
		if name != "module" && !strings.HasPrefix(name, "_") {
			attrs[name] = v
		}
	}
	p, err := core.AttrsProto(attrs)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	rest, err := proto.MarshalOptions{Deterministic: true}.Marshal(&pb.NameAttrList{Attr: p})
	fmt.Fprintf(h, "%d ", len(rest))
	h.Write(rest)
	h.Write(memory.BytesOf(n.Str("module")))
	return hex.EncodeToString(h.Sum(nil)), err
}

func kept(key string) *core.FunctionBody {
	bodies.Lock()
	defer bodies.Unlock()
	return bodies.of[key].Value()
}

// hold keeps a body as long as something uses it.
func hold(key string, b *core.FunctionBody) {
	bodies.Lock()
	defer bodies.Unlock()
	for k, p := range bodies.of {
		if p.Value() == nil {
			delete(bodies.of, k)
		}
	}
	bodies.of[key] = weak.Make(b)
}

// newBody reads a node's module and puts it in terms of TensorFlow's operations.
func newBody(n *core.Node, visit func(int) error) (*core.FunctionBody, error) {
	platform, err := platformOf(n)
	if err != nil {
		return nil, err
	}
	m, err := stablehlo.ReadString(n.Str("module"))
	if err != nil {
		code := tf.InvalidArgument
		if errors.Is(err, stablehlo.ErrUnsupported) {
			code = tf.Unimplemented
		}
		return nil, tf.Errorf(code, "Cannot deserialize computation: %v", err)
	}
	return lower(n, m, platform, visit)
}

// lower puts a module in terms of TensorFlow's operations.
func lower(n *core.Node, m *stablehlo.Module, platform int, visit func(int) error) (*core.FunctionBody, error) {
	main := m.Func("main")
	if main == nil || main.Body == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Cannot find 'main' in module")
	}
	if err := missing(m); err != nil {
		return nil, err
	}
	w := &builder{n: n, main: main, platform: platform, l: newLowering(m, tf.NewGraph(), visit)}
	w.body.NoInline = hangsOnShapes(m, main)
	return w.build()
}

// A builder builds the body of a node from the function main.
type builder struct {
	n        *core.Node
	main     *stablehlo.Func
	platform int // the index of ours among several; -1: main does not ask
	l        *lowering
	body     core.FunctionBody
}

func (w *builder) build() (*core.FunctionBody, error) {
	w.body.Name, w.body.ArgTypes, w.body.RetTypes = "stablehlo_"+cleanName(w.l.module.Name), w.n.InTypes, w.n.OutTypes
	in, err := w.args()
	if err != nil {
		return nil, err
	}
	w.l.calls = append(w.l.calls, w.main)
	out, err := w.l.block(w.main.Body, in)
	if err == nil {
		err = w.returns(out)
	}
	if err == nil {
		err = w.l.g.Err()
	}
	if err != nil {
		return nil, err
	}
	for _, op := range w.l.checks {
		w.body.ControlRets = append(w.body.ControlRets, op.Name)
	}
	return &w.body, w.graph()
}

// cleanName makes a module's name one that nodes may have.
func cleanName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, name)
}

// args adds the arguments. The index of the platform and tokens are none of the node's.
func (w *builder) args() ([]tf.Output, error) {
	in := make([]tf.Output, len(w.main.Args))
	rest, tokens := w.n.InTypes, 0
	for _, t := range w.main.Args {
		if t.Kind == stablehlo.Token {
			tokens++
		}
	}
	first := 0
	if w.platform >= 0 {
		first = 1
	}
	if len(in)-first-tokens != len(rest) {
		return nil, tf.Errorf(tf.InvalidArgument, "Incorrect number of arguments passed to XlaCallModule = %d. It must be called with %d because the module main function takes %d arguments of which %d platform index arguments, and %d token arguments.",
			len(rest), len(in)-first-tokens, len(in), first, tokens)
	}
	for i, t := range w.main.Args {
		switch {
		case i < first:
			if t.Elem != "i32" && t.Elem != "i64" || len(t.Shape) > 0 {
				return nil, tf.Errorf(tf.InvalidArgument, "Module argument at index 0 should be a 0-dimensional integer-tensor platform index argument")
			}
			in[i] = w.l.number(dtypes[t.Elem], float64(w.platform))
		case t.Kind != stablehlo.Token:
			var err error
			if in[i], err = w.arg(t); err != nil {
				return nil, err
			}
		}
	}
	return in, nil
}

// arg adds an argument. It has to have the sizes that main says.
func (w *builder) arg(t stablehlo.Type) (tf.Output, error) {
	i := len(w.body.Args)
	d, err := typeOf(&stablehlo.Op{Name: "func"}, t)
	if err != nil {
		return tf.Output{}, err
	}
	if have := w.n.InTypes[i].Base(); have != d {
		return tf.Output{}, tf.Errorf(tf.InvalidArgument, "Call parameter must match argument; got parameter %d of type %v, argument of type %v", i, d, have)
	}
	x := w.argument(d)
	y := tf.Apply(w.l.g, "EnsureShape", []tf.Output{x}, tf.Attr("shape", shapeOf(t)), tf.Name(parameterName(i)))
	return y.Output(0), y.Err()
}

// argument adds the next argument.
func (w *builder) argument(d tf.DType) tf.Output {
	i := len(w.body.Args)
	x := tf.Apply(w.l.g, "_Arg", nil, tf.Attr("T", d), tf.Attr("index", i), tf.Name(fmt.Sprintf("arg_%d", i)))
	w.body.Args = append(w.body.Args, x.Name)
	return x.Output(0)
}

// returns adds the results.
func (w *builder) returns(out []tf.Output) error {
	values := w.main.Body.Terminator().Operands
	out = tensors(values, out)
	if len(out) != len(w.n.OutTypes) {
		return tf.Errorf(tf.InvalidArgument, "XlaCallModule must have %d results, as the module main function, got Tout of %d", len(out), len(w.n.OutTypes))
	}
	for i, x := range out {
		if x.IsZero() || x.DType().Base() != w.n.OutTypes[i].Base() {
			return tf.Errorf(tf.InvalidArgument, "result %d of the module main function must be of type %v (Tout), got %v", i, w.n.OutTypes[i], x.DType())
		}
	}
	return w.returnAll(out)
}

// returnAll adds the results, which have the types of the node's.
func (w *builder) returnAll(out []tf.Output) error {
	if len(out) != len(w.n.OutTypes) {
		return tf.Errorf(tf.Internal, "a node must have %d results, got %d", len(w.n.OutTypes), len(out))
	}
	for i, x := range out {
		if err := x.Err(); err != nil {
			return err
		}
		r := tf.Apply(w.l.g, "_Retval", []tf.Output{x}, tf.Attr("index", i), tf.Name(fmt.Sprintf("result_%d", i)))
		w.body.Rets = append(w.body.Rets, r.Name)
	}
	return nil
}

// graph writes the nodes, without the values of constants.
func (w *builder) graph() error {
	w.body.Graph = &pb.GraphDef{Versions: &pb.VersionDef{Producer: core.ProducerVersion}}
	w.body.Constants = map[string]*core.Tensor{}
	for _, op := range w.needed() {
		p, err := w.node(op)
		if err != nil {
			return err
		}
		w.body.Graph.Node = append(w.body.Graph.Node, p)
	}
	return nil
}

func (w *builder) node(op *tf.Operation) (*pb.NodeDef, error) {
	if op.Role() != core.Constant {
		return op.NodeProto()
	}
	w.body.Constants[op.Name] = op.TensorAttr("value")
	p := &pb.NodeDef{Name: op.Name, Op: op.OpName(), Attr: map[string]*pb.AttrValue{"dtype": {Value: &pb.AttrValue_Type{Type: pb.DataType(op.OutTypes[0])}}}}
	for _, c := range op.ControlInputs() {
		p.Input = append(p.Input, "^"+c.Name)
	}
	return p, nil
}

// needed returns the operations that results and assertions depend on, in order. The
// loops of old have cycles.
func (w *builder) needed() []*tf.Operation {
	seen := map[*tf.Operation]bool{}
	var todo []*tf.Operation
	visit := func(op *tf.Operation) {
		if !seen[op] {
			seen[op] = true
			todo = append(todo, op)
		}
	}
	for _, name := range slices.Concat(w.body.Args, w.body.Rets, w.body.ControlRets) {
		visit(w.l.g.Operation(name))
	}
	for len(todo) > 0 {
		op := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, x := range op.Inputs() {
			visit(x.Operation())
		}
		for _, c := range op.ControlInputs() {
			visit(c)
		}
	}
	return slices.DeleteFunc(w.l.g.Operations(), func(op *tf.Operation) bool { return !seen[op] })
}

// missing lists the operations of a module that there is no rule for, all at once.
func missing(m *stablehlo.Module) error {
	lacks := map[string]bool{}
	for _, f := range m.Funcs {
		if f.Body != nil {
			lacking(f.Body, lacks)
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	var list []string
	for what := range lacks {
		list = append(list, what)
	}
	slices.Sort(list)
	return tf.Errorf(tf.Unimplemented, "the module needs what is not supported of StableHLO: %s", strings.Join(list, ", "))
}

func lacking(b *stablehlo.Block, lacks map[string]bool) {
	for _, op := range b.Ops {
		switch {
		case op == b.Terminator():
		case op.Name == "custom_call":
			if name := target(op); customCalls[name] == nil {
				lacks[fmt.Sprintf("custom_call of %q", name)] = true
			}
		case rules[op.Name] == nil && thinRules[op.Name] == nil && elementwises[op.Name].apply == nil:
			lacks[op.Name] = true
		}
		for _, r := range op.Regions {
			lacking(r, lacks)
		}
	}
}

package xla

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// XLA compiles a module for the shapes that it is called with. Most modules do as well
// without: what is computed of shapes is little beside the rest. In a loop it is computed
// in each iteration, and what a loop cuts out of its variables is of unknown size. Modules
// with such loops are not put in the place of the call. The call keeps bodies, which differ
// in nothing but the shapes that their arguments are said to have: all that follows from
// these is found when a body is optimized.

// hangsOnShapes reports whether a module takes arguments of unknown sizes and has a loop that
// depends on them.
func hangsOnShapes(m *stablehlo.Module, main *stablehlo.Func) bool {
	if !slices.ContainsFunc(main.Args, func(t stablehlo.Type) bool { return !static(t) }) {
		return false
	}
	return slices.ContainsFunc(m.Funcs, func(f *stablehlo.Func) bool { return f.Body != nil && loopsShaped(f.Body, false) })
}

// loopsShaped reports whether a block has, within loops, results of unknown sizes.
func loopsShaped(b *stablehlo.Block, looping bool) bool {
	for _, op := range b.Ops {
		if looping && slices.ContainsFunc(op.Results, func(v *stablehlo.Value) bool { return v.Type.Kind == stablehlo.Tensor && !static(v.Type) }) {
			return true
		}
		if slices.ContainsFunc(op.Regions, func(r *stablehlo.Block) bool { return loopsShaped(r, looping || op.Name == "while") }) {
			return true
		}
	}
	return false
}

// A moduleKernel calls a body that is not put in the place of its call.
type moduleKernel struct {
	body *core.FunctionBody
	open []parameter

	mu    sync.Mutex
	calls map[string]int // how often shapes have come that have no body of their own
	exact map[string]*core.FunctionBody
}

// A parameter is an argument of which the module leaves sizes open.
type parameter struct {
	arg   int
	node  int // that checks its shape, in the body's graph
	shape tf.Shape
}

// Shapes get a body of their own when they come for the second time: to make one takes
// longer than a few calls. maxExact bounds how many do.
const secondCall = 2

// newModuleKernel returns the kernel of an XlaCallModule.
func newModuleKernel(n *core.Node) (core.Kernel, error) {
	b, err := n.Def.Body(n, func(int) error { return nil })
	if err != nil {
		return nil, err
	}
	if !b.NoInline {
		return core.CallBody(n)
	}
	k, err := keepBodies(b)
	if err != nil {
		return nil, err
	}
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) { c.CallFunction(core.FuncOf(k.bodyFor(c)), done) }), nil
}

func keepBodies(b *core.FunctionBody) (*moduleKernel, error) {
	k := &moduleKernel{body: b, calls: map[string]int{}, exact: map[string]*core.FunctionBody{}}
	args := map[string]int{}
	for i := range b.Args {
		args[parameterName(i)] = i
	}
	for at, n := range b.Graph.GetNode() {
		i, ok := args[n.GetName()]
		if !ok || n.GetOp() != "EnsureShape" {
			continue
		}
		s, err := core.ShapeFromProto(n.GetAttr()["shape"].GetShape())
		if err != nil {
			return nil, err
		}
		if !s.Known() {
			k.open = append(k.open, parameter{i, at, s})
		}
	}
	return k, nil
}

// bodyFor returns the body for the inputs that there are. What is not as the module
// demands is left to the check of the one for all shapes.
func (k *moduleKernel) bodyFor(c *core.OpContext) *core.FunctionBody {
	var room [128]byte
	key := room[:0]
	for _, p := range k.open {
		s := c.Input(p.arg).Shape()
		if !p.shape.Compatible(s) {
			return k.body
		}
		key = binary.AppendUvarint(key, uint64(len(s)))
		for _, d := range s {
			key = binary.AppendUvarint(key, uint64(d))
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if b := k.exact[string(key)]; b != nil {
		return b
	}
	if len(k.exact) >= maxExact || !k.again(string(key)) {
		return k.body
	}
	b := k.ofShapes(c)
	k.exact[string(key)] = b
	return b
}

// again counts a call, and reports whether its shapes have come often enough.
func (k *moduleKernel) again(key string) bool {
	if len(k.calls) >= maxBodies && k.calls[key] == 0 {
		clear(k.calls)
	}
	k.calls[key]++
	return k.calls[key] >= secondCall
}

// ofShapes returns a body for arguments of the shapes of the inputs.
func (k *moduleKernel) ofShapes(c *core.OpContext) *core.FunctionBody {
	out := *k.body
	out.Name += fmt.Sprintf("_%d", bodyCount.Add(1))
	out.Graph = &pb.GraphDef{Versions: k.body.Graph.GetVersions(), Node: slices.Clone(k.body.Graph.GetNode())}
	for _, p := range k.open {
		n := proto.CloneOf(out.Graph.Node[p.node])
		n.Attr["shape"] = &pb.AttrValue{Value: &pb.AttrValue_Shape{Shape: core.ShapeProto(c.Input(p.arg).Shape())}}
		out.Graph.Node[p.node] = n
	}
	return &out
}

// parameterName is the name of the node that checks the shape of an argument.
func parameterName(i int) string { return fmt.Sprintf("parameter_%d", i) }

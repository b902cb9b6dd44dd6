package xla

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Operations of XLA that are others of TensorFlow's, or nothing where there is one
// device: their bodies are one node.

func init() {
	addAlias(core.OpDef{
		Name: "XlaIf", In: "cond: Tcond; inputs: Tin", Out: "output: Tout", Stateful: true,
		Attrs: "Tcond: type; then_branch: func; else_branch: func; Tin: list(type) >= 0; Tout: list(type) >= 0", Shape: unknownShape,
	}, alias{op: "If", attrs: []string{"Tcond", "then_branch", "else_branch", "Tin", "Tout"}, lowers: true})
	addAlias(core.OpDef{
		Name: "XlaWhile", In: "input: T", Out: "output: T", Stateful: true,
		Attrs: "T: list(type) >= 0; cond: func; body: func", Shape: unknownShape,
	}, alias{op: "While", attrs: []string{"T", "cond", "body"}, lowers: true})
	addAlias(core.OpDef{
		Name: "XlaReplicaId", Out: "id: int32", Shape: core.ScalarShape,
	}, alias{op: "Const", more: core.Attrs{"dtype": tf.Int32, "value": core.Scalar(int32(0))}})
	addViews()
}

// addViews adds what returns its first input: hints for compilers and for several
// devices, and sizes that are bounds only.
func addViews() {
	first := alias{op: "Identity", attrs: []string{"T"}, inputs: 1}
	addAlias(core.OpDef{
		Name: "XlaSpmdFullToShardShape", In: "input: T", Out: "output: T",
		Attrs: "T: type; manual_sharding: string; dim: int = -1; unspecified_dims: list(int) = []", Shape: core.UnchangedShape,
	}, first)
	addAlias(core.OpDef{
		Name: "XlaSpmdShardToFullShape", In: "input: T", Out: "output: T",
		Attrs: "T: type; manual_sharding: string; full_shape: shape; dim: int = -1; unspecified_dims: list(int) = []", Shape: fullShape,
	}, first)
	addAlias(core.OpDef{
		Name: "XlaRemoveDynamicDimensionSize", In: "input: T; dim_index: int32", Out: "output: T", Attrs: "T: type", Shape: unknownShape,
	}, first)
	addAlias(core.OpDef{
		Name: "XlaSetBound", In: "input: int32; bound: int32", Out: "output: int32", Shape: unknownShape,
	}, alias{op: "Identity", more: core.Attrs{"T": tf.Int32}, inputs: 1})
}

// An alias is the node that a node's body is.
type alias struct {
	op     string
	attrs  []string // that it has from the node
	more   core.Attrs
	inputs int  // how many of the node's it takes; 0: all
	lowers bool // control flow that may be put in terms of Switch and Merge
}

func addAlias(d core.OpDef, a alias) {
	d.NoGrad, d.Kernels, d.Body = core.NoGradientDefined, core.AnyType(core.CallBody), a.body
	core.Register(d)
}

func (a alias) body(n *core.Node, visit func(int) error) (*core.FunctionBody, error) {
	if err := visit(1 + len(n.InTypes) + len(n.OutTypes)); err != nil {
		return nil, err
	}
	attrs := core.Attrs{}
	for _, name := range a.attrs {
		attrs[name] = n.Attr(name)
	}
	for name, v := range a.more {
		attrs[name] = v
	}
	if a.lowers {
		attrs["_lower_using_switch_merge"] = true
	}
	p, err := core.AttrsProto(attrs)
	if err != nil {
		return nil, err
	}
	inner := &pb.NodeDef{Name: "inner", Op: a.op, Attr: p}
	b := &core.FunctionBody{Name: fmt.Sprintf("%s_%d", n.OpName(), bodyCount.Add(1)), Graph: &pb.GraphDef{Versions: &pb.VersionDef{Producer: core.ProducerVersion}},
		ArgTypes: n.InTypes, RetTypes: n.OutTypes, Stateful: n.Def.Stateful}
	for i, d := range n.InTypes {
		name := end(b, "_Arg", i, d)
		if b.Args = append(b.Args, name); a.inputs == 0 || i < a.inputs {
			inner.Input = append(inner.Input, name)
		}
	}
	b.Graph.Node = append(b.Graph.Node, inner)
	for i, d := range n.OutTypes {
		b.Rets = append(b.Rets, end(b, "_Retval", i, d, fmt.Sprintf("inner:%d", i)))
	}
	return b, nil
}

// end adds an argument or a result.
func end(b *core.FunctionBody, op string, i int, d core.DType, in ...string) string {
	p := &pb.NodeDef{Name: fmt.Sprintf("%s_%d", op, i), Op: op, Input: in, Attr: map[string]*pb.AttrValue{
		"T": {Value: &pb.AttrValue_Type{Type: pb.DataType(d.Base())}}, "index": {Value: &pb.AttrValue_I{I: int64(i)}},
	}}
	p.Name = p.Name[1:]
	b.Graph.Node = append(b.Graph.Node, p)
	return p.Name
}

package savedmodel

import (
	"context"
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// LoadFrozen is Load for a graph without variables, such as Freeze returns, whose
// inputs and outputs the program names: keys of signature "serving_default" →
// names of tensors, as in "x" → "x:0". An operation of the graph that is called
// FrozenInit is run: it fills tables. The graph becomes part of the model.
func LoadFrozen(ctx context.Context, def *pb.GraphDef, inputs, outputs map[string]string, o Options) (*Model, error) {
	if err := core.NeedContext(ctx, "LoadFrozen"); err != nil {
		return nil, err
	}
	if err := allFed(def, inputs, outputs); err != nil {
		return nil, err
	}
	sig := &pb.SignatureDef{Inputs: named(inputs), Outputs: named(outputs), MethodName: PredictMethod}
	mg := &pb.MetaGraphDef{
		MetaInfoDef: &pb.MetaGraphDef_MetaInfoDef{Tags: []string{Serve}}, GraphDef: def,
		SignatureDef: map[string]*pb.SignatureDef{DefaultSignature: sig},
	}
	if slices.ContainsFunc(def.GetNode(), func(n *pb.NodeDef) bool { return n.GetName() == FrozenInit }) {
		list := &pb.CollectionDef_NodeList{Value: []string{FrozenInit}}
		mg.CollectionDef = map[string]*pb.CollectionDef{legacyInitOp: {Kind: &pb.CollectionDef_NodeList_{NodeList: list}}}
	}
	l := &loader{mg: mg, o: o}
	if err := l.load(ctx); err != nil {
		return nil, err
	}
	s := l.m.Signature(DefaultSignature)
	if s.err != nil {
		l.m.Close()
		return nil, s.err
	}
	describe(sig.Inputs, s.ins)
	describe(sig.Outputs, s.outs)
	return l.m, nil
}

// allFed refuses outputs that take a placeholder which is no input: no call could compute them.
func allFed(def *pb.GraphDef, inputs, outputs map[string]string) error {
	nodes := map[string]*pb.NodeDef{}
	for _, n := range def.GetNode() {
		nodes[n.GetName()] = n
	}
	seen := map[string]bool{}
	for _, tensor := range inputs {
		seen[nodeOf(tensor)] = true
	}
	for _, key := range slices.Sorted(maps.Keys(outputs)) {
		for left := []string{outputs[key]}; len(left) > 0; {
			name := nodeOf(left[0])
			left = left[1:]
			if seen[name] {
				continue
			}
			seen[name] = true
			if op := core.Lookup(nodes[name].GetOp()); op != nil && op.Role == core.Fed {
				return core.Errorf(core.InvalidArgument, "the outputs of a frozen graph must take no placeholder that is not among its inputs: output %q takes %q", key, name)
			}
			left = append(left, nodes[name].GetInput()...)
		}
	}
	return nil
}

// describe adds the types and shapes that tensors have in the graph.
func describe(infos map[string]*pb.TensorInfo, specs map[string]*TensorSpec) {
	for key, spec := range specs {
		infos[key].Dtype, infos[key].TensorShape = pb.DataType(spec.DType), core.ShapeProto(spec.Shape)
	}
}

func named(names map[string]string) map[string]*pb.TensorInfo {
	out := map[string]*pb.TensorInfo{}
	for _, key := range slices.Sorted(maps.Keys(names)) {
		out[key] = &pb.TensorInfo{Encoding: &pb.TensorInfo_Name{Name: names[key]}}
	}
	return out
}

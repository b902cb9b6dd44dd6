package savedmodel

import (
	"context"
	"path/filepath"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Resave writes the model as it is now, with the values that its variables have,
// to a directory, which must not exist or be empty. The result has the model's
// signatures and assets and is loaded by its signatures: it has no graph of
// objects. A model with tables that change while it runs is refused with
// Unimplemented.
func (m *Model) Resave(ctx context.Context, dir string) error {
	mg, err := m.metaGraph(ctx)
	if err != nil {
		return err
	}
	return new(Builder).Add(mg).Save(ctx, dir)
}

// metaGraph returns the model as a MetaGraph to save.
func (m *Model) metaGraph(ctx context.Context) (MetaGraph, error) {
	mg := MetaGraph{Tags: m.meta.GetMetaInfoDef().GetTags(), Session: m.s, defs: map[string]*pb.SignatureDef{}, colls: m.meta.GetCollectionDef()}
	if mg.Tags == nil {
		mg.Tags = []string{}
	}
	for name, s := range m.sigs {
		mg.defs[name] = proto.CloneOf(s.def)
	}
	name, err := initOp(m.meta)
	if err != nil {
		return mg, err
	}
	if name != "" {
		mg.Init = m.graph.Operation(name)
	}
	if mg.Assets, err = m.assets(); err != nil {
		return mg, err
	}
	mg.vars, err = m.variables(ctx)
	return mg, err
}

// assets returns the model's files.
func (m *Model) assets() (out []Asset, err error) {
	defs, err := assetsOf(m.meta)
	for _, a := range defs {
		x, err := m.graph.Output(a.GetTensorInfo().GetName())
		if err != nil {
			return nil, err
		}
		name, err := localAsset(a.GetFilename())
		if err != nil {
			return nil, err
		}
		out = append(out, Asset{Tensor: x, File: filepath.Join(m.dir, assetsDir, name)})
	}
	return out, err
}

// mutableTables are the ops whose state a checkpoint would have to hold, too.
var mutableTables = map[string]bool{
	"MutableHashTable": true, "MutableHashTableV2": true, "MutableHashTableOfTensors": true, "MutableHashTableOfTensorsV2": true,
	"MutableDenseHashTable": true, "MutableDenseHashTableV2": true,
}

// variables returns the variables that have values. It finds them by their nodes,
// of which one variable may have several, and adds reads to the graph.
func (m *Model) variables(ctx context.Context) ([]stored, error) {
	out, seen := []stored{}, map[string]bool{}
	for _, op := range m.graph.Operations() {
		if mutableTables[op.OpName()] {
			return nil, tf.Errorf(tf.Unimplemented, "a model that is saved again must not have tables that change, node %q is a %s", op.Name, op.OpName())
		}
		v, ok := variableNode(op)
		if !ok || seen[v.key] {
			continue
		}
		seen[v.key] = true
		set, err := m.isSet(ctx, op)
		if err != nil {
			return nil, err
		}
		if !set {
			continue
		}
		v.read = op.Output(0)
		if v.read.DType() == tf.Resource {
			v.read = tf.Apply(m.graph, "ReadVariableOp", []tf.Output{op.Output(0)}, tf.Attr("dtype", v.dtype)).Output(0)
		}
		out = append(out, v)
	}
	return out, m.graph.Err()
}

// variableNode returns the variable that op stands for.
func variableNode(op *tf.Operation) (stored, bool) {
	switch op.OpName() {
	case "VarHandleOp", "VariableV2", "Variable":
	default:
		return stored{}, false
	}
	key := op.Str("shared_name")
	if key == "" {
		key = op.Name
	}
	return stored{key: key, handle: op.Output(0).Name(), dtype: op.Type("dtype")}, true
}

// isSet reports whether a variable has a value.
func (m *Model) isSet(ctx context.Context, op *tf.Operation) (bool, error) {
	x := op.Output(0)
	var set tf.Output
	if x.DType() == tf.Resource {
		set = ops.VarIsInitializedOp(x)
	} else {
		set = tf.Apply(m.graph, "IsVariableInitialized", []tf.Output{x}).Output(0)
	}
	got, err := m.s.Run(ctx, nil, set)
	if err != nil {
		return false, err
	}
	return tf.Data[bool](got[0])[0], nil
}

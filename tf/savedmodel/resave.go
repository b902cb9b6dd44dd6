package savedmodel

import (
	"cmp"
	"context"
	"path/filepath"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Resave writes the model as it is now, with the values that its variables have,
// to a directory, which must not exist or be empty. The result has the model's
// signatures, assets and functions, and its graph of objects if it has one:
// tf.saved_model.load of TensorFlow 2 then reads it. Variables that only functions
// use, and that have not been used here, keep the values of the model's checkpoint.
// Tables are saved with what they hold, but for those of the old kind, whose handles
// are references: these are refused with Unimplemented, as boosted trees are.
func (m *Model) Resave(ctx context.Context, dir string) error {
	if err := core.NeedContext(ctx, "Resave"); err != nil {
		return err
	}
	mg, err := m.metaGraph(ctx)
	if err != nil {
		return err
	}
	if m.MetaGraph().GetObjectGraphDef() != nil {
		done, err := m.keepObjects(&mg)
		if err != nil {
			return err
		}
		defer done()
	}
	return new(Builder).Add(mg).Save(ctx, dir)
}

// metaGraph returns the model as a MetaGraph to save.
func (m *Model) metaGraph(ctx context.Context) (MetaGraph, error) {
	mg := MetaGraph{Tags: m.meta.def.GetMetaInfoDef().GetTags(), Session: m.s, defs: map[string]*pb.SignatureDef{}, colls: m.meta.def.GetCollectionDef()}
	if mg.Tags == nil {
		mg.Tags = []string{}
	}
	for name, s := range m.sigs {
		mg.defs[name] = proto.CloneOf(s.def)
	}
	name, err := initOp(m.meta.def)
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
	defs, err := assetsOf(m.meta.def)
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

// tableOf returns the table that op stands for, if it is one that changes. Those whose
// handles are references cannot be exported.
func (m *Model) tableOf(op *tf.Operation) (stored, bool, error) {
	if !op.Def.Has(core.ChangingTable) {
		return stored{}, false, nil
	}
	if op.OutTypes[0] != tf.Resource {
		return stored{}, false, tf.Errorf(tf.Unimplemented, "a model that is saved again must not have tables of the old kind, node %q is a %s", op.Name, op.OpName())
	}
	keys, values := m.exportOf(op)
	return stored{key: keyOf(op), handle: op.Output(0).Name(), read: keys, values: values}, true, nil
}

// checkHeld refuses a node that stands for what is neither a variable nor a table:
// it would be empty in the copy.
func checkHeld(op, node string) error {
	if core.HasTrait(op, core.HoldsOther) {
		return tf.Errorf(tf.Unimplemented, "a model that is saved again or frozen must keep its state in variables and tables, node %q is a %s", node, op)
	}
	return nil
}

// keyOf returns what names the state of op in a checkpoint.
func keyOf(op *tf.Operation) string {
	if key := op.Str("shared_name"); key != "" {
		return key
	}
	return op.Name
}

// variables returns the variables that have values, and the tables. It finds them by
// their nodes; several nodes may stand for one variable.
func (m *Model) variables(ctx context.Context) ([]stored, error) {
	all, tables, sets, err := m.state()
	if err != nil || len(all) == 0 {
		return tables, err
	}
	set, err := m.s.Run(ctx, nil, sets...)
	if err != nil {
		return nil, err
	}
	out := tables
	for i, v := range all {
		if tf.Data[bool](set[i])[0] {
			out = append(out, v)
		}
	}
	return out, nil
}

// state returns all variables and tables, and for each variable whether it has a value. It
// adds reads to the graph: all of them before anything runs, because a graph that grows is
// planned again.
func (m *Model) state() (all, tables []stored, sets []tf.Fetchable, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := map[string]bool{}
	for _, op := range m.graph.Operations() {
		if err := checkHeld(op.OpName(), op.Name); err != nil {
			return nil, nil, nil, err
		}
		t, ok, err := m.tableOf(op)
		if err != nil {
			return nil, nil, nil, err
		}
		if ok && !seen[t.key] {
			seen[t.key] = true
			tables = append(tables, t)
		}
		v, ok := variableNode(op)
		if !ok || seen[v.key] {
			continue
		}
		seen[v.key] = true
		v.read = m.readOf(op)
		set := m.isSet(op)
		if err := cmp.Or(v.read.Err(), set.Err()); err != nil {
			return nil, nil, nil, err
		}
		all, sets = append(all, v), append(sets, set)
	}
	return all, tables, sets, nil
}

// variableNode returns the variable that op stands for.
func variableNode(op *tf.Operation) (stored, bool) {
	if !op.Def.Has(core.HoldsVariable) {
		return stored{}, false
	}
	return stored{key: keyOf(op), handle: op.Output(0).Name(), dtype: op.Type("dtype")}, true
}

// readOf returns the value of the variable that op stands for. The caller holds m.mu.
func (m *Model) readOf(op *tf.Operation) tf.Output {
	x := op.Output(0)
	if x.DType() != tf.Resource {
		return x
	}
	return m.added("read", op.Name, func() *tf.Operation {
		return tf.Apply(op.Graph(), "ReadVariableOp", []tf.Output{x}, tf.Attr("dtype", op.Type("dtype")))
	}).Output(0)
}

// isSet returns whether the variable that op stands for has a value. The caller holds m.mu.
func (m *Model) isSet(op *tf.Operation) tf.Output {
	kind, x := "VarIsInitializedOp", op.Output(0)
	if x.DType() != tf.Resource {
		kind = "IsVariableInitialized"
	}
	return m.added("set", op.Name, func() *tf.Operation { return tf.Apply(op.Graph(), kind, []tf.Output{x}) }).Output(0)
}

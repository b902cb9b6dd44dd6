package savedmodel

import (
	"context"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// FrozenInit names the operation of a frozen graph that fills its tables: what
// TensorFlow 1's tf.tables_initializer adds has this name, too. Programs run it once
// before anything else; [LoadFrozen] does.
const FrozenInit = "init_all_tables"

// fills are the operations that fill tables by constants, by the kind of the table,
// with the names of the attributes that have the types of keys and values. Where
// handles are resources the names of all end in V2.
var fills = map[string]struct{ op, key, value string }{
	"HashTable":                 {"InitializeTable", "Tkey", "Tval"},
	"MutableHashTable":          {"LookupTableImport", "Tin", "Tout"},
	"MutableHashTableOfTensors": {"LookupTableImport", "Tin", "Tout"},
}

// freezeTables adds constants with what tables hold now, and the operation FrozenInit
// that fills them.
func (f *freezer) freezeTables(ctx context.Context, m *Model) error {
	var tables []*tf.Operation
	var contents []tf.Fetchable
	seen := map[string]bool{} // several nodes may stand for one table
	for _, n := range f.def.GetNode() {
		if err := checkHeld(n.GetOp(), n.GetName()); err != nil {
			return err
		}
		if !strings.Contains(n.GetOp(), "HashTable") {
			continue
		}
		op, err := m.frozenTable(n)
		if err != nil {
			return err
		}
		if key := keyOf(op); !seen[key] {
			seen[key] = true
			keys, values := exportOf(op)
			tables, contents = append(tables, op), append(contents, keys, values)
		}
	}
	if tables == nil {
		return nil
	}
	if f.nodes[FrozenInit] != nil {
		return tf.Errorf(tf.InvalidArgument, "a graph with tables that is frozen must not have a node %q", FrozenInit)
	}
	got, err := m.s.Run(ctx, nil, contents...)
	if err != nil {
		return err
	}
	all := &pb.NodeDef{Name: FrozenInit, Op: "NoOp"}
	for i, op := range tables {
		all.Input = append(all.Input, "^"+f.fill(op, got[2*i], got[2*i+1]))
	}
	f.def.Node = append(f.def.Node, all)
	f.index()
	return nil
}

// frozenTable returns the operation of the model that a node of a table stands for.
func (m *Model) frozenTable(n *pb.NodeDef) (*tf.Operation, error) {
	if _, ok := fills[strings.TrimSuffix(n.GetOp(), "V2")]; !ok {
		return nil, tf.Errorf(tf.Unimplemented, "a frozen graph must have tables of kinds that can be filled by constants, node %q is a %s", n.GetName(), n.GetOp())
	}
	op := m.graph.Operation(n.GetName())
	if op == nil {
		return nil, tf.Errorf(tf.Unimplemented, "tables must belong to the graph, node %q belongs to a function", n.GetName())
	}
	return op, nil
}

// exportOf returns what a table holds.
func exportOf(op *tf.Operation) (keys, values tf.Output) {
	name, handle := "LookupTableExportV2", op.Output(0)
	if handle.DType() != tf.Resource {
		name = "LookupTableExport"
	}
	e := tf.Apply(op.Graph(), name, []tf.Output{handle}, tf.Attr("Tkeys", op.Type("key_dtype")), tf.Attr("Tvalues", op.Type("value_dtype")))
	return e.Output(0), e.Output(1)
}

// fill adds the operation that fills a table and returns its name.
func (f *freezer) fill(op *tf.Operation, keys, values *tf.Tensor) string {
	kind, resource := strings.CutSuffix(op.OpName(), "V2")
	by := fills[kind]
	if resource {
		by.op += "V2"
	}
	n := &pb.NodeDef{
		Name: f.free(op.Name + "/fill"), Op: by.op,
		Input: []string{op.Name, f.constant(op.Name+"/keys", keys), f.constant(op.Name+"/values", values)},
		Attr:  map[string]*pb.AttrValue{by.key: typeAttr(pb.DataType(keys.DType())), by.value: typeAttr(pb.DataType(values.DType()))},
	}
	f.def.Node, f.nodes[n.Name] = append(f.def.Node, n), n
	return n.Name
}

// constant adds a constant and returns its name.
func (f *freezer) constant(name string, t *tf.Tensor) string {
	n := &pb.NodeDef{Name: f.free(name), Op: "Const", Attr: map[string]*pb.AttrValue{
		"dtype": typeAttr(pb.DataType(t.DType())), "value": {Value: &pb.AttrValue_Tensor{Tensor: core.TensorProto((*core.Tensor)(t))}},
	}}
	f.def.Node, f.nodes[n.Name] = append(f.def.Node, n), n
	return n.Name
}

// free returns a name that no node has.
func (f *freezer) free(name string) string {
	for f.nodes[name] != nil {
		name += "_1"
	}
	return name
}

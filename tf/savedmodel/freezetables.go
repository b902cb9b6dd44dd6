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
	tables, contents, err := f.tables(m)
	if err != nil || tables == nil {
		return err
	}
	if f.nodes[FrozenInit] != nil {
		return tf.Errorf(tf.InvalidArgument, "a graph with tables that is frozen must not have a node %q", FrozenInit)
	}
	got, err := m.s.Run(ctx, nil, contents...)
	if err != nil {
		return err
	}
	all := &pb.NodeDef{Name: FrozenInit, Op: "NoOp"}
	for i, n := range tables {
		all.Input = append(all.Input, "^"+f.fill(n, got[2*i], got[2*i+1]))
	}
	f.def.Node = append(f.def.Node, all)
	f.index()
	return nil
}

// tables returns the nodes of tables, and what exports the keys and the values of each.
func (f *freezer) tables(m *Model) (tables []*pb.NodeDef, contents []tf.Fetchable, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := map[string]bool{} // several nodes may stand for one table
	for _, n := range f.def.GetNode() {
		if err := checkHeld(n.GetOp(), n.GetName()); err != nil {
			return nil, nil, err
		}
		if !strings.Contains(n.GetOp(), "HashTable") {
			continue
		}
		op, err := m.frozenTable(n)
		if err != nil {
			return nil, nil, err
		}
		if key := op.Str("container") + "/" + keyOf(op); !seen[key] {
			seen[key] = true
			keys, values := m.exportOf(op)
			tables, contents = append(tables, n), append(contents, keys, values)
		}
	}
	return tables, contents, nil
}

// frozenTable returns an operation of the model's graph that stands for the same table
// as n. Where n comes from a function that is a new one: TensorFlow 2 makes tables in
// functions, and names them, so that all nodes with the name stand for one table.
func (m *Model) frozenTable(n *pb.NodeDef) (*tf.Operation, error) {
	if _, ok := fills[strings.TrimSuffix(n.GetOp(), "V2")]; !ok {
		return nil, tf.Errorf(tf.Unimplemented, "a frozen graph must have tables of kinds that can be filled by constants, node %q is a %s", n.GetName(), n.GetOp())
	}
	if op := m.graph.Operation(n.GetName()); op != nil {
		return op, nil
	}
	opts, err := namedTable(n)
	if err != nil {
		return nil, err
	}
	return m.added("table", n.GetName(), func() *tf.Operation { return tf.Apply(m.graph, n.GetOp(), nil, opts...) }), nil
}

// namedTable returns the attributes of a node that stands for the same table as n,
// whatever its own name is.
func namedTable(n *pb.NodeDef) ([]tf.Option, error) {
	attr := n.GetAttr()
	name := string(attr["shared_name"].GetS())
	if name == "" && attr["use_node_name_sharing"].GetB() {
		name = n.GetName()
	}
	if name == "" {
		return nil, tf.Errorf(tf.Unimplemented, "tables that functions make must have a shared name, node %q has none", n.GetName())
	}
	opts := []tf.Option{
		tf.Attr("key_dtype", tf.DType(attr["key_dtype"].GetType())), tf.Attr("value_dtype", tf.DType(attr["value_dtype"].GetType())),
		tf.Attr("container", string(attr["container"].GetS())), tf.Attr("shared_name", name),
	}
	if attr["value_shape"] == nil {
		return opts, nil
	}
	shape, err := core.ShapeFromProto(attr["value_shape"].GetShape())
	return append(opts, tf.Attr("value_shape", shape)), err
}

// exportOf returns what a table holds. The caller holds m.mu.
func (m *Model) exportOf(op *tf.Operation) (keys, values tf.Output) {
	name, handle := "LookupTableExportV2", op.Output(0)
	if handle.DType() != tf.Resource {
		name = "LookupTableExport"
	}
	e := m.added("export", op.Name, func() *tf.Operation {
		return tf.Apply(op.Graph(), name, []tf.Output{handle}, tf.Attr("Tkeys", op.Type("key_dtype")), tf.Attr("Tvalues", op.Type("value_dtype")))
	})
	return e.Output(0), e.Output(1)
}

// fill adds the operation that fills the table of a node and returns its name.
func (f *freezer) fill(table *pb.NodeDef, keys, values *tf.Tensor) string {
	name := table.GetName()
	kind, resource := strings.CutSuffix(table.GetOp(), "V2")
	by := fills[kind]
	if resource {
		by.op += "V2"
	}
	n := &pb.NodeDef{
		Name: f.free(name + "/fill"), Op: by.op,
		Input: []string{name, f.constant(name+"/keys", keys), f.constant(name+"/values", values)},
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

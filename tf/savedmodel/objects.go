package savedmodel

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
	"github.com/gorge-tf/gorge/tf/pb"
)

// objectRestore sets variables by their paths in the graph of objects. It is for
// models whose restore operation sets other variables than the signatures read.
type objectRestore struct {
	handles map[string]int32 // node of a variable's handle → object
}

// planRestore returns how to restore the variables of mg by objects, nil if its
// restore operation does: if it reaches the very nodes that functions get. What the
// initialization sets is left to it.
func planRestore(mg *pb.MetaGraphDef, n *needs) *objectRestore {
	if mg.GetObjectGraphDef() == nil {
		return nil
	}
	handles, wanted := boundHandles(mg, n)
	restored := n.reach(mg.GetSaverDef().GetRestoreOpName())
	var initialized map[string]bool
	if name, err := initOp(mg); err == nil {
		initialized = n.reach(name)
	}
	maps.DeleteFunc(handles, func(node string, _ int32) bool { return initialized[node] && !restored[node] })
	for node := range handles {
		wanted = wanted || !restored[node]
	}
	if !wanted || len(handles) == 0 {
		return nil
	}
	for node, object := range handles {
		d := n.nodes[node]
		if d.Attr == nil {
			d.Attr = map[string]*pb.AttrValue{}
		}
		d.Attr["shared_name"] = &pb.AttrValue{Value: &pb.AttrValue_S{S: []byte(sharedName(object))}}
	}
	return &objectRestore{handles}
}

// sharedName returns the identity of a variable that is restored by its object.
func sharedName(object int32) string { return fmt.Sprintf("object/%d", object) }

// identity returns what tells a variable from others in a session.
func identity(d *pb.NodeDef) string {
	name := string(d.GetAttr()["shared_name"].GetS())
	if name == "" {
		name = d.GetName()
	}
	return string(d.GetAttr()["container"].GetS()) + "\x00" + name
}

// boundHandles returns the objects that are bound to handles of variables in
// calls of functions. It also reports whether two objects have one identity.
func boundHandles(mg *pb.MetaGraphDef, n *needs) (handles map[string]int32, clash bool) {
	handles = map[string]int32{}
	owner := map[string]int32{}
	eachBound(mg, n, func(h *pb.NodeDef, _ string, object int32) {
		if !isHandle(h) || savedVariable(mg, object) == nil {
			return
		}
		handles[h.GetName()] = object
		if first, ok := owner[identity(h)]; ok && first != object {
			clash = true
		}
		owner[identity(h)] = object
	})
	return handles, clash
}

// eachBound calls f for each object that is bound to an input of a call in the
// graph, with the node and the output that stand for it there.
func eachBound(mg *pb.MetaGraphDef, n *needs, f func(node *pb.NodeDef, output string, object int32)) {
	functions := mg.GetObjectGraphDef().GetConcreteFunctions()
	for _, d := range n.nodes {
		bound := functions[d.GetAttr()["f"].GetFunc().GetName()].GetBoundInputs()
		in := dataInputs(d)
		if len(bound) == 0 || len(bound) > len(in) {
			continue
		}
		for i, object := range bound {
			output := in[len(in)-len(bound)+i]
			if h := n.nodes[nodeOf(output)]; h != nil {
				f(h, output, object)
			}
		}
	}
}

func dataInputs(d *pb.NodeDef) []string {
	for i, in := range d.GetInput() {
		if strings.HasPrefix(in, "^") {
			return d.GetInput()[:i]
		}
	}
	return d.GetInput()
}

// savedVariable returns object as a variable, nil if it is none.
func savedVariable(mg *pb.MetaGraphDef, object int32) *pb.SavedVariable {
	return savedObject(mg, object).GetVariable()
}

func savedObject(mg *pb.MetaGraphDef, object int32) *pb.SavedObject {
	all := mg.GetObjectGraphDef().GetNodes()
	if object < 0 || int(object) >= len(all) {
		return nil
	}
	return all[object]
}

// run restores the variables from the checkpoint of a prefix. If that holds more
// than variables, such as the contents of tables, the restore operation runs, too.
func (r *objectRestore) run(ctx context.Context, l *loader, prefix string) error {
	assigns, file, err := r.add(l.m, prefix)
	if err != nil {
		return err
	}
	if len(assigns) > 0 {
		if err := l.settle(ctx, file); err != nil {
			return err
		}
		if _, err := l.m.s.Run(ctx, nil, assigns...); err != nil {
			return err
		}
	}
	b, err := bundle.Open(prefix)
	if err != nil {
		return err
	}
	defer b.Close()
	if more, err := holdsMore(b); err != nil || !more {
		return err
	}
	return l.runRestore(ctx, prefix)
}

// restore adds operations that restore the variables to the graph and runs them.
func (r *objectRestore) restore(ctx context.Context, m *Model, prefix string) error {
	assigns, _, err := r.add(m, prefix)
	if err != nil || len(assigns) == 0 {
		return err
	}
	_, err = m.s.Run(ctx, nil, assigns...)
	return err
}

// add adds operations that restore the variables to the graph. It returns them and the constant that is
// the file's prefix.
func (r *objectRestore) add(m *Model, prefix string) (assigns []tf.Fetchable, file tf.Output, err error) {
	nodes := slices.Sorted(maps.Keys(r.handles))
	names, types, err := r.find(m, prefix, nodes)
	if err != nil || len(names) == 0 {
		return nil, file, err
	}
	g := m.graph
	file = ops.ConstTensor(g, tf.Scalar(prefix))
	values := checkpoint.RestoreV2(file, ops.Const(g, names), ops.Const(g, make([]string, len(names))), types)
	for i, node := range nodes {
		handle, err := g.Output(node + ":0")
		if err != nil {
			return nil, file, err
		}
		assigns = append(assigns, assign(handle, values[i], types[i]))
	}
	return assigns, file, nil
}

// find returns where the checkpoint has the variables of nodes.
func (r *objectRestore) find(m *Model, prefix string, nodes []string) (names []string, types []tf.DType, err error) {
	b, err := bundle.Open(prefix)
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	keys, err := checkpointKeys(b, m.MetaGraph().GetObjectGraphDef())
	if err != nil {
		return nil, nil, err
	}
	for _, node := range nodes {
		key := keys[r.handles[node]]
		if key == "" {
			return nil, nil, tf.Errorf(tf.NotFound, "the checkpoint must have a value for the variable of node %q, object %d of the graph of objects", node, r.handles[node])
		}
		e, err := b.Entry(key)
		if err != nil {
			return nil, nil, err
		}
		names, types = append(names, key), append(types, e.DType)
	}
	return names, types, nil
}

// bindObjects notes the nodes that stand for objects in calls of the graph: what
// the model has restored and initialized.
func (m *Model) bindObjects(n *needs) {
	eachBound(m.MetaGraph(), n, func(node *pb.NodeDef, output string, object int32) {
		if x, err := m.graph.Output(output); err == nil && core.RoleOf(node.GetOp()) != core.Fed {
			m.objects[object] = x
		}
	})
}

// holdsMore reports whether a checkpoint has values of other objects than
// variables.
func holdsMore(b *bundle.Reader) (bool, error) {
	keys, err := b.Keys()
	for _, k := range keys {
		if k != bundle.ObjectsKey && !strings.HasSuffix(k, "/"+bundle.VariableValue) {
			return true, err
		}
	}
	return false, err
}

// checkpointKeys returns the key of each variable of a graph of objects in a
// checkpoint. An object is found by its path from the root, which both have.
func checkpointKeys(b *bundle.Reader, saved *pb.SavedObjectGraph) (map[int32]string, error) {
	tracked, err := b.Objects()
	if err != nil {
		return nil, err
	}
	keys := map[int32]string{}
	type pair struct{ saved, tracked int32 }
	seen, queue := map[int32]bool{}, []pair{{}}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		if seen[p.saved] || !inRange(p.saved, saved.GetNodes()) || !inRange(p.tracked, tracked.GetNodes()) {
			continue
		}
		seen[p.saved] = true
		t := tracked.GetNodes()[p.tracked]
		for _, a := range t.GetAttributes() {
			if a.GetName() == bundle.VariableValue {
				keys[p.saved] = a.GetCheckpointKey()
			}
		}
		byName := map[string]int32{}
		for _, c := range t.GetChildren() {
			byName[c.GetLocalName()] = c.GetNodeId()
		}
		for _, c := range saved.GetNodes()[p.saved].GetChildren() {
			if to, ok := byName[c.GetLocalName()]; ok {
				queue = append(queue, pair{c.GetNodeId(), to})
			}
		}
	}
	return keys, nil
}

func inRange[T any](i int32, s []T) bool { return i >= 0 && int(i) < len(s) }

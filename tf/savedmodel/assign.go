package savedmodel

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Assign gives variables values, such as the weights of a Keras model that NumPy has
// written:
//
//	import numpy as np
//	np.savez("weights.npz", **{w.path: w.numpy() for w in model.weights})
//
// A key names a variable by the name that it has in the model, as in "dense/kernel",
// or by the path of its object, as in "layers/0/kernel"; dots may stand for slashes,
// and a ":0" at the end counts for nothing. All is checked before any variable
// changes: a key that names no variable or several is NotFound or InvalidArgument,
// and so is a value of another type or shape than the variable. Variables that no
// key names keep their values.
func (m *Model) Assign(ctx context.Context, values map[string]*tf.Tensor) error {
	if err := core.NeedContext(ctx, "Assign"); err != nil {
		return err
	}
	handles, err := m.chosen(slices.Sorted(maps.Keys(values)))
	if err != nil {
		return err
	}
	keyOfHandle := map[string]string{}
	feeds := map[tf.Output]tf.Value{}
	var assigns []tf.Fetchable
	for _, key := range slices.Sorted(maps.Keys(values)) {
		h, v := handles[key], values[key]
		name := h.op.Name
		if first, ok := keyOfHandle[name]; ok {
			return tf.Errorf(tf.InvalidArgument, "keys must name different variables, %q and %q name the same", first, key)
		}
		keyOfHandle[name] = key
		if v == nil || v.DType() != h.dtype() || !h.shape().Compatible(v.Shape()) {
			return tf.Errorf(tf.InvalidArgument, "the value of %q must be %v of shape %v, got %v", key, h.dtype(), h.shape(), v)
		}
	}
	m.mu.Lock()
	for key, h := range handles {
		op := m.assignment(h)
		if op.Err() == nil { // else Run returns it
			feeds[op.Input(1)] = values[key]
		}
		assigns = append(assigns, op)
	}
	m.mu.Unlock()
	if len(assigns) == 0 {
		return nil
	}
	_, err = m.s.Run(ctx, feeds, assigns...)
	return err
}

// assignment returns the operation that assigns a value, its second input, to a variable.
// The caller holds m.mu.
func (m *Model) assignment(h assignable) *tf.Operation {
	return m.added("assign", h.op.Name, func() *tf.Operation {
		x := ops.Placeholder(m.graph, h.dtype(), h.shape(), tf.Name("assign/value"))
		return assign(h.op.Output(0), x, h.dtype())
	})
}

// assignable is a variable that a key names.
type assignable struct{ op *tf.Operation }

func (a assignable) dtype() tf.DType { return a.op.Type("dtype") }
func (a assignable) shape() tf.Shape { return a.op.ShapeAttr("shape") }

// chosen finds the variables that keys name.
func (m *Model) chosen(keys []string) (map[string]assignable, error) {
	names := m.variableNames()
	out := map[string]assignable{}
	var unknown []string
	for _, key := range keys {
		found := names[plainKey(key)]
		switch len(found) {
		case 0:
			unknown = append(unknown, key)
		case 1:
			for _, op := range found {
				out[key] = assignable{op}
			}
		default:
			return nil, tf.Errorf(tf.InvalidArgument, "a key must name one variable, %q names %d: name them by the paths of their objects", key, len(found))
		}
	}
	if unknown != nil {
		return nil, tf.Errorf(tf.NotFound, "the model has no variables %s; it has %s", strings.Join(unknown, ", "), strings.Join(slices.Sorted(maps.Keys(names)), ", "))
	}
	return out, nil
}

// plainKey is a key in the form in which names are compared.
func plainKey(key string) string {
	return strings.ReplaceAll(strings.TrimSuffix(key, ":0"), ".", "/")
}

// variableNames returns the variables by all names that they have: for each name by
// what tells the variables apart.
func (m *Model) variableNames() map[string]map[string]*tf.Operation {
	out := map[string]map[string]*tf.Operation{}
	note := func(name string, op *tf.Operation) {
		if out[name] == nil {
			out[name] = map[string]*tf.Operation{}
		}
		out[name][keyOf(op)] = op
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	handles := map[int32]*tf.Operation{}
	for object, x := range m.objects {
		if _, ok := variableNode(x.Operation()); ok {
			handles[object] = x.Operation()
			note(plainKey(savedVariable(m.MetaGraph(), object).GetName()), x.Operation())
		}
	}
	for path, object := range objectPaths(m.MetaGraph()) {
		if op := handles[object]; op != nil {
			note(path, op)
		}
	}
	if m.MetaGraph().GetObjectGraphDef() == nil {
		for _, op := range m.graph.Operations() {
			if _, ok := variableNode(op); ok {
				note(plainKey(keyOf(op)), op)
			}
		}
	}
	return out
}

// How many paths are looked at, and how many bytes they may have together: a graph of
// objects may have more of them than anybody wants to name, and longer ones.
const (
	maxPaths     = 100_000
	maxPathBytes = 64 << 20
)

// objectPaths returns the objects of a graph by paths that lead to them from the root:
// for each parent by the shortest path to it.
func objectPaths(mg *pb.MetaGraphDef) map[string]int32 {
	type step struct {
		path   string
		object int32
	}
	out := map[string]int32{}
	seen, size := map[int32]bool{0: true}, 0
	for queue := []step{{"", 0}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, c := range savedObject(mg, at.object).GetChildren() {
			if len(out) == maxPaths || size > maxPathBytes {
				return out
			}
			path := strings.TrimPrefix(at.path+"/"+plainKey(c.GetLocalName()), "/")
			out[path] = c.GetNodeId()
			size += len(path)
			if !seen[c.GetNodeId()] {
				seen[c.GetNodeId()] = true
				queue = append(queue, step{path, c.GetNodeId()})
			}
		}
	}
	return out
}

package savedmodel

import (
	"errors"
	"io/fs"
	"os"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// keepObjects adds the graph of objects to a model that is saved again. TensorFlow 2
// finds variables by it, under the keys that the checkpoint's own graph of objects
// says: variables get these keys, and what the checkpoint has besides is copied. The
// caller calls done when the model has been written.
func (m *Model) keepObjects(mg *MetaGraph) (done func(), err error) {
	mg.objects = m.MetaGraph().GetObjectGraphDef()
	if _, err := os.Stat(m.prefix() + ".index"); errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	b, err := bundle.Open(m.prefix())
	if err != nil {
		return nil, err
	}
	if err := m.keepKeys(mg, b); err != nil {
		b.Close()
		return nil, err
	}
	return b.Close, nil
}

// keepKeys gives the variables of mg the keys that they have in a checkpoint, and
// adds to them what else is there.
func (m *Model) keepKeys(mg *MetaGraph, b *bundle.Reader) error {
	keys, err := checkpointKeys(b, mg.objects)
	if err != nil {
		return err
	}
	names := m.objectKeys(keys)
	have := map[string]bool{}
	for i := range mg.vars {
		v := &mg.vars[i]
		if key := names[v.key]; key != "" && !v.isTable() {
			v.key = key
		}
		for _, e := range v.entries() {
			have[e.key] = true
		}
	}
	all, err := b.Keys()
	if err != nil {
		return err
	}
	for _, key := range all {
		if !have[key] {
			mg.vars = append(mg.vars, stored{key: key, from: b})
		}
	}
	return nil
}

// objectKeys returns the keys in the checkpoint of the variables that the graph has,
// by the names that variables tells them apart by.
func (m *Model) objectKeys(keys map[int32]string) map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]string{}
	for object, handle := range m.objects {
		if savedVariable(m.MetaGraph(), object) == nil || handle.Operation() == nil {
			continue
		}
		if _, ok := variableNode(handle.Operation()); ok && core.RoleOf(handle.Operation().OpName()) != core.Fed && handle.DType() == tf.Resource {
			out[keyOf(handle.Operation())] = keys[object]
		}
	}
	return out
}

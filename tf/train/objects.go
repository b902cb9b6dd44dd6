package train

import (
	"strings"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// objectNames say under which keys a checkpoint of TensorFlow 2 has the variables of
// its objects.
type objectNames struct {
	graph  *pb.TrackableObjectGraph
	byName map[string]string // full name → key
	byKey  map[string]string // and back
}

// objects returns the names of an object-based checkpoint, nil for one that is based
// on names.
func (r *CheckpointReader) objects() (*objectNames, error) {
	if r.v2 == nil {
		return nil, nil
	}
	r.once.Do(func() {
		g, err := r.v2.Objects()
		if err != nil {
			if tf.CodeOf(err) != tf.NotFound {
				r.namesErr = err
			}
			return
		}
		r.names = namesOf(g)
	})
	return r.names, r.namesErr
}

// namesOf collects the names of variables. If several have one name, the last one has
// it, as in TensorFlow.
func namesOf(g *pb.TrackableObjectGraph) *objectNames {
	o := &objectNames{graph: g, byName: map[string]string{}, byKey: map[string]string{}}
	for _, n := range g.GetNodes() {
		for _, a := range n.GetAttributes() {
			o.byName[a.GetFullName()] = a.GetCheckpointKey()
			o.byKey[a.GetCheckpointKey()] = a.GetFullName()
		}
	}
	return o
}

// Key returns the key under which the checkpoint has a tensor. name is the key
// itself; or, in a checkpoint of TensorFlow 2 or Keras, the full name that a variable
// had when it was written ("sequential/dense/kernel"); or its path from the root, by
// the names that objects have for each other ("model/_operations/1/bias"), where a
// dot in a name is written "..", a slash ".S".
func (r *CheckpointReader) Key(name string) (key string, ok bool) {
	if r == nil {
		return "", false
	}
	if _, ok := r.infos[name]; ok {
		return name, true
	}
	o, err := r.objects()
	if err != nil || o == nil {
		return "", false
	}
	if key, ok = o.byName[name]; !ok {
		key, ok = o.atPath(name)
	}
	if ok {
		_, ok = r.infos[key]
	}
	return key, ok
}

const attributes = "/.ATTRIBUTES/"

// atPath returns the key of an attribute of the object at a path: that which the path
// ends with, else that of a variable's value, else the only one.
func (o *objectNames) atPath(path string) (key string, ok bool) {
	path, attribute, given := strings.Cut(path, attributes)
	n := o.object(path)
	if n == nil {
		return "", false
	}
	if !given {
		attribute = bundle.VariableValue
	}
	for _, a := range n.GetAttributes() {
		if a.GetName() == attribute {
			return a.GetCheckpointKey(), true
		}
	}
	if all := n.GetAttributes(); !given && len(all) == 1 {
		return all[0].GetCheckpointKey(), true
	}
	return "", false
}

// object returns the object at a path from the root, nil if there is none.
func (o *objectNames) object(path string) *pb.TrackableObjectGraph_TrackableObject {
	if len(o.graph.GetNodes()) == 0 {
		return nil
	}
	n := o.graph.GetNodes()[0]
	for _, name := range strings.Split(path, "/") {
		next := int32(-1)
		for _, c := range n.GetChildren() {
			if escaped(c.GetLocalName()) == name {
				next = c.GetNodeId()
			}
		}
		if next < 0 {
			return nil
		}
		n = o.graph.GetNodes()[next]
	}
	return n
}

// escaped returns a name as keys have it.
func escaped(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, ".", ".."), "/", ".S")
}

package bundle

import (
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// ObjectsKey is the key of the graph of objects in a checkpoint of TensorFlow 2, a
// serialized TrackableObjectGraph. VariableValue is the name of the attribute that
// has the value of a variable.
const (
	ObjectsKey    = "_CHECKPOINTABLE_OBJECT_GRAPH"
	VariableValue = "VARIABLE_VALUE"
)

// Objects returns the graph of objects of a checkpoint that tf.train.Checkpoint or
// Keras has written. It fails with NotFound for one that is based on names, and with
// DataLoss if objects refer to others that are not there.
func (r *Reader) Objects() (*pb.TrackableObjectGraph, error) {
	t, err := r.Lookup(ObjectsKey)
	if err != nil {
		return nil, err
	}
	defer t.Release()
	if t.DType() != core.String || t.Len() != 1 {
		return nil, core.Errorf(core.DataLoss, "%s must be a string, got %v%v", ObjectsKey, t.DType(), t.Shape())
	}
	g := &pb.TrackableObjectGraph{}
	if err := proto.Unmarshal([]byte(core.Data[string](t)[0]), g); err != nil {
		return nil, core.Errorf(core.DataLoss, "%s must be a graph of objects: %v", ObjectsKey, err)
	}
	for i, n := range g.GetNodes() {
		for _, c := range n.GetChildren() {
			if id := c.GetNodeId(); id < 0 || int(id) >= len(g.GetNodes()) {
				return nil, core.Errorf(core.DataLoss, "%s must have the child %q of object %d, got number %d of %d", ObjectsKey, c.GetLocalName(), i, id, len(g.GetNodes()))
			}
		}
	}
	return g, nil
}

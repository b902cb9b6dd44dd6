package bundle

import (
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// objectsIn writes a bundle whose graph of objects is t, none if that is nil, and
// reads it.
func objectsIn(tb testing.TB, t *core.Tensor) (*pb.TrackableObjectGraph, error) {
	tb.Helper()
	prefix := filepath.Join(tb.TempDir(), "m")
	w, err := Create(prefix)
	if err == nil {
		err = w.Add("x", core.Scalar(int32(1)))
	}
	if err == nil && t != nil {
		err = w.Add(ObjectsKey, t)
	}
	if err == nil {
		err = w.Finish()
	}
	if err != nil {
		tb.Fatal(err)
	}
	r, err := Open(prefix)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	return r.Objects()
}

func serialized(tb testing.TB, child int32) *core.Tensor {
	tb.Helper()
	b, err := proto.Marshal(&pb.TrackableObjectGraph{Nodes: []*pb.TrackableObjectGraph_TrackableObject{{
		Children: []*pb.TrackableObjectGraph_TrackableObject_ObjectReference{{NodeId: child, LocalName: "self"}},
	}}})
	if err != nil {
		tb.Fatal(err)
	}
	return core.Scalar(string(b))
}

// TestObjects reads graphs of objects, and refuses what is none.
func TestObjects(t *testing.T) {
	if g, err := objectsIn(t, serialized(t, 0)); err != nil || len(g.GetNodes()) != 1 {
		t.Error(g, err)
	}
	_, err := objectsIn(t, nil)
	fails(t, err, core.NotFound, "not found in checkpoint")
	for _, bad := range []*core.Tensor{core.Scalar(int64(1)), core.Scalar("no graph"), core.NewTensor(core.String, core.Shape{2}), serialized(t, 1), serialized(t, -1)} {
		_, err := objectsIn(t, bad)
		fails(t, err, core.DataLoss, ObjectsKey)
	}
}

package savedmodel

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/pb"
)

// TestPackedMetaGraph: a MetaGraph says the same when its graph of objects is encoded, fields that are
// not known included, and to goroutines that ask at once.
func TestPackedMetaGraph(t *testing.T) {
	want := &pb.MetaGraphDef{
		MetaInfoDef: &pb.MetaGraphDef_MetaInfoDef{Tags: []string{Serve}}, SaverDef: &pb.SaverDef{RestoreOpName: "restore"},
		CollectionDef: map[string]*pb.CollectionDef{"c": {}}, SignatureDef: map[string]*pb.SignatureDef{"s": {MethodName: "m"}},
		AssetFileDef: []*pb.AssetFileDef{{Filename: "a"}}, ObjectGraphDef: &pb.SavedObjectGraph{ConcreteFunctions: map[string]*pb.SavedConcreteFunction{"f": {BoundInputs: []int32{1, 2}}}},
	}
	for i := range 100 {
		want.ObjectGraphDef.Nodes = append(want.ObjectGraphDef.Nodes, &pb.SavedObject{RegisteredName: fmt.Sprint("object ", i)})
	}
	want.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 7))
	m := &metaGraph{def: proto.CloneOf(want)}
	m.pack()
	if m.def.ObjectGraphDef != nil {
		t.Error("the graph of objects must be encoded")
	}
	for range 2 {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if got := m.whole(); !proto.Equal(got, want) {
					t.Errorf("the MetaGraph is %v, want %v", got, want)
				}
			})
		}
		all.Wait()
		runtime.GC() // what was decoded goes
	}
}

// TestMetaGraphWithoutObjects: there is nothing to encode in models of TensorFlow 1.
func TestMetaGraphWithoutObjects(t *testing.T) {
	m := &metaGraph{def: &pb.MetaGraphDef{SaverDef: &pb.SaverDef{}}}
	m.pack()
	if m.whole() != m.def {
		t.Error("a MetaGraph without objects must stay as it is")
	}
}

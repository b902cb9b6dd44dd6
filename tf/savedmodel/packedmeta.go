package savedmodel

import (
	"sync"
	"weak"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/pb"
)

// A metaGraph is a MetaGraph without its graph. Its graph of objects, which a model reads
// when it is loaded and seldom later, may be encoded: it takes a tenth of the memory then.
type metaGraph struct {
	def     *pb.MetaGraphDef // without its graph of objects, if that is encoded
	objects []byte           // encoded; nil: def has them, if there are any

	mu   sync.Mutex
	last weak.Pointer[pb.MetaGraphDef] // with objects, as long as that is in use
}

// pack encodes the graph of objects. Nothing else may use m meanwhile.
func (m *metaGraph) pack() {
	if m.def.GetObjectGraphDef() == nil {
		return
	}
	if b, err := proto.Marshal(m.def.ObjectGraphDef); err == nil && len(b) > 0 {
		m.def.ObjectGraphDef, m.objects = nil, b
	}
}

// whole returns the MetaGraph with its graph of objects.
func (m *metaGraph) whole() *pb.MetaGraphDef {
	if m.objects == nil {
		return m.def
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if d := m.last.Value(); d != nil {
		return d
	}
	objects := &pb.SavedObjectGraph{}
	if err := proto.Unmarshal(m.objects, objects); err != nil {
		panic(err) // pack has encoded it
	}
	d := &pb.MetaGraphDef{
		MetaInfoDef: m.def.MetaInfoDef, SaverDef: m.def.SaverDef, CollectionDef: m.def.CollectionDef,
		SignatureDef: m.def.SignatureDef, AssetFileDef: m.def.AssetFileDef, ObjectGraphDef: objects,
	}
	d.ProtoReflect().SetUnknown(m.def.ProtoReflect().GetUnknown())
	m.last = weak.Make(d)
	return d
}

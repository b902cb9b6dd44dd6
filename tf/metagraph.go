package tf

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// compatible is the release of TensorFlow whose MetaGraphs ours are equal to.
const compatible = "2.21.0"

// MetaGraphOptions says what a MetaGraph holds.
type MetaGraphOptions struct {
	Collections  []string // those to write; all that can be if nil
	ClearDevices bool     // leave out where nodes run
	Tags         []string
}

// MetaGraphProto returns g with its collections as a MetaGraphDef: with it
// another program, in Go or Python, goes on building. Elements of collections
// that no codec knows (see package author) are left out.
func (g *Graph) MetaGraphProto(o MetaGraphOptions) (*pb.MetaGraphDef, error) {
	def, err := g.GraphProto(0)
	if err != nil {
		return nil, err
	}
	if o.ClearDevices {
		for _, n := range def.GetNode() {
			n.Device = ""
		}
	}
	m := &pb.MetaGraphDef{
		GraphDef:      def,
		MetaInfoDef:   &pb.MetaGraphDef_MetaInfoDef{TensorflowVersion: compatible, Tags: o.Tags, StrippedOpList: g.opList()},
		CollectionDef: map[string]*pb.CollectionDef{},
	}
	return m, g.writeCollections(m, o.Collections)
}

func (g *Graph) writeCollections(m *pb.MetaGraphDef, names []string) error {
	if names == nil {
		names = g.scope.collectionNames()
	}
	for _, name := range names {
		c, err := g.collectionProto(name, "")
		if err != nil {
			return err
		}
		if c != nil {
			m.CollectionDef[name] = c
		}
	}
	return nil
}

// opList returns the signatures of the ops that g uses, so that a reader can tell
// whether he knows them.
func (g *Graph) opList() *pb.OpList {
	defs := map[string]*core.OpDef{}
	for _, op := range g.Operations() {
		defs[op.OpName()] = op.Def
	}
	list := &pb.OpList{}
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		if !strings.HasPrefix(name, "_") {
			list.Op = append(list.Op, defs[name].Proto())
		}
	}
	return list
}

// MarshalMetaGraph returns g with its collections as a serialized MetaGraphDef.
func (g *Graph) MarshalMetaGraph(o MetaGraphOptions) ([]byte, error) {
	m, err := g.MetaGraphProto(o)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// ImportMetaGraph adds the nodes and the collections of a MetaGraphDef, binary
// or text, to g. Nothing of the graph is added if there is an error in it.
func (g *Graph) ImportMetaGraph(data []byte, o ImportOptions) error {
	m := &pb.MetaGraphDef{}
	if err := proto.Unmarshal(data, m); err != nil {
		if terr := prototext.Unmarshal(data, m); terr != nil {
			return Errorf(InvalidArgument, "a MetaGraphDef must be in binary or text format: %v; %v", err, terr)
		}
	}
	return g.ImportMetaGraphProto(m, o)
}

// ImportMetaGraphProto adds the nodes and the collections of m to g.
func (g *Graph) ImportMetaGraphProto(m *pb.MetaGraphDef, o ImportOptions) error {
	if err := g.ImportProto(m.GetGraphDef(), o); err != nil {
		return err
	}
	scope := strings.TrimSuffix(o.Prefix, "/")
	for _, name := range inOrder(m.GetCollectionDef()) {
		if err := g.importCollection(name, m.GetCollectionDef()[name], scope); err != nil {
			return err
		}
	}
	return nil
}

// inOrder returns the names of collections, that of all variables first, so that
// the order of creation survives.
func inOrder(c map[string]*pb.CollectionDef) []string {
	names := slices.Sorted(maps.Keys(c))
	slices.SortStableFunc(names, func(a, b string) int {
		return rank(a) - rank(b)
	})
	return names
}

func rank(collection string) int {
	if i := slices.Index(variableCollections, collection); i >= 0 {
		return i
	}
	return len(variableCollections)
}

package savedmodel

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestErrorsOfModelsKeepTheirCause, also where that is an error of another package.
func TestErrorsOfModelsKeepTheirCause(t *testing.T) {
	why := errors.New("the reason why")
	for _, cause := range []error{why, tf.Errorf(tf.Unknown, "%w", why)} {
		if err := inModel("dir", cause); !strings.Contains(err.Error(), "SavedModel dir: the reason why") || !errors.Is(err, why) {
			t.Errorf("%T: %v", cause, err)
		}
	}
}

// TestErrorsInPlainWordsNameTheModel: what is printed in place of TensorFlow's words, too.
func TestErrorsInPlainWordsNameTheModel(t *testing.T) {
	err := inModel("dir", &tf.Error{Code: tf.FailedPrecondition, Msg: "Debug info", Plain: "no value", Node: "n"})
	if got := err.Error(); !strings.Contains(got, "SavedModel dir: no value") || strings.Contains(got, "Debug info") {
		t.Error(got)
	}
}

// TestModelsThatDoNotFitIntoMemory: the file is not damaged then.
func TestModelsThatDoNotFitIntoMemory(t *testing.T) {
	text := &pb.AttrValue{Value: &pb.AttrValue_S{S: make([]byte, 2*largeField)}}
	g := &pb.GraphDef{Node: []*pb.NodeDef{{Name: "n", Op: "NoOp", Attr: map[string]*pb.AttrValue{"_text": text}}}}
	data, err := proto.Marshal(&pb.SavedModel{MetaGraphs: []*pb.MetaGraphDef{{GraphDef: g}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, binaryFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	defer tf.SetMemoryLimit(tf.SetMemoryLimit(1 << 20))
	if _, err := Load(t.Context(), dir, Options{}); tf.CodeOf(err) != tf.ResourceExhausted {
		t.Error(err)
	}
}

// TestPathsOfDeepObjects: the paths of objects that lie within one another take memory by
// the square of their number, those in one with a long name by the product.
func TestPathsOfDeepObjects(t *testing.T) {
	child := func(i int, name string) *pb.TrackableObjectGraph_TrackableObject_ObjectReference {
		return &pb.TrackableObjectGraph_TrackableObject_ObjectReference{NodeId: int32(i), LocalName: name}
	}
	deep, wide := &pb.SavedObjectGraph{}, &pb.SavedObjectGraph{Nodes: []*pb.SavedObject{{}, {}}}
	for i := range 20_000 {
		deep.Nodes = append(deep.Nodes, &pb.SavedObject{})
		deep.Nodes[i].Children = append(deep.Nodes[i].Children, child(i+1, "a"))
		wide.Nodes[1].Children = append(wide.Nodes[1].Children, child(1, strconv.Itoa(i)))
	}
	wide.Nodes[0].Children = append(wide.Nodes[0].Children, child(1, strings.Repeat("a", 20_000)))
	for _, objects := range []*pb.SavedObjectGraph{deep, wide} {
		size := 0
		for path := range objectPaths(&pb.MetaGraphDef{ObjectGraphDef: objects}) {
			size += len(path)
		}
		if size < maxPathBytes/2 || size > 2*maxPathBytes {
			t.Errorf("%d bytes of paths", size)
		}
	}
}

// TestNodesBehindUnknownOnes: each node goes that takes something of a node whose op is not
// known, also the last one of a long row that stands in the file the wrong way round. (To
// look at all nodes for each of them would take hours.)
func TestNodesBehindUnknownOnes(t *testing.T) {
	const n = 300_000
	g := &pb.GraphDef{Node: []*pb.NodeDef{{Name: "other", Op: "NoOp"}}}
	for i := n; i > 0; i-- {
		g.Node = append(g.Node, &pb.NodeDef{Name: strconv.Itoa(i), Op: "NoOp", Input: []string{"^" + strconv.Itoa(i-1)}})
	}
	g.Node = append(g.Node, &pb.NodeDef{Name: "0", Op: "OpThatNobodyHas"})
	all, err := analyze(&pb.MetaGraphDef{GraphDef: g})
	if err != nil {
		t.Fatal(err)
	}
	if all.dropUnknown(); len(g.Node) != 1 || g.Node[0].GetName() != "other" {
		t.Errorf("%d nodes are left", len(g.Node))
	}
}

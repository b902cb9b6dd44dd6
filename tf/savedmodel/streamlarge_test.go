package savedmodel

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/pb"
)

// TestLargeAttributes: large strings among the attributes of nodes and of functions'
// nodes, which are read into their places, make the message that parsing makes. A file
// that is cut off is an error.
func TestLargeAttributes(t *testing.T) {
	large, small := bytes.Repeat([]byte("gorge"), largeField/4), []byte("x")
	s := func(b []byte) *pb.AttrValue { return &pb.AttrValue{Value: &pb.AttrValue_S{S: b}} }
	list := &pb.AttrValue{Value: &pb.AttrValue_List{List: &pb.AttrValue_ListValue{S: [][]byte{large, small}}}}
	nodes := []*pb.NodeDef{
		{Name: "a", Op: "A", Attr: map[string]*pb.AttrValue{"large": s(large), "small": s(small), "": s(large[1:])}},
		{Name: "b", Op: "B", Attr: map[string]*pb.AttrValue{"list": list}},
		{Name: "c", Op: "C"},
	}
	want := &pb.SavedModel{MetaGraphs: []*pb.MetaGraphDef{{GraphDef: &pb.GraphDef{Node: nodes, Library: &pb.FunctionDefLibrary{
		Function: []*pb.FunctionDef{{Signature: &pb.OpDef{Name: "f"}, NodeDef: nodes, Ret: map[string]string{"y": "a:0"}}, {Signature: &pb.OpDef{Name: "g"}}},
		Gradient: []*pb.GradientDef{{FunctionName: "f", GradientFunc: "g"}}}}}}}
	data, err := proto.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "saved_model.pb")
	read := func(data []byte) (*pb.SavedModel, error) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return readBinary("", name)
	}
	if got, err := read(data); err != nil || !proto.Equal(got, want) {
		t.Errorf("got another message, %v", err)
	}
	for _, n := range []int{1, len(data) / 7, len(data) / 3, len(data) - 1} {
		if _, err := read(data[:n]); err == nil {
			t.Errorf("%d of %d bytes were read", n, len(data))
		}
	}
}

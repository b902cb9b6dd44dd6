package core_test

import (
	"bytes"
	"testing"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestFrozenStringsDoNotLeave: what a program does to the messages of a library that has
// frozen strings does not change the strings. Without such strings there is no copy.
func TestFrozenStringsDoNotLeave(t *testing.T) {
	large := bytes.Repeat([]byte("gorge"), 1<<20)
	def := func(name string, s []byte) *pb.FunctionDef {
		value := &pb.TensorProto{Dtype: pb.DataType_DT_FLOAT, TensorShape: &pb.TensorShapeProto{}, FloatVal: []float32{1}}
		return &pb.FunctionDef{Signature: &pb.OpDef{Name: name}, NodeDef: []*pb.NodeDef{{Name: "c", Op: "Const", Attr: map[string]*pb.AttrValue{
			"dtype": {Value: &pb.AttrValue_Type{Type: pb.DataType_DT_FLOAT}}, "value": {Value: &pb.AttrValue_Tensor{Tensor: value}}, "_text": {Value: &pb.AttrValue_S{S: s}}}}}}
	}
	text := func(l *core.Library) string {
		body, err := l.Body(core.Func{Name: "f"})
		if err != nil {
			t.Fatal(err)
		}
		v, err := core.AttrFromProto(body.Graph.GetNode()[0].GetAttr()["_text"], nil)
		if err != nil {
			t.Fatal(err)
		}
		return v.(string)
	}
	first, err := core.NewLibrary(&pb.FunctionDefLibrary{Function: []*pb.FunctionDef{def("f", large)}})
	if err != nil {
		t.Fatal(err)
	}
	if once, again := first.Proto(), first.Proto(); once != again {
		t.Error("a library without frozen strings is copied")
	}
	memory.Freeze(large)
	frozen, err := core.NewLibrary(first.Proto())
	if err != nil {
		t.Fatal(err)
	}
	merged, err := frozen.Merge(&pb.FunctionDefLibrary{Function: []*pb.FunctionDef{def("g", nil)}})
	if err != nil {
		t.Fatal(err)
	}
	with, err := merged.With(def("h", nil))
	if err != nil {
		t.Fatal(err)
	}
	want := string(large)
	for _, l := range []*core.Library{frozen, merged, with} {
		before := text(l)
		clear(l.Proto().GetFunction()[0].GetNodeDef()[0].GetAttr()["_text"].GetS())
		if before != want || text(l) != want {
			t.Fatal("a program has changed a string of the library")
		}
	}
}

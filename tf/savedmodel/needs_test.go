package savedmodel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// renamed returns the MetaGraph of a model with some of its nodes changed.
func renamed(t *testing.T, dir string, change func(n *pb.NodeDef)) *pb.MetaGraphDef {
	t.Helper()
	m, err := savedmodel.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	mg := m.GetMetaGraphs()[0]
	for _, n := range mg.GetGraphDef().GetNode() {
		change(n)
	}
	return mg
}

// TestMissingOps: what is missing stops what needs it, and nothing else.
func TestMissingOps(t *testing.T) {
	dir := saved(t)
	rename := func(from, to string) func(n *pb.NodeDef) {
		return func(n *pb.NodeDef) {
			if n.GetOp() == from {
				n.Op = to
			}
		}
	}
	m, err := savedmodel.LoadMetaGraph(t.Context(), dir, renamed(t, dir, rename("AssignAddVariableOp", "NoSuchOp")), savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	look(t, m, map[string]any{"x": []string{"one"}})
	if _, err := m.Signature("count").Run(t.Context(), nil); tf.CodeOf(err) != tf.Unimplemented || !strings.Contains(err.Error(), "op NoSuchOp (at node AssignAddVariableOp)") {
		t.Errorf("a signature: %v", err)
	}
	for op, want := range map[string]string{
		"RestoreV2":                     "op NoSuchOp (at node save/RestoreV2)",
		"InitializeTableFromTextFileV2": "op NoSuchOp",
		"VarHandleOp":                   "op NoSuchOp (at node count)",
	} {
		_, err := savedmodel.LoadMetaGraph(t.Context(), dir, renamed(t, dir, rename(op, "NoSuchOp")), savedmodel.Options{})
		if tf.CodeOf(err) != tf.Unimplemented || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", op, err, want)
		}
	}
	_, err = savedmodel.LoadMetaGraph(t.Context(), dir, renamed(t, dir, func(n *pb.NodeDef) {
		if n.GetOp() == "LookupTableFindV2" {
			n.Attr["Tin"] = &pb.AttrValue{Value: &pb.AttrValue_Type{Type: pb.DataType_DT_COMPLEX64}}
		}
	}), savedmodel.Options{})
	if err == nil {
		t.Error("a type that no kernel takes is not refused")
	}
}

// TestOddNodes: nodes that nothing needs may be as they like, and colocations with
// nodes that are not there are dropped.
func TestOddNodes(t *testing.T) {
	dir := saved(t)
	mg := renamed(t, dir, func(n *pb.NodeDef) {
		n.Device = "/job:worker/task:3/device:GPU:7"
		if n.GetName() == "w" {
			n.Attr["_class"] = &pb.AttrValue{Value: &pb.AttrValue_List{List: &pb.AttrValue_ListValue{S: [][]byte{[]byte("loc:@gone")}}}}
		}
	})
	mg.GraphDef.Node = append(mg.GraphDef.Node,
		&pb.NodeDef{Name: "odd", Op: "NoSuchOp", Input: []string{"w"}}, &pb.NodeDef{Name: "odder", Op: "Identity", Input: []string{"odd", "^k"}},
		&pb.NodeDef{Name: "oddest", Op: "MatMul", Input: []string{"k"}})
	m, err := savedmodel.LoadMetaGraph(t.Context(), dir, mg, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	look(t, m, map[string]any{"x": []string{"one"}})
	if m.Graph().Operation("odd") != nil || m.Graph().Operation("oddest") != nil {
		t.Error("odd nodes are there")
	}
}

// TestBrokenParts: what a MetaGraph names must be there.
func TestBrokenParts(t *testing.T) {
	dir := saved(t)
	for name, c := range map[string]struct {
		change func(mg *pb.MetaGraphDef)
		want   string
	}{
		"graph":    {func(mg *pb.MetaGraphDef) { mg.GraphDef = nil }, "must have a graph"},
		"restore":  {func(mg *pb.MetaGraphDef) { mg.SaverDef.RestoreOpName = "none" }, `restore operation "none"`},
		"filename": {func(mg *pb.MetaGraphDef) { mg.SaverDef.FilenameTensorName = "none:0" }, `filename tensor "none:0"`},
		"init":     {func(mg *pb.MetaGraphDef) { mg.SignatureDef["__saved_model_init_op"].Outputs = nil }, "Could not find output __saved_model_init_op"},
		"init op": {func(mg *pb.MetaGraphDef) {
			mg.SignatureDef["__saved_model_init_op"].Outputs["__saved_model_init_op"].Encoding = &pb.TensorInfo_Name{Name: "none"}
		}, `initialization operation "none"`},
		"main ops": {func(mg *pb.MetaGraphDef) {
			delete(mg.SignatureDef, "__saved_model_init_op")
			mg.CollectionDef["saved_model_main_op"] = &pb.CollectionDef{}
		}, "Expected exactly one main op in : saved_model_main_op"},
		"asset":    {func(mg *pb.MetaGraphDef) { mg.AssetFileDef[0].TensorInfo = nil }, `asset "words.txt"`},
		"path":     {func(mg *pb.MetaGraphDef) { mg.AssetFileDef[0].Filename = "../words.txt" }, "must lie in the model's directory assets"},
		"absolute": {func(mg *pb.MetaGraphDef) { mg.AssetFileDef[0].Filename = "/etc/passwd" }, "must lie in the model's directory assets"},
	} {
		mg := renamed(t, dir, func(*pb.NodeDef) {})
		c.change(mg)
		if _, err := savedmodel.LoadMetaGraph(t.Context(), dir, mg, savedmodel.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzLoad loads models from changed bytes: there are errors, and no panics.
func FuzzLoad(f *testing.F) {
	data, err := os.ReadFile("../../examples/predict/model/saved_model.pb")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, 5, byte(1))
	small, err := proto.Marshal(&pb.SavedModel{MetaGraphs: []*pb.MetaGraphDef{{MetaInfoDef: &pb.MetaGraphDef_MetaInfoDef{Tags: []string{"serve"}}, GraphDef: &pb.GraphDef{Node: []*pb.NodeDef{{Name: "a", Op: "NoOp"}}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small, 3, byte(8))
	f.Fuzz(func(t *testing.T, data []byte, at int, flip byte) {
		if len(data) == 0 {
			return
		}
		data[max(0, at%len(data))] ^= flip
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "saved_model.pb"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		m, err := savedmodel.Load(ctx, dir, savedmodel.Options{})
		if err != nil {
			if strings.Contains(err.Error(), "panic") {
				t.Error(err)
			}
			return
		}
		m.Close()
	})
}

package tf_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// metaGraph has a bit of everything that collections hold: w·2³ by a loop, with
// w of the given kind.
func metaGraph(t *testing.T, reference bool) (*tf.Graph, []byte) {
	t.Helper()
	g := tf.NewGraph(tf.Strict())
	w := tf.NewVariable(ops.Scalar[float32](g, 3), tf.VariableOptions{Name: "w", Reference: reference, Device: "/cpu:0"})
	tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "local", Local: true, NotTrainable: true, Reference: reference})
	out := tf.While([]tf.Output{ops.Scalar(g, int32(0)), w.Value()},
		func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar(g, int32(3))) },
		func(v []tf.Output) []tf.Output {
			return []tf.Output{ops.AddV2(v[0], ops.Scalar(g, int32(1))), ops.AddV2(v[1], v[1])}
		})
	yes := ops.Greater(out[1], ops.Scalar[float32](g, 0))
	loss := tf.Cond(yes, func() []tf.Output { return []tf.Output{ops.Square(out[1])} }, func() []tf.Output { return []tf.Output{ops.Neg(out[1])} })[0]
	g.AddToCollection("losses", ops.Identity(loss, tf.Name("loss")))
	g.AddToCollection("steps", w.Initializer())
	g.AddToCollection("sizes", 7)
	g.AddToCollection("rates", 0.5)
	g.AddToCollection("labels", "cat")
	g.AddToCollection("private", struct{}{})
	data, err := g.MarshalMetaGraph(tf.MetaGraphOptions{Tags: []string{"serve"}})
	if err != nil {
		t.Fatal(err)
	}
	return g, data
}

// TestMetaGraphKeepsCollections imports under a scope and goes on where the
// exporter stopped: gradients through the loop and the conditional, updates of
// the variables.
func TestMetaGraphKeepsCollections(t *testing.T) {
	for name, reference := range map[string]bool{"resource": false, "reference": true} {
		t.Run(name, func(t *testing.T) {
			_, data := metaGraph(t, reference)
			g := tf.NewGraph(tf.Strict())
			if err := g.ImportMetaGraph(data, tf.ImportOptions{Prefix: "in"}); err != nil {
				t.Fatal(err)
			}
			checkCollections(t, g, reference)
			loss := g.Collection("losses")[0].(tf.Output)
			step := train.Adam{LearningRate: 1}.Minimize(loss)
			w := tf.Variables(g, tf.TrainableVariables)[0]
			if got := trainedTwice(t, g, step, w); got > 1.1 || got < 0.9 { // 3 less one each step
				t.Errorf("after two steps w is %v", got)
			}
		})
	}
}

func checkCollections(t *testing.T, g *tf.Graph, reference bool) {
	t.Helper()
	w, all := tf.Variables(g, tf.TrainableVariables), tf.Variables(g, tf.GlobalVariables)
	if len(w) != 1 || len(all) != 1 || w[0] != all[0] || len(tf.Variables(g, tf.LocalVariables)) != 1 {
		t.Fatalf("variables %v, trainable %v", all, w)
	}
	if v := w[0]; v.Name() != "in/w" || v.IsReference() != reference || v.DType() != tf.Float32 || len(v.Shape()) != 0 || v.Initial().Name() == "" {
		t.Errorf("%s %v %v%v", v.Name(), v.IsReference(), v.DType(), v.Shape())
	}
	if op, ok := g.Collection("steps")[0].(*tf.Operation); !ok || op.Name != "in/w/Assign" {
		t.Error(g.Collection("steps"))
	}
	for name, want := range map[string]any{"sizes": int64(7), "rates": float32(0.5), "labels": "cat"} {
		if got := g.Collection(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if len(g.Collection("private")) != 0 || len(g.Collection(tf.WhileContexts)) != 1 || len(g.Collection(tf.CondContexts)) != 2 {
		t.Error(g.Collection("private"), g.Collection(tf.WhileContexts), g.Collection(tf.CondContexts))
	}
}

func trainedTwice(t *testing.T, g *tf.Graph, step *tf.Operation, w *tf.Variable) float32 {
	t.Helper()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, f := range []tf.Fetchable{tf.InitializeAll(g), step, step} {
		if _, err := s.Run(context.Background(), nil, f); err != nil {
			t.Fatal(err)
		}
	}
	out, err := s.Run(context.Background(), nil, w.Value())
	if err != nil {
		t.Fatal(err)
	}
	return tf.Data[float32](out[0])[0]
}

// TestMetaGraphAgain: what was imported is exported as it was.
func TestMetaGraphAgain(t *testing.T) {
	_, data := metaGraph(t, false)
	g := tf.NewGraph()
	if err := g.ImportMetaGraph(data, tf.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	again, err := g.MarshalMetaGraph(tf.MetaGraphOptions{Tags: []string{"serve"}})
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != string(data) {
		t.Error("a MetaGraph changed on its way through a graph")
	}
}

func TestImportReturning(t *testing.T) {
	g := tf.NewGraph(tf.Strict())
	ops.Split(ops.Const(g, []float32{1, 2}), 2, ops.Scalar(g, int32(0)), tf.Name("halves"))
	def, err := g.MarshalGraphDef()
	if err != nil {
		t.Fatal(err)
	}
	got, err := tf.NewGraph().ImportReturning(def, tf.ImportOptions{Prefix: "in/"}, "halves:1", "halves")
	if err != nil {
		t.Fatal(err)
	}
	if x, ok := got[0].(tf.Output); !ok || x.Name() != "in/halves:1" {
		t.Errorf("got %v", got[0])
	}
	if op, ok := got[1].(*tf.Operation); !ok || op.Name != "in/halves" {
		t.Errorf("got %v", got[1])
	}
	for _, missing := range []string{"halves:2", "third"} {
		if _, err := tf.NewGraph().ImportReturning(def, tf.ImportOptions{}, missing); err == nil || !strings.Contains(err.Error(), "Requested return_element '"+missing+"' not found in graph_def.") {
			t.Errorf("%s: %v", missing, err)
		}
	}
}

func TestMetaGraphOptions(t *testing.T) {
	g, _ := metaGraph(t, false)
	m, err := g.MetaGraphProto(tf.MetaGraphOptions{Collections: []string{"sizes"}, ClearDevices: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.GetCollectionDef()) != 1 || m.GetCollectionDef()["sizes"] == nil {
		t.Error(m.GetCollectionDef())
	}
	for _, n := range m.GetGraphDef().GetNode() {
		if n.GetDevice() != "" {
			t.Errorf("%s is on %s", n.GetName(), n.GetDevice())
		}
	}
	var used []string
	for _, op := range m.GetMetaInfoDef().GetStrippedOpList().GetOp() {
		used = append(used, op.GetName())
	}
	if !slices.IsSorted(used) || !slices.Contains(used, "VarHandleOp") || slices.Contains(used, "MatMul") {
		t.Error(used)
	}
	g.AddToCollection("mixed", 1)
	g.AddToCollection("mixed", "one")
	if _, err := g.MarshalMetaGraph(tf.MetaGraphOptions{}); err == nil || !strings.Contains(err.Error(), `those of "mixed" are of 2`) {
		t.Error(err)
	}
}

// TestMetaGraphSlices: parts of a variable say which part they are.
func TestMetaGraphSlices(t *testing.T) {
	g := tf.NewGraph(tf.Strict())
	vars.Scope(g, "m", vars.ScopeOptions{Partitioner: vars.FixedSize(2, 0)}, func() {
		vars.GetPartitioned(g, "table", tf.Shape{5, 2})
	})
	data, err := g.MarshalMetaGraph(tf.MetaGraphOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h := tf.NewGraph()
	if err := h.ImportMetaGraph(data, tf.ImportOptions{Prefix: "x"}); err != nil {
		t.Fatal(err)
	}
	parts := tf.Variables(h, tf.GlobalVariables)
	if len(parts) != 2 {
		t.Fatal(parts)
	}
	got := parts[1].Slice()
	if got == nil || got.FullName != "x/m/table" || !got.FullShape.Equal(tf.Shape{5, 2}) || !slices.Equal(got.Offset, []int{3, 0}) || !got.Shape.Equal(tf.Shape{2, 2}) {
		t.Errorf("%+v", got)
	}
}

func TestMetaGraphRefuses(t *testing.T) {
	for want, spoil := range map[string]func(m *pb.MetaGraphDef){
		"must hold VariableDefs": func(m *pb.MetaGraphDef) { elements(m, "variables").Value[0] = []byte("\xff") },
		"must be a handle": func(m *pb.MetaGraphDef) {
			rename(m, func(v *pb.VariableDef) { v.VariableName = "w/IsInitialized/VarIsInitializedOp:0" })
		},
		"must put out a reference":                func(m *pb.MetaGraphDef) { rename(m, func(v *pb.VariableDef) { v.IsResource = false }) },
		"does not exist in the graph":             func(m *pb.MetaGraphDef) { rename(m, func(v *pb.VariableDef) { v.SnapshotName = "nowhere:0" }) },
		"refers to an Operation not in the graph": func(m *pb.MetaGraphDef) { rename(m, func(v *pb.VariableDef) { v.InitializerName = "nowhere" }) },
		"must hold their definitions":             func(m *pb.MetaGraphDef) { elements(m, "while_context").Value[0] = []byte("\xff") },
	} {
		_, data := metaGraph(t, false)
		m := &pb.MetaGraphDef{}
		if err := proto.Unmarshal(data, m); err != nil {
			t.Fatal(err)
		}
		delete(m.CollectionDef, "trainable_variables")
		spoil(m)
		if err := tf.NewGraph().ImportMetaGraphProto(m, tf.ImportOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := tf.NewGraph().ImportMetaGraph([]byte("no meta graph"), tf.ImportOptions{}); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
}

func elements(m *pb.MetaGraphDef, name string) *pb.CollectionDef_BytesList {
	return m.GetCollectionDef()[name].GetBytesList()
}

// rename changes the first variable of a MetaGraph.
func rename(m *pb.MetaGraphDef, change func(v *pb.VariableDef)) {
	v, list := &pb.VariableDef{}, elements(m, "variables")
	if err := proto.Unmarshal(list.Value[0], v); err != nil {
		panic(err)
	}
	change(v)
	list.Value[0], _ = proto.Marshal(v)
}

func FuzzImportMetaGraph(f *testing.F) {
	g := tf.NewGraph()
	tf.NewVariable(ops.Scalar[float32](g, 3), tf.VariableOptions{Name: "w"})
	data, err := g.MarshalMetaGraph(tf.MetaGraphOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`collection_def { key: "variables" value { bytes_list { value: "\n\003w:0" } } }`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = tf.NewGraph().ImportMetaGraph(data, tf.ImportOptions{}) // an error or none, no panic
	})
}

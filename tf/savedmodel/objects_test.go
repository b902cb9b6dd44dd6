package savedmodel_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// objectsModel was saved by Keras 3: see testdata/make.py.
const objectsModel = "testdata/objects"

// TestObjects loads a model whose variables only the graph of objects finds.
func TestObjects(t *testing.T) {
	m := load(t, objectsModel)
	in, want := map[string]any{"inputs": [][]float32{{1, 1}}}, []float32{40.5, 26.25}
	out, err := m.Signature("serving_default").Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if y, err := savedmodel.Values[float32](out, "output_0"); err != nil || !slices.Equal(y, want) {
		t.Errorf("got %v, %v, want %v", y, err, want)
	}
	for f := range m.MetaGraph().GetObjectGraphDef().GetConcreteFunctions() {
		if strings.Contains(f, "signature_wrapper") {
			out, err := m.Function(f).Run(t.Context(), in)
			if err != nil || !slices.Equal(tf.Data[float32](out["output_0"]), want) {
				t.Errorf("function %s: %v, %v", f, out, err)
			}
		}
	}
	again := filepath.Join(t.TempDir(), "again")
	if err := m.Resave(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	out, err = load(t, again).Signature("serving_default").Run(t.Context(), in)
	if err != nil || !slices.Equal(tf.Data[float32](out["output_0"]), want) {
		t.Errorf("saved again: %v, %v", out, err)
	}
}

// TestBrokenObjects: graphs of objects that are not sound are errors.
func TestBrokenObjects(t *testing.T) {
	for name, change := range map[string]func(o *pb.SavedObjectGraph){
		"no nodes": func(o *pb.SavedObjectGraph) { o.Nodes = nil },
		"children": func(o *pb.SavedObjectGraph) {
			for _, n := range o.GetNodes() {
				for _, c := range n.GetChildren() {
					c.NodeId += 1000
				}
			}
		},
		"negative": func(o *pb.SavedObjectGraph) {
			for _, n := range o.GetNodes() {
				for _, c := range n.GetChildren() {
					c.NodeId = -1
				}
			}
		},
		"cycle": func(o *pb.SavedObjectGraph) {
			for _, n := range o.GetNodes() {
				for _, c := range n.GetChildren() {
					c.NodeId = 0
				}
			}
		},
		"bound": func(o *pb.SavedObjectGraph) {
			for _, f := range o.GetConcreteFunctions() {
				for i := range f.BoundInputs {
					f.BoundInputs[i] = 99999
				}
			}
		},
		"too many": func(o *pb.SavedObjectGraph) {
			for _, f := range o.GetConcreteFunctions() {
				f.BoundInputs = append(f.BoundInputs, f.BoundInputs...)
			}
		},
	} {
		mg := renamed(t, objectsModel, func(*pb.NodeDef) {})
		change(mg.GetObjectGraphDef())
		m, err := savedmodel.LoadMetaGraph(t.Context(), objectsModel, mg, savedmodel.Options{})
		if err == nil {
			_, err = m.Signature("serving_default").Run(t.Context(), map[string]any{"inputs": [][]float32{{1, 1}}})
			for f := range mg.GetObjectGraphDef().GetConcreteFunctions() {
				m.Function(f)
			}
			m.Close()
		}
		if err == nil || strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzObjects changes a graph of objects.
func FuzzObjects(f *testing.F) {
	saved, err := savedmodel.Read(objectsModel)
	if err != nil {
		f.Fatal(err)
	}
	data, err := proto.Marshal(saved.GetMetaGraphs()[0].GetObjectGraphDef())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, 3, byte(1))
	f.Fuzz(func(t *testing.T, data []byte, at int, flip byte) {
		if len(data) > 0 {
			data = slices.Clone(data)
			data[max(0, at%len(data))] ^= flip
		}
		o := &pb.SavedObjectGraph{}
		if proto.Unmarshal(data, o) != nil {
			return
		}
		mg := proto.CloneOf(saved.GetMetaGraphs()[0])
		mg.ObjectGraphDef = o
		m, err := savedmodel.LoadMetaGraph(t.Context(), objectsModel, mg, savedmodel.Options{})
		if err != nil {
			return
		}
		defer m.Close()
		for name := range o.GetConcreteFunctions() {
			m.Function(name)
		}
		for _, name := range []string{"__call__", "call", "d"} {
			m.Function(name)
		}
	})
}

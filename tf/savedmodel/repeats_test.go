package savedmodel

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// randomLibrary makes functions whose nodes have attributes of all kinds, many of them
// alike.
func randomLibrary(r *rand.Rand) *pb.FunctionDefLibrary {
	l := &pb.FunctionDefLibrary{Gradient: []*pb.GradientDef{{FunctionName: "f0", GradientFunc: "f1"}}}
	for i := range r.Intn(4) {
		f := &pb.FunctionDef{Signature: &pb.OpDef{Name: fmt.Sprint("f", i)}, Ret: map[string]string{"y": "n0:y:0"}}
		for k := range r.Intn(20) {
			n := &pb.NodeDef{Name: fmt.Sprint("n", k), Op: fmt.Sprint("Op", r.Intn(3)), Attr: map[string]*pb.AttrValue{}}
			if r.Intn(2) == 0 {
				n.Device, n.Input = "/cpu:0", []string{"a", "n0:y:0", "^n1"}
				n.ExperimentalDebugInfo = &pb.NodeDef_ExperimentalDebugInfo{OriginalNodeNames: []string{"x"}}
			}
			for range r.Intn(5) {
				n.Attr[fmt.Sprint("a", r.Intn(6))] = randomAttr(r)
			}
			f.NodeDef = append(f.NodeDef, n)
		}
		l.Function = append(l.Function, f)
	}
	return l
}

func randomAttr(r *rand.Rand) *pb.AttrValue {
	switch r.Intn(6) {
	case 0:
		return &pb.AttrValue{}
	case 1:
		return typeAttr(pb.DataType(r.Intn(4)))
	case 2:
		return &pb.AttrValue{Value: &pb.AttrValue_S{S: bytes.Repeat([]byte{'s'}, r.Intn(2*smallEntry))}}
	case 3:
		return &pb.AttrValue{Value: &pb.AttrValue_List{List: &pb.AttrValue_ListValue{I: []int64{1, int64(r.Intn(2)), 2, 1}}}}
	case 4:
		return &pb.AttrValue{Value: &pb.AttrValue_Func{Func: &pb.NameAttrList{Name: "f0", Attr: map[string]*pb.AttrValue{"T": typeAttr(1)}}}}
	}
	return &pb.AttrValue{Value: &pb.AttrValue_Tensor{Tensor: &pb.TensorProto{Dtype: pb.DataType_DT_FLOAT, FloatVal: []float32{float32(r.Intn(2))}}}}
}

// TestRepeatsReadTheSame reads messages with package proto and with values that are
// shared. It damages some of them: both have to take or refuse the same.
func TestRepeatsReadTheSame(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	refused := 0
	for range 3000 {
		b, err := proto.Marshal(randomLibrary(r))
		if err != nil {
			t.Fatal(err)
		}
		for range r.Intn(3) {
			if len(b) > 0 {
				b[r.Intn(len(b))] = byte(r.Intn(256))
			}
		}
		b = b[:len(b)-min(r.Intn(2)*r.Intn(8), len(b))]
		ours, want := &pb.FunctionDefLibrary{}, &pb.FunctionDefLibrary{}
		oerr, werr := newRepeats().merge(b, ours), proto.Unmarshal(b, want)
		if (oerr == nil) != (werr == nil) {
			t.Fatalf("%x: got error %v, package proto says %v", b, oerr, werr)
		}
		if werr != nil {
			refused++
		} else if !proto.Equal(ours, want) {
			t.Fatalf("%x: got %v, want %v", b, ours, want)
		}
	}
	if refused == 0 || refused == 3000 {
		t.Errorf("%d of 3000 messages were refused", refused)
	}
}

// FuzzRepeats reads what is no library at all.
func FuzzRepeats(f *testing.F) {
	b, _ := proto.Marshal(randomLibrary(rand.New(rand.NewSource(5))))
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		ours, want := &pb.FunctionDefLibrary{}, &pb.FunctionDefLibrary{}
		oerr, werr := newRepeats().merge(b, ours), proto.Unmarshal(b, want)
		if (oerr == nil) != (werr == nil) || werr == nil && !proto.Equal(ours, want) {
			t.Errorf("got %v, %v, want %v, %v", ours, oerr, want, werr)
		}
	})
}

// TestRepeatsAreOnce says what is shared: small values, but no tensors.
func TestRepeatsAreOnce(t *testing.T) {
	l := &pb.FunctionDefLibrary{Function: []*pb.FunctionDef{{Signature: &pb.OpDef{Name: "f"}}}}
	for i := range 2 {
		l.Function[0].NodeDef = append(l.Function[0].NodeDef, &pb.NodeDef{Name: fmt.Sprint(i), Op: "Op", Attr: map[string]*pb.AttrValue{
			"T":     typeAttr(pb.DataType_DT_FLOAT),
			"value": {Value: &pb.AttrValue_Tensor{Tensor: &pb.TensorProto{Dtype: pb.DataType_DT_FLOAT}}},
			"large": {Value: &pb.AttrValue_S{S: make([]byte, smallEntry+1)}},
		}})
	}
	b, err := proto.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	got := &pb.FunctionDefLibrary{}
	if err := newRepeats().merge(b, got); err != nil {
		t.Fatal(err)
	}
	first, second := got.Function[0].NodeDef[0].Attr, got.Function[0].NodeDef[1].Attr
	for key, want := range map[string]bool{"T": true, "value": false, "large": false} {
		if got := first[key] == second[key]; got != want {
			t.Errorf("attribute %s is shared: %v, want %v", key, got, want)
		}
	}
}

// TestAdoptedFunctionsAreCopied changes what a graph of shared attributes is written to.
func TestAdoptedFunctionsAreCopied(t *testing.T) {
	shared := typeAttr(pb.DataType_DT_FLOAT)
	def := &pb.GraphDef{Library: &pb.FunctionDefLibrary{Function: []*pb.FunctionDef{{
		Signature: &pb.OpDef{Name: "f"},
		NodeDef: []*pb.NodeDef{
			{Name: "a", Op: "NoOp", Attr: map[string]*pb.AttrValue{"_t": shared}},
			{Name: "b", Op: "NoOp", Attr: map[string]*pb.AttrValue{"_t": shared}},
		},
	}}}}
	g := tf.NewGraph()
	if err := g.ImportProto(def, tf.ImportOptions{Adopt: true}); err != nil {
		t.Fatal(err)
	}
	out, err := g.GraphProto(0)
	if err != nil {
		t.Fatal(err)
	}
	written := out.GetLibrary().GetFunction()[0]
	written.NodeDef[0].Attr["_t"].Value = &pb.AttrValue_Type{Type: pb.DataType_DT_INT32}
	if got := written.NodeDef[1].Attr["_t"].GetType(); got != pb.DataType_DT_FLOAT {
		t.Errorf("a change of one node made another's type %v", got)
	}
	if got := shared.GetType(); got != pb.DataType_DT_FLOAT {
		t.Errorf("a change of what was written made the graph's type %v", got)
	}
}

// TestFieldAfterGroups has a node with a group, which no release writes.
func TestFieldAfterGroups(t *testing.T) {
	b := protowire.AppendTag(nil, 100, protowire.StartGroupType)
	b = protowire.AppendTag(b, 100, protowire.EndGroupType)
	b = protowire.AppendString(protowire.AppendTag(b, nameField, protowire.BytesType), "x")
	n := &pb.NodeDef{}
	if err := newRepeats().node(b, n); err != nil || n.GetName() != "x" {
		t.Errorf("got %v, %v", n, err)
	}
}

package pb

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

// textOptions and friends expand Any values by TensorFlow's names.
var (
	textOptions     = prototext.MarshalOptions{Multiline: true, Resolver: Resolver}
	fromTextOptions = prototext.UnmarshalOptions{Resolver: Resolver}
	deterministic   = proto.MarshalOptions{Deterministic: true}
)

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// metaGraph is a training graph with a loop, collections and an Any,
// written by TensorFlow.
func metaGraph(t *testing.T) *MetaGraphDef {
	t.Helper()
	m := new(MetaGraphDef)
	if err := proto.Unmarshal(readFile(t, "meta_graph.pb"), m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTensorFlowsBinaryAndTextAgree(t *testing.T) {
	fromText := new(MetaGraphDef)
	if err := fromTextOptions.Unmarshal(readFile(t, "meta_graph.pbtxt"), fromText); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(metaGraph(t), fromText, protocmp.Transform()); diff != "" {
		t.Errorf("binary and text differ (-binary +text):\n%s", diff)
	}
}

// Every byte that TensorFlow wrote must have a field of ours.
func TestNothingIsUnknown(t *testing.T) {
	known := new(MetaGraphDef)
	discard := proto.UnmarshalOptions{DiscardUnknown: true}
	if err := discard.Unmarshal(readFile(t, "meta_graph.pb"), known); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(metaGraph(t), known, protocmp.Transform()); diff != "" {
		t.Errorf("unknown fields were dropped:\n%s", diff)
	}
}

func TestTextRoundTrip(t *testing.T) {
	want := metaGraph(t)
	text, err := textOptions.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got := new(MetaGraphDef)
	if err := fromTextOptions.Unmarshal(text, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("text changed the graph:\n%s", diff)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	want := metaGraph(t)
	text, err := protojson.MarshalOptions{Resolver: Resolver}.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got := new(MetaGraphDef)
	if err := (protojson.UnmarshalOptions{Resolver: Resolver}).Unmarshal(text, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("JSON changed the graph:\n%s", diff)
	}
}

// TensorFlow reads our text form and finds the same message in it.
func TestTensorFlowReadsOurText(t *testing.T) {
	python := os.Getenv("GORGE_TF_PYTHON")
	if python == "" {
		t.Skip("GORGE_TF_PYTHON names no Python with TensorFlow 2.21")
	}
	want := metaGraph(t)
	text, err := textOptions.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/messages.py", "binary")
	cmd.Stdin = bytes.NewReader(text)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	binary, err := cmd.Output()
	if err != nil {
		t.Fatalf("messages.py: %v\n%s", err, stderr.Bytes())
	}
	got := new(MetaGraphDef)
	if err := proto.Unmarshal(binary, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("TensorFlow read another message:\n%s", diff)
	}
}

// A master must pass on what a newer client sent, even where it does not know
// the fields.
func TestUnknownFieldsSurvive(t *testing.T) {
	newer := []byte{
		0x0a, 0x01, 'n', // name = "n"
		0xc2, 0x3e, 0x02, 'h', 'i', // field 1000, two bytes
		0xc8, 0x3e, 0x07, // field 1001, varint 7
	}
	node := new(NodeDef)
	if err := proto.Unmarshal(newer, node); err != nil {
		t.Fatal(err)
	}
	if node.GetName() != "n" {
		t.Errorf("name = %q, want n", node.GetName())
	}
	back, err := deterministic.Marshal(proto.Clone(node))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back, newer) {
		t.Errorf("came back as % x, want % x", back, newer)
	}
}

func TestCheckpointStateText(t *testing.T) {
	got := new(CheckpointState)
	if err := prototext.Unmarshal(readFile(t, "checkpoint"), got); err != nil {
		t.Fatal(err)
	}
	want := &CheckpointState{
		ModelCheckpointPath:          "model.ckpt-100",
		AllModelCheckpointPaths:      []string{"model.ckpt-0", "model.ckpt-100"},
		AllModelCheckpointTimestamps: []float64{1.7e9, 1.7e9 + 60.5},
		LastPreservedTimestamp:       1.7e9 - 1,
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("checkpoint state differs:\n%s", diff)
	}
}

// TestWireBytes pins single encodings that other code counts on.
func TestWireBytes(t *testing.T) {
	for _, tc := range []struct {
		name string
		m    proto.Message
		want []byte
	}{
		{"a scalar's shape in a bundle is present and empty",
			&BundleEntryProto{Dtype: DataType_DT_FLOAT, Shape: &TensorShapeProto{}, Size: 4, Crc32C: 0x1f273806},
			[]byte{0x08, 0x01, 0x12, 0x00, 0x28, 0x04, 0x35, 0x06, 0x38, 0x27, 0x1f}},
		{"the header of a bundle",
			&BundleHeaderProto{NumShards: 1, Version: &VersionDef{Producer: 1}},
			[]byte{0x08, 0x01, 0x1a, 0x02, 0x08, 0x01}},
		{"an empty list is present",
			&AttrValue{Value: &AttrValue_List{List: &AttrValue_ListValue{}}},
			[]byte{0x0a, 0x00}},
		{"false in an attribute is present",
			&AttrValue{Value: &AttrValue_B{B: false}},
			[]byte{0x28, 0x00}},
		{"lists of numbers are packed",
			&TensorProto{Dtype: DataType_DT_INT32, IntVal: []int32{1, -1}},
			[]byte{0x08, 0x03, 0x3a, 0x0b, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}},
		{"an incarnation is eight bytes",
			&DeviceAttributes{Incarnation: 0x0102030405060708},
			[]byte{0x31, 8, 7, 6, 5, 4, 3, 2, 1}},
		{"a slice that takes a whole dimension has no length",
			&TensorSliceProto{Extent: []*TensorSliceProto_Extent{{}}},
			[]byte{0x0a, 0x00}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := deterministic.Marshal(tc.m)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, tc.want) {
				t.Errorf("bytes are % x, want % x", got, tc.want)
			}
		})
	}
}

package pb

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func TestTensorFlowName(t *testing.T) {
	for _, tc := range []struct{ ours, theirs protoreflect.FullName }{
		{"gorge.GraphDef", "tensorflow.GraphDef"},
		{"gorge.error.Code", "tensorflow.error.Code"},
		{"gorge.eager.Operation.Input", "tensorflow.eager.Operation.Input"},
		{"google.protobuf.Any", "google.protobuf.Any"},
		{"gorgeous.Message", "gorgeous.Message"},
	} {
		if got := TensorFlowName(tc.ours); got != tc.theirs {
			t.Errorf("TensorFlowName(%s) = %s, want %s", tc.ours, got, tc.theirs)
		}
		if got := gorgeName(tc.theirs); got != tc.ours {
			t.Errorf("gorgeName(%s) = %s, want %s", tc.theirs, got, tc.ours)
		}
	}
}

func TestPackAnyNamesTensorFlowsType(t *testing.T) {
	for _, tc := range []struct {
		m   proto.Message
		url string
	}{
		{&RecvBufRespExtra{TensorContent: [][]byte{{1, 2}}}, "type.googleapis.com/tensorflow.RecvBufRespExtra"},
		{&GrpcPayloadContainer{}, "type.googleapis.com/tensorflow.distributed_runtime.GrpcPayloadContainer"},
		{&TensorInfo_CooSparse{}, "type.googleapis.com/tensorflow.TensorInfo.CooSparse"},
		{wrapperspb.Bool(true), "type.googleapis.com/google.protobuf.BoolValue"},
	} {
		packed, err := PackAny(tc.m)
		if err != nil {
			t.Fatal(err)
		}
		if packed.GetTypeUrl() != tc.url {
			t.Errorf("type URL of %T = %s, want %s", tc.m, packed.GetTypeUrl(), tc.url)
		}
		back := tc.m.ProtoReflect().New().Interface()
		if err := UnpackAny(packed, back); err != nil {
			t.Errorf("UnpackAny(%s): %v", tc.url, err)
		}
		if !proto.Equal(back, tc.m) {
			t.Errorf("%s came back as %v, want %v", tc.url, back, tc.m)
		}
	}
}

func TestUnpackAnyRefuses(t *testing.T) {
	var none *GraphDef
	for _, tc := range []struct {
		name string
		any  *anypb.Any
		into proto.Message
		want string
	}{
		{"another type", &anypb.Any{TypeUrl: "type.googleapis.com/tensorflow.NodeDef"}, &GraphDef{}, "asked for tensorflow.GraphDef"},
		{"our own name", &anypb.Any{TypeUrl: "type.googleapis.com/gorge.GraphDef"}, &GraphDef{}, "asked for tensorflow.GraphDef"},
		{"a longer name", &anypb.Any{TypeUrl: "x/my.tensorflow.GraphDef"}, &GraphDef{}, "holds"},
		{"no type", &anypb.Any{}, &GraphDef{}, "holds"},
		{"no Any", nil, &GraphDef{}, "holds"},
		{"broken bytes", &anypb.Any{TypeUrl: "/tensorflow.GraphDef", Value: []byte{0x0a, 5}}, &GraphDef{}, "cannot parse"},
		{"nothing to fill", &anypb.Any{TypeUrl: "/tensorflow.GraphDef"}, nil, "must not be nil"},
		{"a nil message", &anypb.Any{TypeUrl: "/tensorflow.GraphDef"}, none, "must not be nil"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := UnpackAny(tc.any, tc.into)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestPackAnyRefusesNil(t *testing.T) {
	var none *GraphDef
	for _, m := range []proto.Message{nil, none} {
		if _, err := PackAny(m); err == nil {
			t.Errorf("PackAny(%#v) gave no error", m)
		}
	}
}

// The text and JSON forms expand an Any by TensorFlow's name.
func TestResolverExpandsAny(t *testing.T) {
	packed, err := PackAny(&AssetFileDef{Filename: "vocabulary.txt"})
	if err != nil {
		t.Fatal(err)
	}
	list := &CollectionDef_AnyList{Value: []*anypb.Any{packed}}

	text, err := prototext.MarshalOptions{Resolver: Resolver}.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if want := "[type.googleapis.com/tensorflow.AssetFileDef]"; !strings.Contains(string(text), want) {
		t.Errorf("text %s lacks %s", text, want)
	}
	json, err := protojson.MarshalOptions{Resolver: Resolver}.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	fromText, fromJSON := &CollectionDef_AnyList{}, &CollectionDef_AnyList{}
	if err := (prototext.UnmarshalOptions{Resolver: Resolver}).Unmarshal(text, fromText); err != nil {
		t.Fatal(err)
	}
	if err := (protojson.UnmarshalOptions{Resolver: Resolver}).Unmarshal(json, fromJSON); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(fromText, list) || !proto.Equal(fromJSON, list) {
		t.Errorf("text gave %v and JSON gave %v, want %v", fromText, fromJSON, list)
	}
}

func TestResolverKnowsNoExtensions(t *testing.T) {
	if _, err := Resolver.FindExtensionByName("tensorflow.none"); err == nil {
		t.Error("found an extension that nobody declared")
	}
	if _, err := Resolver.FindExtensionByNumber("tensorflow.GraphDef", 1000); err == nil {
		t.Error("found an extension that nobody declared")
	}
}

package servingpb

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gorge-tf/gorge/tf/pb"
)

// TestSchemaIsTensorFlowServings compares every message, field and enum value
// with what testdata/schema.py read out of the package tensorflow-serving-api.
func TestSchemaIsTensorFlowServings(t *testing.T) {
	golden, err := os.ReadFile("testdata/schema.golden")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, fd := range []protoreflect.FileDescriptor{File_gorge_serving_serving_proto, File_gorge_serving_serving_config_proto, File_gorge_serving_serving_log_proto} {
		got = appendMessages(appendEnums(got, fd.Enums()), fd.Messages())
	}
	slices.Sort(got)
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(string(golden)), "\n"), got); diff != "" {
		t.Errorf("schema differs from TensorFlow Serving's (-theirs +ours):\n%s", diff)
	}
}

func appendEnums(out []string, enums protoreflect.EnumDescriptors) []string {
	for i := range enums.Len() {
		for j := range enums.Get(i).Values().Len() {
			v := enums.Get(i).Values().Get(j)
			out = append(out, fmt.Sprintf("value %s %d %s", pb.TensorFlowName(enums.Get(i).FullName()), v.Number(), v.Name()))
		}
	}
	return out
}

func appendMessages(out []string, messages protoreflect.MessageDescriptors) []string {
	for i := range messages.Len() {
		m := messages.Get(i)
		out = append(out, fmt.Sprintf("message %s", pb.TensorFlowName(m.FullName())))
		for j := range m.Fields().Len() {
			out = append(out, field(m, m.Fields().Get(j)))
		}
		out = appendMessages(appendEnums(out, m.Enums()), m.Messages())
	}
	return out
}

func field(m protoreflect.MessageDescriptor, f protoreflect.FieldDescriptor) string {
	label, typ := "single", protoreflect.FullName("-")
	if f.Cardinality() == protoreflect.Repeated {
		label = "repeated"
	}
	if f.Message() != nil {
		typ = f.Message().FullName()
	} else if f.Enum() != nil {
		typ = f.Enum().FullName()
	}
	return fmt.Sprintf("field %s %d %s %s %s %s", pb.TensorFlowName(m.FullName()), f.Number(), f.Name(), label, f.Kind(), pb.TensorFlowName(typ))
}

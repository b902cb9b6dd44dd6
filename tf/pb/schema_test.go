package pb

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

var update = flag.Bool("update", false, "write testdata/schema.golden from the TensorFlow that GORGE_TF_PYTHON has")

const schemaGolden = "testdata/schema.golden"

// verbsSchema stands in for TensorFlow's word: the verbs protocol left its tree
// with contrib and is in no wheel.
const verbsSchema = `
field tensorflow.Channel 1 lid optional int32 - - - -
field tensorflow.Channel 2 qpn optional int32 - - - -
field tensorflow.Channel 3 psn optional int32 - - - -
field tensorflow.Channel 4 snp optional uint64 - - - -
field tensorflow.Channel 5 iid optional uint64 - - - -
field tensorflow.ErrorStatusProto 1 error_code optional int32 - - - -
field tensorflow.ErrorStatusProto 2 error_message optional string - - - -
field tensorflow.ErrorStatusProto 3 error_details optional string - - - -
field tensorflow.GetRemoteAddressRequest 1 host_name optional string - - - -
field tensorflow.GetRemoteAddressRequest 2 channel optional message tensorflow.Channel - - -
field tensorflow.GetRemoteAddressRequest 3 mr repeated message tensorflow.MemoryRegion - - -
field tensorflow.GetRemoteAddressResponse 1 host_name optional string - - - -
field tensorflow.GetRemoteAddressResponse 2 channel optional message tensorflow.Channel - - -
field tensorflow.GetRemoteAddressResponse 3 mr repeated message tensorflow.MemoryRegion - - -
field tensorflow.MemoryRegion 1 remote_addr optional uint64 - - - -
field tensorflow.MemoryRegion 2 rkey optional uint32 - - - -
message tensorflow.Channel
message tensorflow.ErrorStatusProto
message tensorflow.GetRemoteAddressRequest
message tensorflow.GetRemoteAddressResponse
message tensorflow.MemoryRegion
`

// helloSchema is what Gorge adds to that protocol. TensorFlow's tasks skip the fields,
// whose numbers are far from those it used.
const helloSchema = `
field tensorflow.GetRemoteAddressRequest 100 hello optional message tensorflow.VerbsHello - - -
field tensorflow.GetRemoteAddressResponse 100 hello optional message tensorflow.VerbsHello - - -
field tensorflow.VerbsHello 1 version optional uint32 - - - -
field tensorflow.VerbsHello 2 incarnation optional fixed64 - - - -
field tensorflow.VerbsHello 3 nonce optional bytes - - - -
field tensorflow.VerbsHello 4 depth optional uint32 - - - -
field tensorflow.VerbsHello 5 arena optional message tensorflow.MemoryRegion - - -
field tensorflow.VerbsHello 6 arena_bytes optional uint64 - - - -
field tensorflow.VerbsHello 7 generation optional uint32 - - - -
field tensorflow.VerbsHello 8 message_room optional uint32 - - - -
message tensorflow.VerbsHello
`

// boostedSchema stands in for TensorFlow's word, too: ensembles of trees left its
// wheel with their kernels. The numbers are those of TensorFlow 2.4's package
// tensorflow.boosted_trees, less what only training reads.
const boostedSchema = `
field tensorflow.BoostedTrees.BucketizedSplit 1 feature_id optional int32 - - - -
field tensorflow.BoostedTrees.BucketizedSplit 2 threshold optional int32 - - - -
field tensorflow.BoostedTrees.BucketizedSplit 3 left_id optional int32 - - - -
field tensorflow.BoostedTrees.BucketizedSplit 4 right_id optional int32 - - - -
field tensorflow.BoostedTrees.BucketizedSplit 5 dimension_id optional int32 - - - -
field tensorflow.BoostedTrees.CategoricalSplit 1 feature_id optional int32 - - - -
field tensorflow.BoostedTrees.CategoricalSplit 2 value optional int32 - - - -
field tensorflow.BoostedTrees.CategoricalSplit 3 left_id optional int32 - - - -
field tensorflow.BoostedTrees.CategoricalSplit 4 right_id optional int32 - - - -
field tensorflow.BoostedTrees.CategoricalSplit 5 dimension_id optional int32 - - - -
field tensorflow.BoostedTrees.GrowingMetadata 1 num_trees_attempted optional int64 - - - -
field tensorflow.BoostedTrees.GrowingMetadata 2 num_layers_attempted optional int64 - - - -
field tensorflow.BoostedTrees.GrowingMetadata 3 last_layer_node_start optional int32 - - - -
field tensorflow.BoostedTrees.GrowingMetadata 4 last_layer_node_end optional int32 - - - -
field tensorflow.BoostedTrees.Leaf 1 vector optional message tensorflow.BoostedTrees.Vector - - -
field tensorflow.BoostedTrees.Leaf 3 scalar optional float - - - -
field tensorflow.BoostedTrees.Node 1 leaf optional message tensorflow.BoostedTrees.Leaf node - -
field tensorflow.BoostedTrees.Node 2 bucketized_split optional message tensorflow.BoostedTrees.BucketizedSplit node - -
field tensorflow.BoostedTrees.Node 3 categorical_split optional message tensorflow.BoostedTrees.CategoricalSplit node - -
field tensorflow.BoostedTrees.Tree 1 nodes repeated message tensorflow.BoostedTrees.Node - - -
field tensorflow.BoostedTrees.TreeEnsemble 1 trees repeated message tensorflow.BoostedTrees.Tree - - -
field tensorflow.BoostedTrees.TreeEnsemble 2 tree_weights repeated float - - packed -
field tensorflow.BoostedTrees.TreeEnsemble 3 tree_metadata repeated message tensorflow.BoostedTrees.TreeMetadata - - -
field tensorflow.BoostedTrees.TreeEnsemble 4 growing_metadata optional message tensorflow.BoostedTrees.GrowingMetadata - - -
field tensorflow.BoostedTrees.TreeMetadata 2 num_layers_grown optional int32 - - - -
field tensorflow.BoostedTrees.TreeMetadata 3 is_finalized optional bool - - - -
field tensorflow.BoostedTrees.Vector 1 value repeated float - - packed -
message tensorflow.BoostedTrees
message tensorflow.BoostedTrees.BucketizedSplit
message tensorflow.BoostedTrees.CategoricalSplit
message tensorflow.BoostedTrees.GrowingMetadata
message tensorflow.BoostedTrees.Leaf
message tensorflow.BoostedTrees.Node
message tensorflow.BoostedTrees.Tree
message tensorflow.BoostedTrees.TreeEnsemble
message tensorflow.BoostedTrees.TreeMetadata
message tensorflow.BoostedTrees.Vector
`

// TestSchemaIsTensorFlows compares every message, field and enum value with
// what testdata/schema.py read out of TensorFlow's own descriptors.
func TestSchemaIsTensorFlows(t *testing.T) {
	golden, err := os.ReadFile(schemaGolden)
	if err != nil {
		t.Fatal(err)
	}
	want := append(lines(string(golden)), lines(verbsSchema+helloSchema+boostedSchema)...)
	slices.Sort(want)
	got := ourSchema()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schema differs from TensorFlow's (-TensorFlow +ours):\n%s", diff)
	}
}

// TestSchemaGoldenIsCurrent asks the real TensorFlow again.
func TestSchemaGoldenIsCurrent(t *testing.T) {
	python := os.Getenv("GORGE_TF_PYTHON")
	if python == "" {
		t.Skip("GORGE_TF_PYTHON names no Python with TensorFlow 2.21")
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/schema.py")
	cmd.Stdin = strings.NewReader(strings.Join(topLevelNames(), "\n"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	fresh, err := cmd.Output()
	if err != nil {
		t.Fatalf("schema.py: %v\n%s", err, stderr.Bytes())
	}
	if *update {
		if err := os.WriteFile(schemaGolden, fresh, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(schemaGolden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lines(string(fresh)), lines(string(golden))); diff != "" {
		t.Errorf("%s is stale, run with -update (-TensorFlow +golden):\n%s", schemaGolden, diff)
	}
}

func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

// ourFiles calls f for every file of this package.
func ourFiles(f func(protoreflect.FileDescriptor)) {
	protoregistry.GlobalFiles.RangeFiles(func(fd protoreflect.FileDescriptor) bool {
		if strings.HasPrefix(fd.Path(), "gorge/") {
			f(fd)
		}
		return true
	})
}

// topLevelNames lists our messages and enums by TensorFlow's names.
func topLevelNames() []string {
	var names []string
	ourFiles(func(fd protoreflect.FileDescriptor) {
		for i := range fd.Messages().Len() {
			names = append(names, string(TensorFlowName(fd.Messages().Get(i).FullName())))
		}
		for i := range fd.Enums().Len() {
			names = append(names, string(TensorFlowName(fd.Enums().Get(i).FullName())))
		}
	})
	return names
}

// ourSchema prints the registered descriptors in the form of schema.py.
func ourSchema() []string {
	var out []string
	ourFiles(func(fd protoreflect.FileDescriptor) {
		out = appendEnums(out, fd.Enums())
		out = appendMessages(out, fd.Messages())
	})
	slices.Sort(out)
	return out
}

func appendEnums(out []string, enums protoreflect.EnumDescriptors) []string {
	for i := range enums.Len() {
		enum := enums.Get(i)
		name := TensorFlowName(enum.FullName())
		out = append(out, fmt.Sprintf("enum %s", name))
		for j := range enum.Values().Len() {
			value := enum.Values().Get(j)
			out = append(out, fmt.Sprintf("value %s %d %s", name, value.Number(), value.Name()))
		}
	}
	return out
}

func appendMessages(out []string, messages protoreflect.MessageDescriptors) []string {
	for i := range messages.Len() {
		message := messages.Get(i)
		name := TensorFlowName(message.FullName())
		out = append(out, fmt.Sprintf("message %s", name))
		for j := range message.Fields().Len() {
			out = append(out, fieldLine(name, message.Fields().Get(j)))
		}
		for j := range message.ReservedRanges().Len() {
			span := message.ReservedRanges().Get(j)
			out = append(out, fmt.Sprintf("reserved %s %d %d", name, span[0], span[1]))
		}
		out = appendEnums(out, message.Enums())
		out = appendMessages(out, message.Messages())
	}
	return out
}

func fieldLine(message protoreflect.FullName, field protoreflect.FieldDescriptor) string {
	typeName, oneof := "-", "-"
	switch field.Kind() {
	case protoreflect.MessageKind:
		typeName = string(TensorFlowName(field.Message().FullName()))
	case protoreflect.EnumKind:
		typeName = string(TensorFlowName(field.Enum().FullName()))
	}
	if o := field.ContainingOneof(); o != nil {
		oneof = string(o.Name())
	}
	return fmt.Sprintf("field %s %d %s %s %s %s %s %s %s", message, field.Number(), field.Name(),
		field.Cardinality(), field.Kind(), typeName, oneof,
		wordIf(field.IsPacked(), "packed"), wordIf(isDeprecated(field), "deprecated"))
}

func wordIf(cond bool, word string) string {
	if cond {
		return word
	}
	return "-"
}

func isDeprecated(field protoreflect.FieldDescriptor) bool {
	options, ok := field.Options().(*descriptorpb.FieldOptions)
	return ok && options.GetDeprecated()
}

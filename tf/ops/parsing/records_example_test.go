package parsing_test

import (
	"compress/gzip"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
)

// A field that is missing, empty or "NA", gets the default of its column.
func ExampleDecodeCSV() {
	g := eager.New()
	records := ops.Const(g, []string{"1;x;0.5", "NA;y;"})
	defaults := []tf.Output{ops.Const(g, []int32{-1}), ops.Const(g, []float32{0})}
	o := parsing.CSVOpts{Delim: ";", NA: "NA", SelectCols: []int{0, 2}}
	for _, column := range parsing.DecodeCSV(records, defaults, o) {
		v, err := column.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[2]{1, -1} <nil>
	// float32[2]{0.5, 0} <nil>
}

// What gzip has compressed is decompressed within the graph.
func ExampleCompression() {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte("some text")); err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}
	g := eager.New()
	v, err := parsing.DecodeCompressed(ops.Scalar(g, b.String()), parsing.Compression("GZIP")).Value()
	fmt.Println(v, err)
	// Output: string[]{"some text"} <nil>
}

// Dense features have a value for each example, sparse and ragged ones any
// number.
func ExampleParseExampleV2() {
	g := eager.New()
	records := ops.Const(g, []string{
		string(example.Example{"age": example.Floats(30), "words": example.Ints(3, 1), "tags": example.Strings("a")}.Marshal()),
		string(example.Example{"words": example.Ints(7)}.Marshal()),
	})
	dense := []parsing.Dense{{Key: "age", Shape: tf.Shape{1}, Default: ops.Const(g, []float32{-1})}}
	sparse := []parsing.Sparse{{Key: "tags", Type: tf.String}}
	ragged := []parsing.Ragged{{Key: "words", Type: tf.Int64, Splits: tf.Int64}}
	parsed := parsing.ParseExampleV2(records, ops.Const(g, []string{}), dense, sparse, ragged)
	tags, words := parsed.Sparse[0], parsed.Ragged[0]
	for _, y := range []tf.Output{parsed.Dense[0], tags.Indices, tags.Values, words.Values, words.Splits} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[2,1]{30, -1} <nil>
	// int64[1,2]{0, 0} <nil>
	// string[1]{"a"} <nil>
	// int64[3]{3, 1, 7} <nil>
	// int64[3]{0, 2, 3} <nil>
}

// The results of ParseExample, in the order in which features are asked for:
// a sparse one is a SparseResult, and ParseExampleV2 has a RaggedResult too.
func ExampleParsed() {
	g := eager.New()
	record := ops.Const(g, []string{string(example.Example{"words": example.Ints(3, 1)}.Marshal())})
	nameless := ops.Const(g, []string{})
	var p parsing.Parsed = parsing.ParseExampleV2(record, nameless, nil,
		[]parsing.Sparse{{Key: "words", Type: tf.Int64}}, []parsing.Ragged{{Key: "words", Type: tf.Int64, Splits: tf.Int32}})
	var s parsing.SparseResult = p.Sparse[0]
	var r parsing.RaggedResult = p.Ragged[0]
	for _, y := range []tf.Output{s.Values, s.Shape, r.Values, r.Splits} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int64[2]{3, 1} <nil>
	// int64[2]{1, 2} <nil>
	// int64[2]{3, 1} <nil>
	// int32[2]{0, 2} <nil>
}

// A sequence has features of its own, its context, and lists with a feature
// for each step.
func ExampleSequenceSpec() {
	g := eager.New()
	record := example.Sequence{
		Context: example.Example{"speaker": example.Strings("a")},
		Lists:   map[string][]example.Feature{"pitch": {example.Floats(1, 2), example.Floats(3, 4)}},
	}.Marshal()
	spec := parsing.SequenceSpec{
		Dense:      []parsing.Dense{{Key: "speaker", Shape: tf.Shape{}, Default: ops.Const(g, []string{})}},
		DenseLists: []parsing.Dense{{Key: "pitch", Shape: tf.Shape{2}, Default: ops.Const(g, []float32{})}},
	}
	for _, y := range parsing.ParseSingleSequenceExample(ops.Scalar(g, string(record)), ops.Scalar(g, ""), spec) {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[]{"a"} <nil>
	// float32[2,2]{1, 2, 3, 4} <nil>
}

// Protocol buffers whose type is described by a set of files: here the
// description of descriptions.
func ExampleEncodeProtoOpts() {
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{
		protodesc.ToFileDescriptorProto(descriptorpb.File_google_protobuf_descriptor_proto),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := eager.New()
	source := "bytes://" + string(set)
	fields, sizes := []string{"name", "dependency"}, ops.Const(g, []int32{1, 2}, 1, 2)
	values := []tf.Output{ops.Const(g, []string{"a"}, 1, 1), ops.Const(g, []string{"b", "c"}, 1, 2)}
	message := parsing.EncodeProto(sizes, values, "google.protobuf.FileDescriptorProto", fields, parsing.EncodeProtoOpts{DescriptorSource: source})
	_, decoded := parsing.DecodeProtoV2(message, "google.protobuf.FileDescriptorProto", fields[1:], []tf.DType{tf.String}, parsing.ProtoOpts{DescriptorSource: source})
	for _, y := range append(decoded, message) {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[1,2]{"b", "c"} <nil>
	// string[1]{"\n\x01a\x1a\x01b\x1a\x01c"} <nil>
}

// Fields of a message in text format. Its type is linked into the program, so
// that no description is needed.
func ExampleDecodeProtoV2() {
	g := eager.New()
	message := ops.Const(g, []string{`name: "a.proto" dependency: "b" dependency: "c"`})
	fields, types := []string{"dependency"}, []tf.DType{tf.String}
	sizes, values := parsing.DecodeProtoV2(message, "google.protobuf.FileDescriptorProto", fields, types, parsing.ProtoOpts{Text: true})
	for _, y := range append(values, sizes) {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[1,2]{"b", "c"} <nil>
	// int32[1,1]{2} <nil>
}

// Numbers are float32 unless another type is asked for.
func ExampleStringToNumber() {
	g := eager.New()
	x := ops.Const(g, []string{"12", " -3 "})
	for _, opts := range [][]tf.Option{nil, {parsing.NumberType(tf.Int64)}} {
		v, err := parsing.StringToNumber(x, opts...).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[2]{12, -3} <nil>
	// int64[2]{12, -3} <nil>
}

// The bytes of numbers begin with the lowest one, unless they are BigEndian.
func ExampleDecodeRaw() {
	g := eager.New()
	x := ops.Scalar(g, "\x01\x02\x00\x03")
	for _, big := range []bool{false, true} {
		v, err := parsing.DecodeRaw(x, tf.Uint16, parsing.RawOpts{BigEndian: big}).Value()
		fmt.Println(v, err)
	}
	// Output:
	// uint16[2]{513, 768} <nil>
	// uint16[2]{258, 3} <nil>
}

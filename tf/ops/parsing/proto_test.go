package parsing_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/optest"
)

// kinds are the kinds of fields, each with the widest type that holds it. Field
// i+1 of message Each is optional and has a default, field i+21 is repeated,
// field i+41 is repeated and packed.
var kinds = []struct {
	name string
	kind descriptorpb.FieldDescriptorProto_Type
	d    tf.DType
	def  string
}{
	{"double", descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, tf.Float64, "1.5"},
	{"float", descriptorpb.FieldDescriptorProto_TYPE_FLOAT, tf.Float64, "-2.25"},
	{"int64", descriptorpb.FieldDescriptorProto_TYPE_INT64, tf.Int64, "-3"},
	{"uint64", descriptorpb.FieldDescriptorProto_TYPE_UINT64, tf.Uint64, "4"},
	{"int32", descriptorpb.FieldDescriptorProto_TYPE_INT32, tf.Int32, "-5"},
	{"fixed64", descriptorpb.FieldDescriptorProto_TYPE_FIXED64, tf.Uint64, "6"},
	{"fixed32", descriptorpb.FieldDescriptorProto_TYPE_FIXED32, tf.Uint64, "7"},
	{"bool", descriptorpb.FieldDescriptorProto_TYPE_BOOL, tf.Bool, "true"},
	{"string", descriptorpb.FieldDescriptorProto_TYPE_STRING, tf.String, "ab"},
	{"bytes", descriptorpb.FieldDescriptorProto_TYPE_BYTES, tf.String, "c"},
	{"uint32", descriptorpb.FieldDescriptorProto_TYPE_UINT32, tf.Uint32, "9"},
	{"enum", descriptorpb.FieldDescriptorProto_TYPE_ENUM, tf.Int32, "TWO"},
	{"sfixed32", descriptorpb.FieldDescriptorProto_TYPE_SFIXED32, tf.Int64, "-10"},
	{"sfixed64", descriptorpb.FieldDescriptorProto_TYPE_SFIXED64, tf.Int64, "11"},
	{"sint32", descriptorpb.FieldDescriptorProto_TYPE_SINT32, tf.Int64, "-12"},
	{"sint64", descriptorpb.FieldDescriptorProto_TYPE_SINT64, tf.Int64, "-13"},
	{"message", descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, tf.String, ""},
}

func packable(d tf.DType) bool { return d != tf.String }

// descriptorSet describes the messages of the tests.
func descriptorSet() string {
	each := &descriptorpb.DescriptorProto{Name: proto.String("Each"), ExtensionRange: []*descriptorpb.DescriptorProto_ExtensionRange{{Start: proto.Int32(100), End: proto.Int32(200)}}}
	add := func(name string, number int, k descriptorpb.FieldDescriptorProto_Type, repeated bool) *descriptorpb.FieldDescriptorProto {
		f := &descriptorpb.FieldDescriptorProto{Name: proto.String(name), Number: proto.Int32(int32(number)), Type: k.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
		if repeated {
			f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}
		switch k {
		case descriptorpb.FieldDescriptorProto_TYPE_ENUM:
			f.TypeName = proto.String(".probe.Number")
		case descriptorpb.FieldDescriptorProto_TYPE_MESSAGE:
			f.TypeName = proto.String(".probe.Each")
		}
		return f
	}
	for i, k := range kinds {
		one := add(k.name, i+1, k.kind, false)
		if k.def != "" {
			one.DefaultValue = proto.String(k.def)
		}
		each.Field = append(each.Field, one, add("many_"+k.name, i+21, k.kind, true))
		if packable(k.d) {
			p := add("packed_"+k.name, i+41, k.kind, true)
			p.Options = &descriptorpb.FieldOptions{Packed: proto.Bool(true)}
			each.Field = append(each.Field, p)
		}
	}
	extension := add("more", 100, descriptorpb.FieldDescriptorProto_TYPE_INT32, true)
	extension.Extendee = proto.String(".probe.Each")
	file := &descriptorpb.FileDescriptorProto{
		Name: proto.String("probe.proto"), Package: proto.String("probe"), MessageType: []*descriptorpb.DescriptorProto{each}, Extension: []*descriptorpb.FieldDescriptorProto{extension},
		EnumType: []*descriptorpb.EnumDescriptorProto{{Name: proto.String("Number"), Value: []*descriptorpb.EnumValueDescriptorProto{
			{Name: proto.String("ZERO"), Number: proto.Int32(0)}, {Name: proto.String("TWO"), Number: proto.Int32(2)}}}},
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{file}})
	if err != nil {
		panic(err)
	}
	return string(data)
}

var inline = "bytes://" + descriptorSet()

// fieldsOf lists the fields whose names begin with prefix, and types for them.
func fieldsOf(prefix string, all bool) (names []string, types []tf.DType) {
	for _, k := range kinds {
		if all || packable(k.d) {
			names, types = append(names, prefix+k.name), append(types, k.d)
		}
	}
	return names, types
}

// values gives three numbers or texts for a kind, as EncodeProto takes them.
func values(d tf.DType) *core.Tensor {
	if d == tf.String {
		return optest.Mat(3, "\x28\x01", "", "\x08", "a", "b", "c")
	}
	return optest.Convert(optest.Mat[float64](3, 1, 0, 3, 127, 300, 1<<20), d)
}

// written encodes fields of both messages, which have three values and one of
// each.
func written(prefix string, all bool, most int32) function {
	names, types := fieldsOf(prefix, all)
	return func(g *tf.Graph, _ []tf.Output) []tf.Output {
		var sizes []int32
		var in []tf.Output
		for _, n := range []int32{most, 1} {
			for range names {
				sizes = append(sizes, n)
			}
		}
		for _, d := range types {
			in = append(in, ops.ConstValue(g, values(d)))
		}
		x := parsing.EncodeProto(ops.Const(g, sizes, 2, len(names)), in, "probe.Each", names, parsing.EncodeProtoOpts{DescriptorSource: inline})
		return []tf.Output{x}
	}
}

func decoded(names []string, types []tf.DType, o parsing.ProtoOpts) function {
	if o.DescriptorSource == "" {
		o.DescriptorSource = inline
	}
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		sizes, values := parsing.DecodeProtoV2(in[0], "probe.Each", names, types, o)
		return append([]tf.Output{sizes}, values...)
	}
}

// bytesOf evaluates what f adds.
func bytesOf(f function) *core.Tensor {
	t, err := f(eager.New(), nil)[0].Value()
	if err != nil {
		panic(err)
	}
	return (*core.Tensor)(t)
}

func init() {
	for _, prefix := range []string{"many_", "packed_"} {
		all := prefix != "packed_"
		add("EncodeProto", prefix, written(prefix, all, 3))
		names, types := fieldsOf(prefix, all)
		add("DecodeProtoV2", prefix, decoded(names, types, parsing.ProtoOpts{}), bytesOf(written(prefix, all, 3)))
	}
	add("EncodeProto", "optional", written("", true, 1))
	names, types := fieldsOf("", true)
	add("DecodeProtoV2", "optional", decoded(names, types, parsing.ProtoOpts{}), bytesOf(written("", true, 1)))
	add("DecodeProtoV2", "defaults", decoded(names, types, parsing.ProtoOpts{Sanitize: true}), optest.Mat(1, "", ""))
	add("DecodeProtoV2", "text", decoded([]string{"many_int32", "string"}, []tf.DType{tf.Int64, tf.String}, parsing.ProtoOpts{Text: true}), core.Scalar("many_int32: [1, -2] string: 'x'"))
	add("DecodeProtoV2", "extension", decoded([]string{"probe.more"}, []tf.DType{tf.Int32}, parsing.ProtoOpts{}), core.Scalar(string(field(100, 7))+string(field(100, 1<<64-8))))
	negative := string(protowire.AppendBytes(protowire.AppendTag(nil, 45, protowire.BytesType), protowire.AppendVarint(nil, 1<<64-5)))
	add("DecodeProtoV2", "packed negative", decoded([]string{"packed_int32"}, []tf.DType{tf.Int64}, parsing.ProtoOpts{}), core.Scalar(negative))
	add("DecodeProtoV2", "negative", decoded([]string{"many_int32"}, []tf.DType{tf.Int64}, parsing.ProtoOpts{}), core.Scalar(string(field(25, 1<<64-5))))
	onePacked := string(protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), []byte{1, 2}))
	add("DecodeProtoV2", "one packed", decoded([]string{"int32"}, []tf.DType{tf.Int32}, parsing.ProtoOpts{}), core.Scalar(onePacked))
	add("DecodeProtoV2", "last", decoded([]string{"int32"}, []tf.DType{tf.Int32}, parsing.ProtoOpts{}), core.Scalar(string(field(5, 7))+string(field(5, 9))))
	add("DecodeProtoV2", "other wire type", decoded([]string{"string", "double"}, []tf.DType{tf.String, tf.Float64}, parsing.ProtoOpts{}), core.Scalar(string(field(9, 7))+string(field(1, 9))))
	addProtoFailures()
}

// field is a varint field.
func field(num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
}

func addProtoFailures() {
	int32s := func(names []string, o parsing.ProtoOpts) function { return decoded(names, []tf.DType{tf.Int32}, o) }
	plain := int32s([]string{"int32"}, parsing.ProtoOpts{})
	for name, text := range map[string]string{"tag": "\xff", "varint": "\x28\xff", "end group": "\x2c", "skipped": "\x49\x01", "packed": "\xaa\x02\x05\x01", "skipped string": "\x4a\x09a"} {
		fails("DecodeProtoV2", name, decoded([]string{"int32", "packed_int32"}, []tf.DType{tf.Int32, tf.Int32}, parsing.ProtoOpts{}), core.Scalar(text))
	}
	fails("DecodeProtoV2", "none", plain, optest.Vec[string]())
	fails("DecodeProtoV2", "field", int32s([]string{"nothing"}, parsing.ProtoOpts{}), core.Scalar(""))
	fails("DecodeProtoV2", "type", int32s([]string{"double"}, parsing.ProtoOpts{}), core.Scalar(""))
	fails("DecodeProtoV2", "types", decoded([]string{"double", "int32"}, []tf.DType{tf.Float64}, parsing.ProtoOpts{}), core.Scalar(""))
	fails("DecodeProtoV2", "source", int32s([]string{"int32"}, parsing.ProtoOpts{DescriptorSource: "/nowhere"}), core.Scalar(""))
	fails("DecodeProtoV2", "text", int32s([]string{"int32"}, parsing.ProtoOpts{Text: true}), core.Scalar("?"))
	fails("DecodeProtoV2", "binary", int32s([]string{"int32"}, parsing.ProtoOpts{Sanitize: true}), core.Scalar("\xff"))
	encode := func(names ...string) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{parsing.EncodeProto(in[0], in[1:], "probe.Each", names, parsing.EncodeProtoOpts{DescriptorSource: inline})}
		}
	}
	ints := optest.Mat[int32](3, 1, 2, 3, 4, 5, 6)
	fails("EncodeProto", "sizes", encode("int32"), optest.Mat[int32](1, 1), ints)
	fails("EncodeProto", "size", encode("many_int32"), optest.Mat[int32](1, 1, 4), ints)
	fails("EncodeProto", "type", encode("double"), optest.Mat[int32](1, 1, 1), ints)
	fails("EncodeProto", "field", encode("probe.more"), optest.Mat[int32](1, 1, 1), ints)
	fails("EncodeProto", "number", encode("int32", "double"), optest.Mat[int32](1, 1, 1), ints)
	fails("EncodeProto", "rank", encode("int32"), optest.I32(1), optest.I32(1))
	fails("EncodeProto", "shapes", encode("int32", "int32"), optest.Mat[int32](2, 1, 1, 1, 1), ints, optest.Mat[int32](1, 1))
}

// TestProtoSources finds one type by all that a source may be.
func TestProtoSources(t *testing.T) {
	path := filepath.Join(t.TempDir(), "set")
	if err := os.WriteFile(path, []byte(strings.TrimPrefix(inline, "bytes://")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{inline, path, "file://" + path} {
		x := decoded([]string{"int32"}, []tf.DType{tf.Int32}, parsing.ProtoOpts{DescriptorSource: source})(eager.New(), []tf.Output{ops.Scalar(eager.New(), string(field(5, 7)))})
		if v, err := x[1].Value(); err != nil || tf.Data[int32](v)[0] != 7 {
			t.Errorf("%.10q: %v, %v", source, v, err)
		}
	}
	set := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{Name: proto.String("f"), Package: proto.String("p")}}}
	data, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	g := eager.New()
	_, values := parsing.DecodeProtoV2(ops.Scalar(g, string(data)), "google.protobuf.FileDescriptorSet", []string{"file"}, []tf.DType{tf.String})
	if v, err := values[0].Value(); err != nil || !strings.Contains(fmt.Sprint(v), "p") {
		t.Errorf("a linked type: %v, %v", v, err)
	}
}

// TestDecodeProtoTwice: of a field that is asked for more than once the first has the values,
// as in TensorFlow 2.21, and the others have the default.
func TestDecodeProtoTwice(t *testing.T) {
	names := []string{"string", "many_int32", "many_int32", "string"}
	f := decoded(names, []tf.DType{tf.String, tf.Int64, tf.Int64, tf.String}, parsing.ProtoOpts{})
	in := ops.ConstValue(eager.New(), core.Scalar(string(field(25, 5))+string(field(25, 6))+"\x4a\x01a"))
	for i, want := range []string{"[1 2 0 0]", "[a]", "[5 6]", "[0]", "[ab]"} {
		v, err := f(in.Graph(), []tf.Output{in})[i].Value()
		if err != nil {
			t.Fatal(err)
		}
		var got string
		switch v.DType() {
		case tf.Int32:
			got = fmt.Sprint(tf.Data[int32](v))
		case tf.Int64:
			got = fmt.Sprint(tf.Data[int64](v))
		default:
			got = fmt.Sprint(tf.Data[string](v))
		}
		if got != want {
			t.Errorf("result %d is %s, want %s", i, got, want)
		}
	}
}

// FuzzDecodeProto: any bytes are read or refused.
func FuzzDecodeProto(f *testing.F) {
	for _, s := range core.Data[string](bytesOf(written("many_", true, 3))) {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Add("\x28\xff", false)
	names, types := fieldsOf("packed_", false)
	f.Fuzz(func(t *testing.T, s string, sanitize bool) {
		g := eager.New()
		for _, y := range decoded(names, types, parsing.ProtoOpts{Sanitize: sanitize})(g, []tf.Output{ops.Scalar(g, s)}) {
			if _, err := y.Value(); err != nil && tf.CodeOf(err) != tf.DataLoss {
				t.Error(err)
			}
		}
	})
}

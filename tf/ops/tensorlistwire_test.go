package ops

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// crossed sends a variant to another task.
func crossed(t *testing.T, v any) any {
	t.Helper()
	p, err := core.EncodeTensor(variantOf(v))
	if err != nil {
		t.Fatal(err)
	}
	x, err := core.TensorFromProto(p)
	if err != nil {
		t.Fatal(err)
	}
	return x.Variants()[0].Value
}

func TestListsCross(t *testing.T) {
	two := core.NewTensor(tf.Int32, tf.Shape{2})
	inner := newList(tf.Int32, tf.Shape{2}, []*core.Tensor{nil, two, nil})
	inner.limit = 7
	for name, l := range map[string]*tensorList{
		"empty": newList(tf.Float32, nil, nil), "unset": inner, "nested": newList(tf.Variant, tf.Shape{}, []*core.Tensor{variantOf(inner), variantOf(&optional{})}),
	} {
		got, ok := crossed(t, l).(*tensorList)
		if !ok || got.elem != l.elem || got.limit != l.limit || got.shape.String() != l.shape.String() || len(got.items) != len(l.items) {
			t.Fatalf("%s: %+v became %+v", name, l, got)
		}
		for i, item := range l.items {
			if (item == nil) != (got.items[i] == nil) || item != nil && item.DType() != tf.Variant && !core.TensorsEqual(item, got.items[i]) {
				t.Errorf("%s: element %d: %v became %v", name, i, item, got.items[i])
			}
		}
	}
}

func TestOptionalsCross(t *testing.T) {
	if o := crossed(t, &optional{}).(*optional); o.items != nil {
		t.Errorf("nothing became %v", o.items)
	}
	if o := crossed(t, &optional{items: []*core.Tensor{core.Scalar("a")}}).(*optional); len(o.items) != 1 || core.Data[string](o.items[0])[0] != "a" {
		t.Errorf("a string became %v", o.items)
	}
	if o := crossed(t, &optional{items: []*core.Tensor{}}).(*optional); o.items == nil {
		t.Error("an empty tuple became nothing")
	}
}

// listMessage is a message for a list of one float32, with the given metadata.
func listMessage(metadata string) *pb.TensorProto {
	return &pb.TensorProto{Dtype: pb.DataType(tf.Variant), TensorShape: &pb.TensorShapeProto{}, VariantVal: []*pb.VariantTensorDataProto{{
		TypeName: listTypeName, Metadata: []byte(metadata), Tensors: []*pb.TensorProto{core.TensorProto(core.Scalar[float32](1))},
	}}}
}

func TestBadListsAreRefused(t *testing.T) {
	if _, err := core.TensorFromProto(listMessage("\x00\x01\x05")); err != nil {
		t.Fatal(err)
	}
	for metadata, want := range map[string]string{
		"":                     "ends early",
		"\x00\x01":             "ends early",
		"\x02\x00\x01\x05":     "ends early",
		"\xff\xff\xff\xff\x7f": "ends early",
		"\x01\x09\x01\x05":     "element 9 of 2 cannot be unset",
		"\x02\x01\x01\x01\x05": "element 1 of 3 cannot be unset",
		"\x00\x7f\x05":         "there is no type 127",
		"\x00\x65\x05":         "there is no type 101",
		"\x00\x03\x05":         "its elements are int32, one is float32",
		"\x00\x01\x05\xff":     "holds no shape",
	} {
		if _, err := core.TensorFromProto(listMessage(metadata)); tf.CodeOf(err) != tf.DataLoss || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", metadata, err, want)
		}
	}
}

func FuzzDecodeList(f *testing.F) {
	f.Add([]byte("\x01\x00\x01\x05\x12\x02\x08\x02"))
	f.Fuzz(func(t *testing.T, metadata []byte) {
		x, err := core.TensorFromProto(listMessage(string(metadata)))
		if err != nil {
			return
		}
		l := x.Variants()[0].Value.(*tensorList)
		if again := crossed(t, l).(*tensorList); len(again.items) != len(l.items) || again.limit != l.limit {
			t.Errorf("%+v became %+v", l, again)
		}
	})
}

func TestMapsCross(t *testing.T) {
	m := newMap().with(core.Scalar("a"), core.Scalar[float32](1)).with(core.Scalar[int32](7), core.Scalar("b"))
	got := crossed(t, m).(*tensorMap)
	if len(got.order) != 2 || len(got.at) != 2 {
		t.Fatalf("%v became %v", m, got)
	}
	for text, e := range m.at {
		if !core.TensorsEqual(e.value, got.at[text].value) {
			t.Errorf("%q: %v became %v", text, e, got.at[text])
		}
	}
	for _, bad := range [][]*core.Tensor{{core.Scalar("a")}, {variantOf(m), core.Scalar("a")}} {
		if _, err := decodeMap(core.VariantData{Tensors: bad}); err == nil {
			t.Errorf("%v is taken for a map", bad)
		}
	}
}

// TestZerosOfPrimitives: TensorFlow knows a zero of variants that hold a C type.
func TestZerosOfPrimitives(t *testing.T) {
	of := func(name string, b ...byte) core.VariantValue {
		return core.VariantValue{Value: &pb.VariantTensorDataProto{TypeName: name, Metadata: b}}
	}
	z, err := zeroVariant(of("int", 1, 2, 3, 4))
	if p, ok := z.(*pb.VariantTensorDataProto); err != nil || !ok || p.GetTypeName() != "int" || string(p.GetMetadata()) != "\x00\x00\x00\x00" {
		t.Errorf("the zero of an int is %v (%v)", z, err)
	}
	sum, err := addVariants(of("int", 255, 0, 0, 0), of("int", 2, 1, 0, 0))
	if p, ok := sum.(*pb.VariantTensorDataProto); err != nil || !ok || string(p.GetMetadata()) != "\x01\x02\x00\x00" {
		t.Errorf("255 + 258 is %v (%v)", sum, err)
	}
	for _, bad := range []core.VariantValue{of("int", 1), of("float", 0, 0, 0, 0), of("unheard of")} {
		if sum, err := addVariants(of("int", 1, 2, 3, 4), bad); err == nil {
			t.Errorf("an int and %v make %v", bad, sum)
		}
	}
	if z, err := zeroVariant(of("unheard of")); err == nil {
		t.Errorf("the zero of something unheard of is %v", z)
	}
}

func TestVariantText(t *testing.T) {
	of := func(name string, b ...byte) *pb.VariantTensorDataProto {
		return &pb.VariantTensorDataProto{TypeName: name, Metadata: b}
	}
	for want, v := range map[string]any{
		"Variant<type: int value: -2>":                              of("int", 0xfe, 0xff, 0xff, 0xff),
		"Variant<type: float value: 0.5>":                           of("float", 0, 0, 0, 0x3f),
		"Variant<type: double value: 1>":                            of("double", 0, 0, 0, 0, 0, 0, 0xf0, 0x3f),
		"Variant<type: bool value: 1>":                              of("bool", 1),
		"Variant<type: tensorflow::TensorMap value: TensorMap>":     newMap(),
		"Variant<type: a::B value: B>":                              of("a::B"),
		"Variant<type: tensorflow::TensorList value: TensorList>":   newList(tf.Int32, nil, nil),
		"Variant<type: tensorflow::data::Optional value: Optional>": &optional{},
	} {
		if got := variantText(v); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestVariantAttributes: a constant variant crosses with its graph.
func TestVariantAttributes(t *testing.T) {
	v := core.NewTensor(tf.Variant, tf.Shape{2}) // the first is empty
	v.Variants()[1].Value = &pb.VariantTensorDataProto{TypeName: "int", Metadata: []byte{7, 0, 0, 0}}
	def := core.Lookup("Const")
	p, err := core.AttrsProto(core.Attrs{"dtype": tf.Variant, "value": v})
	if err != nil {
		t.Fatal(err)
	}
	a, err := core.AttrsFromProto(p, def)
	if err != nil {
		t.Fatal(err)
	}
	got := a["value"].(*core.Tensor).Variants()
	if text := variantText(got[1].Value); got[0].Value != nil || text != "Variant<type: int value: 7>" {
		t.Errorf("became %v and %s", got[0].Value, text)
	}
}

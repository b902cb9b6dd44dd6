package core_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func (c *goldenTensor) proto(t *testing.T) *pb.TensorProto {
	t.Helper()
	data, err := hex.DecodeString(c.Proto)
	if err != nil {
		t.Fatal(err)
	}
	p := &pb.TensorProto{}
	if err := proto.Unmarshal(data, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// check compares x with the golden elements.
func (c *goldenTensor) check(t *testing.T, x *core.Tensor) {
	t.Helper()
	if x.DType() != c.DType || !slices.Equal(x.Shape(), c.Shape) {
		t.Errorf("got %v%v, want %v%v", x.DType(), x.Shape(), c.DType, c.Shape)
	}
	if x.DType() == core.String {
		var got []string
		for _, s := range core.Data[string](x) {
			got = append(got, hex.EncodeToString([]byte(s)))
		}
		if want := decode[[]string](t, c.Elements); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		return
	}
	if got, want := hex.EncodeToString(x.Buffer().Bytes()), decode[string](t, c.Elements); got != want {
		t.Errorf("got bytes %s, want %s", got, want)
	}
}

func TestReadTensorProtos(t *testing.T) {
	for _, c := range append(golden.Tensors, golden.Encodings...) {
		t.Run(c.Name, func(t *testing.T) {
			x, err := core.TensorFromProto(c.proto(t))
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, x)
		})
	}
}

// TestWriteTensorProtos compares with what TensorFlow writes where it chooses
// tensor_content; its other fields mean the same.
func TestWriteTensorProtos(t *testing.T) {
	for _, c := range golden.Tensors {
		t.Run(c.Name, func(t *testing.T) {
			want := c.proto(t)
			x, err := core.TensorFromProto(want)
			if err != nil {
				t.Fatal(err)
			}
			got := core.TensorProto(x)
			again, err := core.TensorFromProto(got)
			if err != nil || !core.TensorsEqual(x, again) {
				t.Errorf("written and read again: %v, %v", again, err)
			}
			if len(want.GetTensorContent()) > 0 && !proto.Equal(got, want) {
				t.Errorf("got %v\nwant %v", got, want)
			}
		})
	}
}

func TestHandlesCrossProtos(t *testing.T) {
	h := core.ResourceHandle{Device: "/job:a", Container: "c", Name: "v", HashCode: 1 << 63, TypeName: "N10tensorflow3VarE", DType: core.Float32, Shape: core.Shape{-1, 2}}
	x, err := core.TensorFromProto(core.TensorProto(core.HandleTensor(h)))
	if err != nil {
		t.Fatal(err)
	}
	if !core.TensorsEqual(x, core.HandleTensor(h)) {
		t.Errorf("got %+v", x.Handles()[0])
	}
}

func TestVariantsAreKeptAsTheyCame(t *testing.T) {
	v := &pb.VariantTensorDataProto{TypeName: "somebody::Else"}
	x, err := core.TensorFromProto(&pb.TensorProto{Dtype: pb.DataType(core.Variant), TensorShape: &pb.TensorShapeProto{}, VariantVal: []*pb.VariantTensorDataProto{v}})
	if err != nil || x.Variants()[0].Value != any(v) {
		t.Errorf("got %v, %v", x, err)
	}
}

func TestStringContent(t *testing.T) {
	p := &pb.TensorProto{Dtype: pb.DataType(core.String), TensorShape: core.ShapeProto(core.Shape{2}), TensorContent: []byte{1, 2, 'a', 'b', 'c'}}
	x, err := core.TensorFromProto(p)
	if err != nil || !slices.Equal(core.Data[string](x), []string{"a", "bc"}) {
		t.Errorf("got %v, %v", x, err)
	}
}

func TestHandleContent(t *testing.T) {
	p := &pb.TensorProto{Dtype: pb.DataType(core.Resource), TensorShape: core.ShapeProto(core.Shape{}), TensorContent: []byte{5, 0x1a, 3, 'a', 'b', 'c'}}
	x, err := core.TensorFromProto(p)
	if err != nil || len(x.Handles()) != 1 || x.Handles()[0].Name != "abc" {
		t.Errorf("got %v, %v", x, err)
	}
	for _, bad := range [][]byte{{9, 0x1a}, {1, 0x1a}, {1, 0xff}} {
		p.TensorContent = bad
		if _, err := core.TensorFromProto(p); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("%v is read as a handle: %v", bad, err)
		}
	}
}

func TestBadTensorProtos(t *testing.T) {
	float := func(dims ...int) *pb.TensorProto {
		return &pb.TensorProto{Dtype: pb.DataType(core.Float32), TensorShape: core.ShapeProto(dims)}
	}
	with := func(p *pb.TensorProto, f func(*pb.TensorProto)) *pb.TensorProto { f(p); return p }
	for name, p := range map[string]*pb.TensorProto{
		"no type":        {},
		"negative type":  {Dtype: -1},
		"reference type": {Dtype: 101},
		"unknown type":   {Dtype: 77},
		"huge type":      {Dtype: 1 << 20},
		"unknown size":   float(-1),
		"negative size":  {Dtype: 1, TensorShape: &pb.TensorShapeProto{Dim: []*pb.TensorShapeProto_Dim{{Size: -5}}}},
		"huge":           float(1<<40, 1<<40),
		"big":            float(1 << 33),
		"many strings":   {Dtype: pb.DataType(core.String), TensorShape: core.ShapeProto(core.Shape{1 << 30})},
		"short content":  with(float(2), func(p *pb.TensorProto) { p.TensorContent = make([]byte, 7) }),
		"long content":   with(float(2), func(p *pb.TensorProto) { p.TensorContent = make([]byte, 9) }),
		"too many sizes": float(make([]int, 255)...),
		"a bool of 2":    {Dtype: pb.DataType(core.Bool), TensorShape: core.ShapeProto(core.Shape{1}), TensorContent: []byte{2}},
		"handles as raw": {Dtype: pb.DataType(core.Resource), TensorShape: core.ShapeProto(core.Shape{}), TensorContent: []byte{1}},
		"too many handles": {Dtype: pb.DataType(core.Resource), TensorShape: core.ShapeProto(core.Shape{0}),
			ResourceHandleVal: []*pb.ResourceHandleProto{{}}},
		"too many variants": {Dtype: pb.DataType(core.Variant), TensorShape: core.ShapeProto(core.Shape{0}),
			VariantVal: []*pb.VariantTensorDataProto{{}}},
		"string lengths end": {Dtype: pb.DataType(core.String), TensorShape: core.ShapeProto(core.Shape{2}), TensorContent: []byte{1}},
		"strings end":        {Dtype: pb.DataType(core.String), TensorShape: core.ShapeProto(core.Shape{1}), TensorContent: []byte{3, 'a'}},
	} {
		t.Run(name, func(t *testing.T) {
			if x, err := core.TensorFromProto(p); core.CodeOf(err) != core.InvalidArgument {
				t.Errorf("got %v, %v", x, err)
			}
		})
	}
}

// TestOddTensorProtos: what TensorFlow reads although it does not fit.
func TestOddTensorProtos(t *testing.T) {
	float := func(n int, vals []float32, content []byte) *pb.TensorProto {
		return &pb.TensorProto{Dtype: pb.DataType(core.Float32), TensorShape: core.ShapeProto(core.Shape{n}), FloatVal: vals, TensorContent: content}
	}
	for name, c := range map[string]struct {
		p    *pb.TensorProto
		want []float32
	}{
		"values beyond the last":  {float(2, []float32{1, 2, 3}, nil), []float32{1, 2}},
		"values of nothing":       {float(0, []float32{1}, nil), nil},
		"bytes of nothing":        {float(0, nil, []byte{1, 2, 3}), nil},
		"values beside the bytes": {float(1, []float32{1}, []byte{0, 0, 0, 64}), []float32{2}},
	} {
		x, err := core.TensorFromProto(c.p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := core.Data[float32](x); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestShapeProtos(t *testing.T) {
	for _, s := range []core.Shape{nil, {}, {-1, 3}, {0}} {
		got, err := core.ShapeFromProto(core.ShapeProto(s))
		if err != nil || !got.Equal(s) {
			t.Errorf("%v became %v, %v", s, got, err)
		}
	}
	if s, err := core.ShapeFromProto(nil); err != nil || s == nil || len(s) != 0 {
		t.Errorf("no shape is %v, %v; want a scalar's", s, err)
	}
}

// TestVariantsAsContent reads variants as TensorFlow sends them.
func TestVariantsAsContent(t *testing.T) {
	m, err := proto.Marshal(&pb.VariantTensorDataProto{TypeName: "somebody::Else", Metadata: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	two := &pb.TensorShapeProto{Dim: []*pb.TensorShapeProto_Dim{{Size: 2}}}
	content := append([]byte{byte(len(m)), byte(len(m))}, append(m, m...)...)
	x, err := core.TensorFromProto(&pb.TensorProto{Dtype: pb.DataType(core.Variant), TensorShape: two, TensorContent: content})
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := x.Variants()[1].Value.(*pb.VariantTensorDataProto); !ok || v.GetTypeName() != "somebody::Else" || string(v.GetMetadata()) != "x" {
		t.Errorf("got %v", x.Variants())
	}
	for _, bad := range [][]byte{content[:3], []byte("\x01\x01\xff\xff")} {
		if _, err := core.TensorFromProto(&pb.TensorProto{Dtype: pb.DataType(core.Variant), TensorShape: two, TensorContent: bad}); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestVariantsWithinOneAnother: bytes within bytes are read as deep as anybody needs, and
// do not take memory by the square of the depth.
func TestVariantsWithinOneAnother(t *testing.T) {
	for depth, want := range map[int]core.Code{100: core.OK, 101: core.InvalidArgument, 3000: core.InvalidArgument} {
		p := &pb.TensorProto{Dtype: pb.DataType_DT_INT32, TensorShape: &pb.TensorShapeProto{}, IntVal: []int32{7}}
		for range depth {
			m, err := proto.Marshal(&pb.VariantTensorDataProto{TypeName: "tensorflow::Tensor", Tensors: []*pb.TensorProto{p}})
			if err != nil {
				t.Fatal(err)
			}
			content := append(binary.AppendUvarint(nil, uint64(len(m))), m...)
			p = &pb.TensorProto{Dtype: pb.DataType_DT_VARIANT, TensorShape: &pb.TensorShapeProto{}, TensorContent: content}
		}
		x, err := core.TensorFromProto(p)
		if core.CodeOf(err) != want {
			t.Errorf("%d deep: %v", depth, err)
		}
		for range depth {
			if err == nil {
				x, _ = x.Variants()[0].Value.(*core.Tensor)
			}
		}
		if err == nil && x.String() != "int32[]{7}" {
			t.Errorf("%d deep: %v", depth, x)
		}
	}
}

func FuzzTensorFromProto(f *testing.F) {
	for _, c := range golden.Tensors {
		data, err := hex.DecodeString(c.Proto)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &pb.TensorProto{}
		if proto.Unmarshal(data, p) != nil || claimsMuch(p) {
			return
		}
		x, err := core.TensorFromProto(p)
		if err != nil {
			return
		}
		again, err := core.TensorFromProto(core.TensorProto(x))
		if x.DType() != core.Variant && (err != nil || !core.TensorsEqual(x, again)) {
			t.Errorf("%v became %v, %v", x, again, err)
		}
		if x.Buffer() != nil && !bytes.Equal(x.Buffer().Bytes(), again.Buffer().Bytes()) {
			t.Errorf("%v lost bits", x)
		}
	})
}

// claimsMuch tells tensors that few bytes unfold to more memory than a fuzzer
// has time to clear.
func claimsMuch(p *pb.TensorProto) bool {
	s, err := core.ShapeFromProto(p.GetTensorShape())
	return err == nil && s.NumElements() > 1<<20
}

// TestRankOfValues: as in TensorFlow, the sizes of a value are its shape, whether or not
// the message calls its rank known.
func TestRankOfValues(t *testing.T) {
	for want, dims := range map[string][]*pb.TensorShapeProto_Dim{"float32[]{3}": nil, "float32[2]{3, 4}": {{Size: 2}}} {
		p := &pb.TensorProto{Dtype: 1, TensorShape: &pb.TensorShapeProto{UnknownRank: true, Dim: dims}, FloatVal: []float32{3, 4}}
		if x, err := core.TensorFromProto(p); err != nil || x.String() != want {
			t.Errorf("got %v, %v, want %s", x, err, want)
		}
	}
}

// TestAllocTooLarge: elements that cannot be counted are a wrong shape, too many bytes a
// matter of memory.
func TestAllocTooLarge(t *testing.T) {
	for want, s := range map[core.Code]core.Shape{
		core.InvalidArgument:   {1<<31 - 1, 1<<31 - 1, 4},
		core.ResourceExhausted: {1<<31 - 1, 1<<31 - 1, 2},
	} {
		c := core.OpContext{Out: make([]core.Slot, 1)}
		if _, err := c.Alloc(0, core.Float32, s); core.CodeOf(err) != want {
			t.Errorf("%v: %v, want %v", s, err, want)
		}
	}
}

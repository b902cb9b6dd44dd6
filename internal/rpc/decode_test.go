package rpc

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// pieces cuts b at arbitrary places, as the network does.
func pieces(b []byte, r *rand.Rand) mem.BufferSlice {
	var out mem.BufferSlice
	for len(b) > 0 {
		n := min(len(b), 1+r.IntN(8)*r.IntN(20))
		out = append(out, mem.SliceBuffer(b[:n]))
		b = b[n:]
	}
	return out
}

func wantSame(t *testing.T, what string, want, got *core.Tensor) {
	t.Helper()
	switch {
	case got == nil:
		t.Errorf("%s: no tensor, want %v", what, want)
	case got.DType() != want.DType() || !got.Shape().Equal(want.Shape()):
		t.Errorf("%s: %v%v, want %v%v", what, got.DType(), got.Shape(), want.DType(), want.Shape())
	case want.DType() == core.String && !slices.Equal(core.Data[string](want), core.Data[string](got)),
		want.Buffer() != nil && !bytes.Equal(want.Buffer().Bytes(), got.Buffer().Bytes()):
		t.Errorf("%s: elements differ: %v, want %v", what, got, want)
	}
}

// TestDecode reads what encode writes, however it is cut, into memory of the
// receiver's choice.
func TestDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for d := core.DType(1); d < 100; d++ {
		if d.Size() == 0 {
			continue
		}
		for _, s := range []core.Shape{{}, {1}, {0}, {3, 200}, {1, 1, 1, 1, 1, 1, 2}} {
			v := random(d, s)
			b := encoded(t, &TensorResponse{Tensor: v.Share(), SendStart: 77, RequireAck: true})
			var given *memory.Buffer
			got := &TensorResponse{alloc: func(d core.DType, s core.Shape) (*memory.Buffer, error) {
				b, err := rendezvous.Allocate(d, s)
				given = b
				return b, err
			}}
			if err := got.decode(pieces(b, r)); err != nil || got.err != nil {
				t.Fatalf("%v%v: %v, %v", d, s, err, got.err)
			}
			wantSame(t, "decoded", v, got.Tensor)
			if got.Tensor.Buffer() != given || given == nil {
				t.Errorf("%v%v: not in the receiver's memory", d, s)
			}
			if got.SendStart != 77 || !got.RequireAck || got.Dead {
				t.Errorf("%v%v: decoded as %+v", d, s, got)
			}
		}
	}
}

// TestDecodeAnyEncoding: all that is valid is read, and plain elements go to
// the receiver's memory each time.
func TestDecodeAnyEncoding(t *testing.T) {
	shape := &pb.TensorShapeProto{Dim: []*pb.TensorShapeProto_Dim{{Size: 2, Name: "rows"}, {Size: 2}}}
	want := must(t, []float32{1, 2, 2, 2}, 2, 2)
	content := want.Buffer().Bytes()
	marshal := func(m proto.Message) []byte {
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	tensor := func(b ...byte) []byte { return append([]byte{tagTensor, byte(len(b))}, b...) }
	raw := append([]byte{tagContent, 16}, content...)
	dims := []byte{tagShape, 8, tagDim, 2, tagSize, 2, tagDim, 2, tagSize, 2}
	typ := []byte{tagDType, 1}
	for name, b := range map[string][]byte{
		"values, the last repeats": marshal(&pb.RecvTensorResponse{Tensor: &pb.TensorProto{Dtype: 1, TensorShape: shape, FloatVal: []float32{1, 2}}}),
		"named dimensions":         marshal(&pb.RecvTensorResponse{Tensor: &pb.TensorProto{Dtype: 1, TensorShape: shape, TensorContent: content}}),
		"version number":           marshal(&pb.RecvTensorResponse{Tensor: &pb.TensorProto{Dtype: 1, TensorShape: shape, VersionNumber: 1, TensorContent: content}}),
		"content first":            tensor(slices.Concat(raw, typ, dims)...),
		"shape in parts":           tensor(slices.Concat(typ, []byte{tagShape, 4}, dims[2:6], []byte{tagShape, 4}, dims[6:], raw)...),
		"tensor in parts":          slices.Concat(tensor(slices.Concat(typ, dims)...), tensor(raw...)),
		"type twice":               tensor(slices.Concat([]byte{tagDType, 3}, typ, dims, raw)...),
		"unknown field":            slices.Concat(tensor(slices.Concat(typ, dims, raw)...), []byte{0xfa, 1, 1, 5}),
		"flags last":               slices.Concat(tensor(slices.Concat(typ, dims, raw)...), []byte{tagSendStart, 5, tagDead, 0}),
	} {
		var given *memory.Buffer
		got := &TensorResponse{alloc: func(d core.DType, s core.Shape) (*memory.Buffer, error) {
			b, err := rendezvous.Allocate(d, s)
			given = b
			return b, err
		}}
		if err := got.decode(mem.BufferSlice{mem.SliceBuffer(b)}); err != nil || got.err != nil {
			t.Errorf("%s: %v, %v", name, err, got.err)
			continue
		}
		wantSame(t, name, want, got.Tensor)
		if got.Tensor.Buffer() != given {
			t.Errorf("%s: not in the receiver's memory", name)
		}
	}
}

func TestDecodeStrings(t *testing.T) {
	want := must(t, []string{"a", "", "\xff\x00", strings.Repeat("x", 5000)}, 2, 2)
	got := &TensorResponse{}
	b := encoded(t, &TensorResponse{Tensor: want.Share()})
	if err := got.decode(pieces(b, rand.New(rand.NewPCG(3, 4)))); err != nil || got.err != nil {
		t.Fatal(err, got.err)
	}
	wantSame(t, "strings", want, got.Tensor)
}

// TestDecodeDead: a dead value has no tensor, wherever the flag stands.
func TestDecodeDead(t *testing.T) {
	freed := 0
	alloc := func(core.DType, core.Shape) (*memory.Buffer, error) {
		return memory.Adopt(make([]byte, 4), func() { freed++ }), nil
	}
	one := encoded(t, &TensorResponse{Tensor: core.Scalar(float32(1))})
	for name, b := range map[string][]byte{
		"flag first":    append([]byte{tagDead, 1}, one...),
		"flag last":     append(slices.Clone(one), tagDead, 1),
		"no tensor":     {tagDead, 1},
		"of no type":    {tagDead, 1, tagTensor, 0},
		"our own":       encoded(t, &TensorResponse{Dead: true}),
		"strange field": append([]byte{tagDead, 1, 0xf8, 1, 1}, one...),
	} {
		got := &TensorResponse{alloc: alloc}
		if err := got.decode(mem.BufferSlice{mem.SliceBuffer(b)}); err != nil || got.err != nil || !got.Dead || got.Tensor != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if freed != 1 {
		t.Errorf("memory of dead values given back %d times, want 1", freed)
	}
}

// TestDecodeRefuses: what is no message is an error of the call, what is no
// tensor one of the value.
func TestDecodeRefuses(t *testing.T) {
	good := encoded(t, &TensorResponse{Tensor: must(t, []float32{1, 2, 3})})
	shape := &pb.TensorShapeProto{Dim: []*pb.TensorShapeProto_Dim{{Size: -2}}}
	negative, err := proto.Marshal(&pb.RecvTensorResponse{Tensor: &pb.TensorProto{Dtype: 1, TensorShape: shape, TensorContent: []byte{1}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		b    []byte
		text string
	}{
		"cut off":        {good[:len(good)-1], "no RecvTensorResponse"},
		"not a message":  {[]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "no RecvTensorResponse"},
		"nothing":        {nil, "a tensor's type must be a known one, got 0"},
		"type 99":        {[]byte{tagTensor, 2, tagDType, 99}, "a tensor's type must be a known one, got 99"},
		"reference type": {[]byte{tagTensor, 2, tagDType, 101}, "a tensor's type must be a known one, got 101"},
		"short content":  {[]byte{tagTensor, 5, tagDType, 1, tagContent, 1, 0}, "tensor_content of a float32[] must have 4 bytes, got 1"},
		"negative size":  {negative, "has negative dimensions"},
		"huge shape":     {[]byte{tagTensor, 14, tagDType, 1, tagShape, 10, tagDim, 8, tagSize, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, "must be smaller than"},
	} {
		got := &TensorResponse{}
		err := got.decode(mem.BufferSlice{mem.SliceBuffer(c.b)})
		if err == nil {
			err = got.err
		}
		if err == nil || !strings.Contains(err.Error(), c.text) || got.Tensor != nil {
			t.Errorf("%s: %v, %v, want an error with %q", name, got.Tensor, err, c.text)
		}
	}
}

// TestDecodeWrongMemory: an allocator's mistake does not become an overrun.
func TestDecodeWrongMemory(t *testing.T) {
	for _, n := range []int{0, 11, 13} {
		freed := 0
		got := &TensorResponse{alloc: func(core.DType, core.Shape) (*memory.Buffer, error) {
			return memory.Adopt(make([]byte, n), func() { freed++ }), nil
		}}
		b := encoded(t, &TensorResponse{Tensor: must(t, []float32{1, 2, 3})})
		if err := got.decode(mem.BufferSlice{mem.SliceBuffer(b)}); err != nil {
			t.Fatal(err)
		}
		if core.CodeOf(got.err) != core.Internal || got.Tensor != nil || freed != 1 {
			t.Errorf("%d bytes for 12: %+v, given back %d times", n, got, freed)
		}
	}
}

// FuzzDecode holds the fast path against the general one: it reads nothing
// differently, whatever comes and however it is cut.
func FuzzDecode(f *testing.F) {
	for _, r := range []*TensorResponse{
		{Tensor: core.Scalar(float32(1)), SendStart: 300, RequireAck: true},
		{Tensor: core.Scalar("text")}, {Dead: true},
		{Tensor: random(core.Int16, core.Shape{2, 0, 3})}, {Tensor: random(core.Complex64, core.Shape{2, 3})},
	} {
		data, err := r.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data.Materialize(), uint64(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		if p := new(pb.RecvTensorResponse); proto.Unmarshal(b, p) == nil && huge(p) {
			return
		}
		got, want := &TensorResponse{}, &TensorResponse{alloc: rendezvous.Allocate}
		err := got.decode(pieces(b, rand.New(rand.NewPCG(seed, 1))))
		wantErr := want.decodeAny(mem.BufferSlice{mem.SliceBuffer(b)})
		if err == nil && got.Dead && wantErr != nil {
			return // the tensor of a dead value is not looked at
		}
		if (err == nil) != (wantErr == nil) || err == nil && (got.err == nil) != (want.err == nil) {
			t.Fatalf("errors %v, %v, want %v, %v", err, got.err, wantErr, want.err)
		}
		if err != nil || got.err != nil {
			return
		}
		if got.Dead != want.Dead || got.SendStart != want.SendStart || got.RequireAck != want.RequireAck {
			t.Errorf("decoded as %+v, want %+v", got, want)
		}
		if !want.Dead {
			wantSame(t, "fuzzed", want.Tensor, got.Tensor)
		}
	})
}

// huge reports whether a few bytes stand for more than the fuzzer's memory.
func huge(p *pb.RecvTensorResponse) bool {
	n := 1.0
	for _, d := range p.GetTensor().GetTensorShape().GetDim() {
		n *= float64(max(d.GetSize(), 0))
	}
	return n > 1<<20
}

// TestDecodeBools: of the bytes that a peer sends every one but 0 is true, which is 1.
func TestDecodeBools(t *testing.T) {
	v := core.NewTensor(core.Bool, core.Shape{4})
	copy(v.Buffer().Bytes(), "\x00\x01\x02\xff")
	got := &TensorResponse{alloc: rendezvous.Allocate}
	if err := got.decode(mem.BufferSlice{mem.SliceBuffer(encoded(t, &TensorResponse{Tensor: v}))}); err != nil || got.err != nil {
		t.Fatal(err, got.err)
	}
	if b := got.Tensor.Buffer().Bytes(); string(b[:4]) != "\x00\x01\x01\x01" {
		t.Errorf("the bytes are %v", b)
	}
}

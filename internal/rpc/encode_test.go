package rpc

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func encoded(t *testing.T, r *TensorResponse) []byte {
	t.Helper()
	data, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	defer data.Free()
	return data.Materialize()
}

// TestEncodeBytes compares with what TensorFlow's workers write.
func TestEncodeBytes(t *testing.T) {
	for _, c := range []struct {
		name string
		r    TensorResponse
		want string
	}{
		{"scalar", TensorResponse{Tensor: core.Scalar(float32(1))}, "0a 08  08 01  22 04 0000803f"},
		{"vector", TensorResponse{Tensor: must(t, []uint8{7, 8, 9})}, "0a 0d  08 04  12 04 12 02 08 03  22 03 070809"},
		{"flags first", TensorResponse{Tensor: core.Scalar(true), Dead: true, SendStart: 300, RequireAck: true},
			"10 01  18 ac02  28 01  0a 05  08 0a  22 01 01"},
		{"no elements", TensorResponse{Tensor: must(t, []int64{}, 2, 0)}, "0a 0e  08 09  12 08 12 02 08 02 12 02 08 00  22 00"},
		{"long dimension", TensorResponse{Tensor: must(t, []int8{}, 300, 0)}, "0a 0f  08 06  12 09 12 03 08 ac02 12 02 08 00  22 00"},
		{"no tensor", TensorResponse{Dead: true}, "10 01  0a 08  08 01  12 04 12 02 08 00"},
		{"string", TensorResponse{Tensor: core.Scalar("hi")}, "0a 08  08 07  12 00  42 02 6869"},
	} {
		want, err := hex.DecodeString(strings.ReplaceAll(c.want, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, encoded(t, &c.r)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// TestEncodeParses reads all plain types back as the message they stand for.
func TestEncodeParses(t *testing.T) {
	for d := core.DType(1); d < 100; d++ {
		if d.Size() == 0 {
			continue
		}
		for _, s := range []core.Shape{{}, {1}, {0, 5}, {3, 200}, {1, 1, 1, 1, 1, 1, 1, 2}, {70000}} {
			v := random(d, s)
			want := &pb.RecvTensorResponse{Tensor: core.TensorProto(v), SendStartMicros: 1e15}
			if len(s) == 0 {
				want.Tensor.TensorShape = nil
			}
			var got pb.RecvTensorResponse
			if err := proto.Unmarshal(encoded(t, &TensorResponse{Tensor: v, SendStart: 1e15}), &got); err != nil {
				t.Fatalf("%v%v: %v", d, s, err)
			}
			if diff := cmp.Diff(want, &got, protocmp.Transform(), sameBytes); diff != "" {
				t.Errorf("%v%v (-want +got):\n%.2000s", d, s, diff)
			}
		}
	}
}

// sameBytes compares long contents without an edit script.
var sameBytes = cmp.Comparer(func(a, b []byte) bool { return string(a) == string(b) })

// random returns a tensor of arbitrary bytes; booleans are 0 or 1.
func random(d core.DType, s core.Shape) *core.Tensor {
	r := rand.New(rand.NewPCG(1, uint64(d)))
	buf := memory.New(s.NumElements() * d.Size())
	for i := range buf.Bytes() {
		buf.Bytes()[i] = byte(r.Uint32())
		if d == core.Bool {
			buf.Bytes()[i] &= 1
		}
	}
	return core.TensorOf(d, s, buf)
}

// TestEncodeLends: many elements are not copied, and their memory is given
// back when gRPC is done with it; few are copied and given back at once.
func TestEncodeLends(t *testing.T) {
	for n, wantPieces := range map[int]int{1: 1, 1024: 1, 1025: 2, 1 << 20: 2} {
		freed := 0
		elements := make([]byte, n)
		v := core.TensorOf(core.Uint8, core.Shape{n}, memory.Adopt(elements, func() { freed++ }))
		data, err := (&TensorResponse{Tensor: v}).encode()
		if err != nil {
			t.Fatal(err)
		}
		if len(data) != wantPieces {
			t.Errorf("%d bytes are sent in %d pieces, want %d", n, len(data), wantPieces)
		}
		if len(data) == 2 && (freed != 0 || &data[1].ReadOnlyData()[0] != &elements[0]) {
			t.Errorf("%d bytes are copied, or given back before they are sent", n)
		}
		data.Ref()
		data.Free()
		if len(data) == 2 && freed != 0 {
			t.Errorf("%d bytes are given back while gRPC has a reference", n)
		}
		data.Free()
		if freed != 1 {
			t.Errorf("%d bytes are given back %d times, want 1", n, freed)
		}
	}
}

// A counter is a handle to memory that does not exist.
type counter struct{ freed int }

func (c *counter) Release() { c.freed++ }

// TestEncodeTooLarge: the size alone decides, so the test needs no memory.
func TestEncodeTooLarge(t *testing.T) {
	for _, n := range []int{maxMessage - 10, 1 << 31, 1 << 32} {
		var c counter
		v := core.TensorOf(core.Uint8, core.Shape{n}, memory.NewOpaque("nowhere", &c, n))
		_, err := (&TensorResponse{Tensor: v}).encode()
		if core.CodeOf(err) != core.Internal || !strings.Contains(err.Error(), "Cannot encode a Tensor that exceeds the 2GB protobuf limit.") {
			t.Errorf("encoding %d bytes: %v", n, err)
		}
		if c.freed != 1 {
			t.Errorf("memory given back %d times, want 1", c.freed)
		}
	}
}

// TestEncodeVariants: a peer's variant passes through, our own cannot.
func TestEncodeVariants(t *testing.T) {
	v := core.NewTensor(core.Variant, core.Shape{2})
	for i, name := range []string{"tensorflow::TensorList", "other"} {
		v.Variants()[i].Value = &pb.VariantTensorDataProto{TypeName: name, Metadata: []byte{1, 2}}
	}
	r := &TensorResponse{}
	if err := r.decode(mem.BufferSlice{mem.SliceBuffer(encoded(t, &TensorResponse{Tensor: v}))}); err != nil || r.err != nil {
		t.Fatal(err, r.err)
	}
	got := r.Tensor.Variants()[1].Value.(*pb.VariantTensorDataProto)
	if got.GetTypeName() != "other" || string(got.GetMetadata()) != "\x01\x02" {
		t.Errorf("variant arrives as %v", got)
	}
	own := core.NewTensor(core.Variant, core.Shape{})
	own.Variants()[0].Value = struct{ n int }{1}
	if _, err := (&TensorResponse{Tensor: own}).encode(); core.CodeOf(err) != core.Unimplemented {
		t.Errorf("encoding a Go value: %v, want UNIMPLEMENTED", err)
	}
}

// TestEncodeAllocations: the cost does not grow with the tensor.
func TestEncodeAllocations(t *testing.T) {
	v := random(core.Float32, core.Shape{1000, 100})
	if n := testing.AllocsPerRun(100, func() {
		data, err := (&TensorResponse{Tensor: v.Share(), SendStart: 1}).encode()
		if err != nil {
			t.Error(err)
		}
		data.Free()
	}); n > 8 {
		t.Errorf("encoding allocates %v times, want at most 8", n)
	}
}

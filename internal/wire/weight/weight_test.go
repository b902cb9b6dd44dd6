package weight

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/pb"
)

// allocated returns how many bytes the decoding of b into m allocates, and keeps.
func allocated(t testing.TB, b []byte, m proto.Message) int {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(m)
	return int(after.HeapAlloc) - int(before.HeapAlloc)
}

func encoded(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// nodes returns a graph as programs write them.
func nodes(n int) *pb.GraphDef {
	g := &pb.GraphDef{}
	for range n {
		g.Node = append(g.Node, &pb.NodeDef{
			Name: "layer/kernel/read", Op: "Identity", Input: []string{"layer/kernel", "^init"}, Device: "/job:ps/task:0",
			Attr: map[string]*pb.AttrValue{
				"T":      {Value: &pb.AttrValue_Type{Type: pb.DataType_DT_FLOAT}},
				"_class": {Value: &pb.AttrValue_List{List: &pb.AttrValue_ListValue{S: [][]byte{[]byte("loc:@layer/kernel")}}}},
			},
		})
	}
	return g
}

func list[T any](v T, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// TestOf: what is told is near what decoding takes: never much less, or a message could
// use up the memory, nor many times more, or a message that fits would be refused.
func TestOf(t *testing.T) {
	const n = 100_000
	empty := func(tag ...byte) []byte { return bytes.Repeat(tag, n) }
	within := func(tag protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, tag, protowire.BytesType), b)
	}
	tests := map[string]struct {
		b []byte
		m proto.Message
	}{
		"graph":             {encoded(t, nodes(n/10)), &pb.GraphDef{}},
		"empty nodes":       {empty(10, 0), &pb.GraphDef{}},
		"nodes of function": {within(2, within(1, empty(26, 0))), &pb.GraphDef{}},
		"attributes":        {within(1, attributes(n)), &pb.GraphDef{}},
		"contents":          {encoded(t, &pb.TensorProto{TensorContent: make([]byte, 10*n)}), &pb.TensorProto{}},
		"floats":            {encoded(t, &pb.TensorProto{FloatVal: list(float32(1), n)}), &pb.TensorProto{}},
		"short ints":        {encoded(t, &pb.TensorProto{Int64Val: list(int64(1), n)}), &pb.TensorProto{}},
		"long ints":         {encoded(t, &pb.TensorProto{Int64Val: list(int64(-1), n)}), &pb.TensorProto{}},
		"empty strings":     {encoded(t, &pb.TensorProto{StringVal: list([]byte{}, n)}), &pb.TensorProto{}},
		"strings":           {encoded(t, &pb.TensorProto{StringVal: list([]byte(strings.Repeat("a", 100)), n)}), &pb.TensorProto{}},
		"bools one by one":  {empty(11<<3|0, 1), &pb.TensorProto{}},
		"feeds":             {empty(18, 0), &pb.RunStepRequest{}},
		"unknown":           {empty(15<<3|0, 1), &pb.NodeDef{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := allocated(t, test.b, test.m)
			if got := Of(test.b, test.m); got < want*2/3 || got > want*3 {
				t.Errorf("%d bytes take %d in memory, told are %d", len(test.b), want, got)
			}
		})
	}
}

// attributes are those of one node, each with a name of its own.
func attributes(n int) (b []byte) {
	for i := range n {
		key := protowire.AppendString([]byte{10}, "a"+strconv.Itoa(i))
		b = protowire.AppendBytes(append(b, 5<<3|2), append(key, 18, 0))
	}
	return b
}

// TestDeep: messages within messages without end are told in linear time, and as large.
func TestDeep(t *testing.T) {
	var b []byte
	for range 5000 {
		b = protowire.AppendBytes([]byte{1<<3 | 2}, b) // AttrValue.list within func within attr …
	}
	if got := Of(b, &pb.AttrValue{}); got < len(b) {
		t.Errorf("%d bytes are told as %d", len(b), got)
	}
}

// FuzzOf: no message panics, and none that can be decoded takes much more than is told.
func FuzzOf(f *testing.F) {
	f.Add(encoded(f, nodes(2)))
	f.Add([]byte{10, 0, 10, 0, 18, 2, 10, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		got := Of(b, &pb.GraphDef{})
		if got < 0 {
			t.Fatalf("told are %d", got)
		}
		m := &pb.GraphDef{}
		if len(b) > 1<<16 || proto.Unmarshal(b, m) != nil {
			return
		}
		if n := len(m.GetNode()); got < n*100 {
			t.Errorf("%d nodes are told as %d bytes", n, got)
		}
	})
}

// BenchmarkOf is how fast a graph as programs write them is told, beside how fast it is
// decoded.
func BenchmarkOf(b *testing.B) {
	wire := encoded(b, nodes(10_000+rand.IntN(10)))
	b.Run("weigh", func(b *testing.B) {
		b.SetBytes(int64(len(wire)))
		for b.Loop() {
			Of(wire, &pb.GraphDef{})
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(wire)))
		for b.Loop() {
			if err := proto.Unmarshal(wire, &pb.GraphDef{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

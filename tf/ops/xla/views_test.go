package xla

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestLargeConstantsAreViews: beyond what is copied, large constants are parts of their
// module; others are as they always are.
func TestLargeConstantsAreViews(t *testing.T) {
	if !memory.AnyAddress {
		t.Skip("constants are copied on this machine")
	}
	data := bytes.Repeat([]byte{0, 1, 0, 0, 1, 1, 0}, leastView)
	l := &lowering{}
	views := 0
	for off, d := range []tf.DType{tf.Float32, tf.Float64, tf.Int8, tf.Bool, tf.Complex128, tf.Float32} {
		for range maxCopied / leastView / 4 {
			content := data[off+1:][:2*leastView]
			got, err := l.tensor(&pb.TensorProto{Dtype: pb.DataType(d), TensorShape: core.ShapeProto(core.Shape{len(content) / d.Size()}), TensorContent: content})
			if err != nil {
				t.Fatal(err)
			}
			b := got.Buffer().Bytes()
			if got.DType() != d || !bytes.Equal(b, content) {
				t.Fatalf("a constant of type %v is not what its bytes say", d)
			}
			if &b[0] == &content[0] {
				views++
			}
		}
	}
	if l.copied != maxCopied || views != 3*maxCopied/leastView/4 {
		t.Errorf("%d bytes are copied, %d constants are views", l.copied, views)
	}
	for _, shape := range []core.Shape{{1}, {leastView}, {-1}} {
		_, want := core.AdoptTensorProto(&pb.TensorProto{Dtype: pb.DataType_DT_FLOAT, TensorShape: core.ShapeProto(shape), TensorContent: data})
		if _, err := l.tensor(&pb.TensorProto{Dtype: pb.DataType_DT_FLOAT, TensorShape: core.ShapeProto(shape), TensorContent: data}); err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("shape %v: %v, want %v", shape, err, want)
		}
	}
}

// TestOperationsReadAnywhere: operations compute the same of operands that begin at any
// address.
func TestOperationsReadAnywhere(t *testing.T) {
	if !memory.AnyAddress {
		t.Skip("elements are aligned on this machine")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	numbers := func(shape ...int) *core.Tensor {
		x := core.NewTensor(core.Float32, shape)
		for i := range core.Data[float32](x) {
			core.Data[float32](x)[i] = rng.Float32() - 0.5
		}
		return x
	}
	image, kernel, a, b := numbers(2, 9, 11, 24), numbers(3, 3, 24, 40), numbers(37, 65), numbers(65, 70)
	build := func(g *tf.Graph, x func(*core.Tensor) tf.Output) []tf.Fetchable {
		axis := ops.Const(g, []int32{0})
		return []tf.Fetchable{
			ops.MatMul(x(a), x(b)), ops.MatMul(ops.Slice(x(a), ops.Const(g, []int32{0, 0}), ops.Const(g, []int32{1, 65})), x(b)),
			ops.Conv2D(x(image), x(kernel), []int{1, 1, 1, 1}, "SAME"), ops.Conv2D(x(image), x(kernel), []int{1, 2, 2, 1}, "VALID"),
			ops.Add(x(a), x(a)), ops.Tanh(x(b)), ops.Sum(x(b), axis), ops.Max(x(a), axis), ops.Softmax(x(b)), ops.Transpose(x(b), ops.Const(g, []int32{1, 0})),
			ops.Gather(x(b), ops.Const(g, []int32{3, 0, 64}), 0), ops.Cast(x(b), tf.BFloat16), ops.Reshape(x(b), ops.Const(g, []int32{70, 65})),
		}
	}
	run := func(at func(*core.Tensor) *core.Tensor) []*tf.Tensor {
		g := tf.NewGraph()
		fetches := build(g, func(x *core.Tensor) tf.Output { return ops.ConstValue(g, at(x)) })
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		out, err := s.Run(context.Background(), nil, fetches...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := run(func(x *core.Tensor) *core.Tensor { return x })
	for _, off := range []int{1, 2, 3, 4, 17, 63} {
		got := run(func(x *core.Tensor) *core.Tensor {
			moved := append(make([]byte, off, off+x.NumBytes()), x.Buffer().Bytes()...)
			return core.TensorOf(core.Float32, x.Shape(), memory.WrapAnywhere(moved[off:]))
		})
		for i := range want {
			if w, g := (*core.Tensor)(want[i]), (*core.Tensor)(got[i]); !bytes.Equal(w.Buffer().Bytes(), g.Buffer().Bytes()) {
				t.Errorf("operation %d differs for operands %d bytes beyond a line", i, off)
			}
		}
	}
}

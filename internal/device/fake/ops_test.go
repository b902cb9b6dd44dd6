package fake_test

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/internal/device/fake"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// onDevices runs what build adds, on the CPU and on FAKE, and compares.
func onDevices(t *testing.T, build func(g *tf.Graph, x tf.Output) []tf.Output) {
	t.Helper()
	var want []*tf.Tensor
	for _, where := range []string{"/device:CPU:0", onFake} {
		g := tf.NewGraph()
		x := ops.Placeholder(g, core.Float32, core.Shape{4, 6})
		var out []tf.Output
		g.Device(where, func() { out = build(g, x) })
		fetches := make([]tf.Fetchable, len(out))
		for i, y := range out {
			fetches[i] = y
			if y.Err() == nil && y.Operation().Device != where {
				t.Errorf("%v is on %q", y, y.Operation().Device)
			}
		}
		s := newSession(t, g, session.Devices(fake.Type, 1))
		got, err := s.Run(context.Background(), session.Feeds{x: (*tf.Tensor)(ramp(t, 4, 6))}, fetches...)
		if err != nil {
			t.Fatalf("on %s: %v", where, err)
		}
		if want == nil {
			want = got
			continue
		}
		for i := range want {
			tftest.Equal(t, got[i], want[i], tftest.SignedZeros())
		}
	}
}

func TestElementWiseOps(t *testing.T) {
	onDevices(t, func(g *tf.Graph, x tf.Output) (out []tf.Output) {
		for _, op := range []string{"Neg", "Exp", "Tanh", "Relu", "Sigmoid", "Square", "Abs", "Softmax", "Identity", "IsNan", "Shape", "Size", "ZerosLike"} {
			out = append(out, tf.Apply(g, op, []tf.Output{x}).Output(0))
		}
		for _, op := range []string{"Add", "Sub", "Mul", "Maximum", "Less", "Pow"} {
			out = append(out, tf.Apply(g, op, []tf.Output{x, ops.Exp(x)}).Output(0))
		}
		return out
	})
}

func TestOpsThatMoveData(t *testing.T) {
	onDevices(t, func(g *tf.Graph, x tf.Output) []tf.Output {
		axis := tf.Apply(g, "Const", nil, tf.Attr("value", core.Scalar(int32(1))), tf.Attr("dtype", core.Int32)).Output(0)
		parts := tf.Apply(g, "Split", []tf.Output{axis, x}, tf.Attr("num_split", 3)).Outputs()
		joined := tf.Apply(g, "ConcatV2", []tf.Output{parts[2], parts[0], axis}).Output(0)
		turned := tf.Apply(g, "Transpose", []tf.Output{x, ops.Const(g, []int32{1, 0}, 2)}).Output(0)
		flat := ops.Reshape(turned, ops.Const(g, []int32{-1}, 1))
		text := tf.Apply(g, "Const", nil, tf.Attr("value", core.Scalar("text")), tf.Attr("dtype", core.String)).Output(0)
		return []tf.Output{joined, turned, flat, ops.MatMul(x, turned), ops.Identity(text), parts[1]}
	})
}

func TestRandomNumbers(t *testing.T) {
	onDevices(t, func(g *tf.Graph, x tf.Output) []tf.Output {
		r := tf.Apply(g, "RandomUniform", []tf.Output{ops.Const(g, []int32{7}, 1)}, tf.Attr("dtype", core.Float32), tf.Attr("seed", 3), tf.Attr("seed2", 4))
		return []tf.Output{r.Output(0)}
	})
}

func TestDeadTensors(t *testing.T) {
	onDevices(t, func(g *tf.Graph, x tf.Output) []tf.Output {
		yes := tf.Apply(g, "Const", nil, tf.Attr("value", core.Scalar(true)), tf.Attr("dtype", core.Bool)).Output(0)
		branches := tf.Apply(g, "Switch", []tf.Output{x, yes})
		merged := tf.Apply(g, "Merge", []tf.Output{ops.Neg(branches.Output(0)), ops.Exp(branches.Output(1))})
		return []tf.Output{merged.Output(0), merged.Output(1)}
	})
}

func TestErrorsOfKernels(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, core.Float32, nil)
	var y tf.Output
	g.Device(onFake, func() { y = ops.Add(x, ops.Const(g, []float32{1, 2}, 2), tf.Name("sum")) })
	s := newSession(t, g, session.Devices(fake.Type, 1))
	_, err := s.Run(context.Background(), session.Feeds{x: (*tf.Tensor)(vector(t, 1, 2, 3))}, y)
	if core.CodeOf(err) != core.InvalidArgument || core.AsError(err).Node != "sum" {
		t.Errorf("got %v", err)
	}
}

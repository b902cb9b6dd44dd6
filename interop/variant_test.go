package interop

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// travellers are values of type Variant that the task maker makes and the task
// reader reads.
func travellers(g *tf.Graph, maker, reader string) []tf.Output {
	on := func(task string, f func()) { g.Device("/job:worker/task:"+task, f) }
	var list, nested, some, none, out0, out1, out2, out3, out4 tf.Output
	on(maker, func() {
		two, any := ops.Const(g, []int32{2}), ops.Scalar(g, int32(-1))
		list = ops.TensorListReserve(two, ops.Scalar(g, int32(3)), tf.Float32)
		list = ops.TensorListSetItem(list, ops.Scalar(g, int32(0)), ops.Const(g, []float32{1, 2}))
		list = ops.TensorListSetItem(list, ops.Scalar(g, int32(2)), ops.Const(g, []float32{5, 6}))
		nested = ops.TensorListPushBack(ops.EmptyTensorList(any, ops.Scalar(g, int32(9)), tf.Variant), list)
		some = ops.OptionalFromValue([]tf.Output{ops.Scalar(g, "word"), ops.Const(g, []int64{7, 8})})
		none = ops.OptionalNone(g)
	})
	on(reader, func() {
		any, two := ops.Scalar(g, int32(-1)), ops.Const(g, []int32{2})
		out0 = ops.TensorListStack(list, two, tf.Float32) // what is not set reads as zeros
		_, inner := ops.TensorListPopBack(nested, any, tf.Variant)
		out1 = ops.TensorListGetItem(inner, ops.Scalar(g, int32(2)), two, tf.Float32)
		values := ops.OptionalGetValue(some, []tf.DType{tf.String, tf.Int64}, []tf.Shape{{}, {2}})
		out2, out3 = values[0], values[1]
		out4 = ops.OptionalHasValue(none)
	})
	return []tf.Output{out0, out1, out2, out3, out4}
}

// TestVariantsCross: lists and optionals that one kind of task makes the other
// one reads, and two of Gorge's understand each other.
func TestVariantsCross(t *testing.T) {
	needTensorFlow(t)
	for _, other := range []string{ofGorge, ofTensorFlow} {
		addr := ports(t, 2)
		spec := "worker|" + addr[0] + ";" + addr[1]
		both(func() { serve(t, ofGorge, spec, "worker", 0) }, func() { serve(t, other, spec, "worker", 1) })
		for _, way := range []string{"01", "10"} {
			t.Run(other+" "+way, func(t *testing.T) {
				g := tf.NewGraph(tf.Strict())
				fetches := travellers(g, way[:1], way[1:])
				s, err := session.New(g, session.Target("grpc://"+addr[0]))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				var got []string
				for _, f := range fetches {
					v, err := s.Run(t.Context(), nil, f)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, v[0].String())
				}
				const want = `float32[3,2]{1, 2, 0, 0, 5, 6} float32[2]{5, 6} string[]{"word"} int64[2]{7, 8} bool[]{false}`
				if s := strings.Join(got, " "); s != want {
					t.Errorf("got %s, want %s", s, want)
				}
			})
		}
	}
}

package interop

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestLinesInFunctions: an error of a node whose name several functions have has the
// line where the program added it, on servers of either kind, and both say the same
// where the function's body has taken the place of the call.
func TestLinesInFunctions(t *testing.T) {
	needTensorFlow(t)
	addr := ports(t, 2)
	both(func() { serve(t, ofGorge, "worker|"+addr[0], "worker", 0) }, func() { serve(t, ofTensorFlow, "worker|"+addr[1], "worker", 0) })
	for _, c := range []struct {
		what    string
		inlined bool
		call    func(g *tf.Graph, x tf.Output, body func([]tf.Output) []tf.Output) tf.Output
	}{
		{"a call", true, func(g *tf.Graph, x tf.Output, body func([]tf.Output) []tf.Output) tf.Output {
			return tf.NewFunction(g, "f", tf.SpecOf(x), body).Call([]tf.Output{x})[0]
		}},
		{"a call that stays one", false, func(g *tf.Graph, x tf.Output, body func([]tf.Output) []tf.Output) tf.Output {
			return ops.PartitionedCall(tf.NewFunction(g, "f", tf.SpecOf(x), body), []tf.Output{x}, tf.Attr("_noinline", true))[0]
		}},
		{"a call in a function", false, func(g *tf.Graph, x tf.Output, body func([]tf.Output) []tf.Output) tf.Output {
			return tf.NewFunction(g, "outer", tf.SpecOf(x), func(in []tf.Output) []tf.Output {
				return []tf.Output{tf.NewFunction(g, "inner", tf.SpecOf(in[0]), body).Call(in)[0].Neg()}
			}).Call([]tf.Output{x})[0]
		}},
		{"a branch", true, func(g *tf.Graph, x tf.Output, body func([]tf.Output) []tf.Output) tf.Output {
			return ops.If(x.Greater(0), []tf.Output{x}, tf.NewFunction(g, "then", tf.SpecOf(x), body),
				tf.NewFunction(g, "otherwise", tf.SpecOf(x), func(in []tf.Output) []tf.Output { return in }))[0]
		}},
	} {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Int32, tf.Shape{})
		var bad []*tf.Operation
		body := func(in []tf.Output) []tf.Output {
			y := in[0].Mod(0)
			y.Operation().SetPos(fmt.Sprintf("model.go:%d", len(bad)))
			bad = append(bad, y.Operation())
			return []tf.Output{y}
		}
		tf.NewFunction(g, "before", tf.SpecOf(x), body).Call([]tf.Output{x})
		y := c.call(g, x, body)
		tf.NewFunction(g, "behind", tf.SpecOf(x), body).Call([]tf.Output{x})
		var said []string
		for _, a := range addr {
			_, err := openOn(t, g, "grpc://"+a).Run(t.Context(), session.Feeds{x: tf.Scalar[int32](7)}, y)
			e := tf.AsError(err)
			if e.Pos != bad[1].Pos() || e.Op != "FloorMod" {
				t.Errorf("%s: got %v, want one of %s", c.what, err, bad[1].Pos())
			}
			said = append(said, e.Msg)
		}
		if c.inlined && said[0] != said[1] {
			t.Errorf("%s: Gorge says %q, TensorFlow %q", c.what, said[0], said[1])
		}
	}
}
